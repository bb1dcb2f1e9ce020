"""Quantised average precision of queries, AP_Q, and its variant for ties, AP_T.

Revaud et al., "Learning with Average Precision" (ICCV 2019, arXiv 1906.07589), equations 7 to 13.
AP_Q is not exact average precision for any number of bins: with many it stays at or below, because
the mass of a positive is split over two bins and the upper part meets less of it; with few it
may lie a few hundredths above or below. AP_T is closer.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from engine.errors import TrainingError
from engine.training.losses.checks import require_finite
from engine.training.losses.histogram import Bins, Placed, place, rows_within

MEMORY_BYTES = 32 * 1024**2
"""Standard bound of what rows of scores may take at a time. More brings nothing on a CPU, whose
cache holds about as much."""


@dataclass(frozen=True, slots=True)
class QueryPrecision:
    """Average precision of Q queries.

    ``values``: (Q,) in 0…1 (a rounding error above), float32 or float64; 0 without gradient for a
    query that does not count. ``counted``: (Q,) bool, which queries have a positive: the others
    have no average precision.
    """

    values: Tensor
    counted: Tensor

    def mean(self) -> Tensor:
        """Mean over the queries that count: equation 12 for a whole batch.

        Raises:
            TrainingError: none does.
        """
        if not self.counted.any():
            raise TrainingError("no query has a positive")
        return self.values.sum() / self.counted.sum()


def quantised_precision(
    scores: Tensor,
    labels: Tensor,
    *,
    bins: Bins,
    ties: bool = False,
    memory_bytes: int = MEMORY_BYTES,
) -> QueryPrecision:
    """AP_Q (equation 11) of each query, or AP_T (equation 13), with its gradient to the scores.

    Time is O(Q·N) forward and backward. Beside the result, the gradient (Q, N) is held until
    backward; it cannot be differentiated again.

    Args:
        scores: (Q, N) similarities, float32, float64 or a half format; halves are summed in
            float32. Those outside the bins' range count once, in the outermost bin.
        labels: (Q, N) 0 or 1, of any type: what is relevant to each query.
        ties: AP_T in the place of AP_Q.
        memory_bytes: bound of what is held of a chunk of rows; at least one row is.

    Raises:
        ValueError: scores and labels differ in shape.
        TrainingError: a score is not finite.
    """
    if scores.ndim != 2 or scores.shape != labels.shape:
        raise ValueError(f"scores {tuple(scores.shape)} and labels {tuple(labels.shape)} differ")
    positive = labels.bool()
    values = _QuantisedPrecision.apply(scores, positive, bins, ties, memory_bytes)
    return QueryPrecision(values, positive.any(dim=1))


def precision_and_gradient(
    placed: Placed, positives: Tensor, *, ties: bool
) -> tuple[Tensor, Tensor]:
    """AP_Q or AP_T of rows of placed scores, and its gradient to their masses.

    The histogram is small, so the formulas stand here as the paper has them and autograd derives
    them; only the histogram itself has a gradient by hand.

    Args:
        positives: (r,) N_q of each row; 0 gives a precision of 0.

    Returns:
        (r,) and (r, 2, M).
    """
    with torch.enable_grad():
        masses = placed.masses().requires_grad_()
        precision = (_tied if ties else _cumulated)(masses)
        recall_steps = masses[:, 1] / positives.clamp_min(1)[:, None]  # equation 10
        values = (precision * recall_steps).sum(dim=1)  # equation 11
        (gradient,) = torch.autograd.grad(values.sum(), masses)
    return values.detach(), gradient


def _cumulated(masses: Tensor) -> Tensor:
    """(r, M) P̂ of equation 9. Bins above the first score have none and count for nothing."""
    found = masses.cumsum(dim=2)
    every = found.sum(dim=1)
    return found[:, 1] / torch.where(every > 0, every, 1)


def _tied(masses: Tensor) -> Tensor:
    """(r, M) P̂ᵀ of equation 13: 2 Σ_{m'<m} + the bin itself is twice the sum down to m less it."""
    twice = 1 + 2 * masses.cumsum(dim=2) - masses
    return twice[:, 1] / (twice.sum(dim=1) - 1)


def accumulated_in(dtype: torch.dtype) -> torch.dtype:
    """float64 for itself, float32 for all else."""
    return dtype if dtype == torch.float64 else torch.float32


class _QuantisedPrecision(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        scores: Tensor,
        positive: Tensor,
        bins: Bins,
        ties: bool,
        memory_bytes: int,
    ) -> Tensor:
        wide = accumulated_in(scores.dtype)
        values = scores.new_zeros(len(scores), dtype=wide)
        slopes = torch.empty_like(scores) if ctx.needs_input_grad[0] else None
        step = rows_within(memory_bytes, columns=scores.shape[1], element_bytes=wide.itemsize)
        for start in range(0, len(scores), step):
            rows = slice(start, start + step)
            require_finite(scores[rows], "similarities")
            placed = place(scores[rows].to(wide, copy=True), positive[rows], bins)
            positives = positive[rows].sum(dim=1)
            values[rows], gradient = precision_and_gradient(placed, positives, ties=ties)
            if slopes is not None:
                slopes[rows] = placed.slopes(gradient)
        if slopes is not None:
            ctx.save_for_backward(slopes)
        return values

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        (slopes,) = ctx.saved_tensors
        return (slopes * gradient[:, None]).to(slopes.dtype), None, None, None, None
