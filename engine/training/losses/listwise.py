"""The listwise loss of a batch of descriptors: 1 - mAP_Q.

Revaud et al., "Learning with Average Precision" (ICCV 2019, arXiv 1906.07589), equation 12: every
descriptor of the batch queries all of them, and those of its class are relevant.

The B × B similarities never exist as a whole, nor does a graph over them. One chunk of rows after
the other, similarities and precision are computed, and of each similarity only the interval that
it fell into is kept, in one byte: with a small table for each query that is all that the gradient
depends on. A second pass carries it to the descriptors, to those of the rows and those of the
columns in one product. So the memory is that of the gradient, of B × B bytes and of one chunk.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from engine.errors import TrainingError
from engine.training.losses.checks import require_finite
from engine.training.losses.histogram import Bins, place, rows_within, slope_table
from engine.training.losses.quantised import (
    MEMORY_BYTES,
    accumulated_in,
    precision_and_gradient,
)


@dataclass(frozen=True, slots=True)
class AveragePrecisionLoss:
    """1 - the mean of AP_Q over the queries of a batch (equation 12), or of AP_T.

    ``bins``, ``low``, ``high``: M and the range of its centres, see `Bins`. ``ties``: AP_T
    (equation 13) in the place of AP_Q. ``class_weights``: each class of the batch weighs the same,
    w_i = B/(|classes|·n_yi), rather than each query. ``self_match``: whether a query is its own
    positive, as in the paper; otherwise it is left out of its ranking. ``memory_bytes``: bound of
    what is held of a chunk of rows; at least one row is.
    """

    bins: int = 20
    ties: bool = False
    class_weights: bool = True
    self_match: bool = True
    low: float = -1.0
    high: float = 1.0
    memory_bytes: int = MEMORY_BYTES

    def __call__(self, descriptors: Tensor, classes: Tensor) -> Tensor:
        """The loss, with the gradient that the descriptors had if they were free on the sphere.

        The similarity of a query to itself is 1 without gradient: it is constant on unit rows, and
        what it had would lie along the row, where the L2 normalisation before lets nothing through.

        Args:
            descriptors: (B, C) unit rows, float32 or float64; halves are widened to float32.
            classes: (B,) int64.

        Returns:
            A scalar in 0…1, float32 or float64.

        Raises:
            TrainingError: no query has a positive, or a descriptor is not finite.
        """
        require_finite(descriptors, "descriptors")
        return _Listwise.apply(descriptors, classes, self)  # type: ignore[no-any-return]

    def weights_of(self, sizes: Tensor, dtype: torch.dtype) -> Tensor:
        """(B,) what each query weighs in the mean: not negative, sum 1, 0 without a positive.

        Args:
            sizes: (B,) how many of the batch are of the query's class, itself included.

        Raises:
            TrainingError: no query has a positive.
        """
        counted = self.positives_of(sizes) > 0
        if not counted.any():
            raise TrainingError(
                "no query of the batch has a positive: every photo has another class"
            )
        # B and |classes| of w_i = B/(|classes|·n_yi) are the same for all and drop out.
        weights = counted.to(dtype)
        if self.class_weights:
            weights /= sizes
        return weights / weights.sum()

    def positives_of(self, sizes: Tensor) -> Tensor:
        """(B,) N_q, how many positives each query has."""
        return sizes if self.self_match else sizes - 1


class _Listwise(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        descriptors: Tensor,
        classes: Tensor,
        loss: AveragePrecisionLoss,
    ) -> Tensor:
        # Half precision would move similarities by a tenth of a bin.
        with torch.autocast(descriptors.device.type, enabled=False):
            wide = descriptors.to(accumulated_in(descriptors.dtype))
            value, gradient = _value_and_gradient(
                wide, classes, loss, wanted=ctx.needs_input_grad[0]
            )
        if gradient is not None:
            ctx.save_for_backward(gradient)
            ctx.dtype = descriptors.dtype
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, outer: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        (gradient,) = ctx.saved_tensors
        return (gradient * outer).to(ctx.dtype), None, None


def _value_and_gradient(
    descriptors: Tensor, classes: Tensor, loss: AveragePrecisionLoss, *, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """The loss, and its gradient (B, C) where it is wanted."""
    count, dtype = len(descriptors), descriptors.dtype
    _, inverse, counts = torch.unique(classes, return_inverse=True, return_counts=True)
    sizes = counts[inverse]
    positives = loss.positives_of(sizes)
    weights = loss.weights_of(sizes, dtype)
    bins = Bins(loss.bins, loss.low, loss.high)
    value = descriptors.new_ones(())
    tables = descriptors.new_empty(count, bins.table)
    codes = _narrow_codes(count if wanted else 0, bins, descriptors.device)
    step = rows_within(loss.memory_bytes, columns=count, element_bytes=dtype.itemsize)
    for start in range(0, count, step):
        rows = slice(start, start + step)
        scores = descriptors[rows] @ descriptors.T
        scores.diagonal(start).fill_(1)
        placed = place(scores, inverse[rows, None] == inverse, bins)
        if not loss.self_match:
            placed.leave_out_diagonal(start)
        precision, to_masses = precision_and_gradient(placed, positives[rows], ties=loss.ties)
        value -= precision @ weights[rows]
        tables[rows] = slope_table(to_masses * -weights[rows, None, None], bins)
        if wanted:
            codes[rows] = placed.codes
    return value, _gradient(descriptors, codes, tables, step) if wanted else None


def _narrow_codes(count: int, bins: Bins, device: torch.device) -> Tensor:
    """(B, B) room for the code of each pair, one byte each unless there are very many bins."""
    dtype = torch.uint8 if bins.table <= 256 else torch.int32
    return torch.empty(count, count, dtype=dtype, device=device)


def _gradient(descriptors: Tensor, codes: Tensor, tables: Tensor, step: int) -> Tensor:
    """(B, C): a similarity is one of its row's query and one of its column's, and what both make
    of it goes to the row; the column meets it again in the other half of the matrix.

    Args:
        codes: (B, B) of all similarities; that matrix is symmetric.
        tables: (B, `Bins.table`) the gradient of each query to a similarity by its code.
    """
    gradient = torch.empty_like(descriptors)
    by_column = tables.T.contiguous()
    for start in range(0, len(descriptors), step):
        rows = slice(start, start + step)
        of_pairs = codes[rows].long()
        slopes = tables[rows].gather(1, of_pairs).add_(by_column.gather(0, of_pairs))
        slopes.diagonal(start).fill_(0)
        torch.mm(slopes, descriptors, out=gradient[rows])
    return gradient
