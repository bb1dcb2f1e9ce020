"""The listwise loss of a batch of descriptors: 1 - mAP_Q.

Revaud et al., "Learning with Average Precision" (ICCV 2019, arXiv 1906.07589), equation 12: every
descriptor of the batch queries all of them, and those of its class are relevant.

The B × B similarities never exist as a whole, nor does a graph over them. For one chunk of rows
after the other, similarities, precision and gradient are computed and the gradient is carried on to
the descriptors, to those of the rows and to those of the columns. So the memory is that of the
descriptors, twice, and of one chunk.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from engine.errors import TrainingError
from engine.training.losses.checks import require_finite
from engine.training.losses.histogram import Bins, place, rows_within
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
    _, inverse, counts = torch.unique(classes, return_inverse=True, return_counts=True)
    sizes = counts[inverse]
    positives = loss.positives_of(sizes)
    weights = loss.weights_of(sizes, descriptors.dtype)
    bins = Bins(loss.bins, loss.low, loss.high)
    value = descriptors.new_ones(())
    gradient = torch.zeros_like(descriptors) if wanted else None
    step = rows_within(
        loss.memory_bytes, columns=len(descriptors), element_bytes=descriptors.dtype.itemsize
    )
    for start in range(0, len(descriptors), step):
        rows = slice(start, start + step)
        scores = descriptors[rows] @ descriptors.T
        scores.diagonal(start).fill_(1)
        placed = place(scores, inverse[rows, None] == inverse, bins)
        if not loss.self_match:
            placed.leave_out_diagonal(start)
        precision, to_masses = precision_and_gradient(placed, positives[rows], ties=loss.ties)
        value -= precision @ weights[rows]
        if gradient is not None:
            slopes = placed.slopes(to_masses * -weights[rows, None, None])
            slopes.diagonal(start).fill_(0)
            gradient[rows].addmm_(slopes, descriptors)
            gradient.addmm_(slopes.T, descriptors[rows])
    return value, gradient
