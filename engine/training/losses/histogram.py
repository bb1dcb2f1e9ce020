"""The soft histogram under quantised average precision, by scattering to two bins.

Revaud et al., "Learning with Average Precision" (ICCV 2019, arXiv 1906.07589), equations 7 and 8.
The triangular kernels of the M bins sum to one everywhere, and a score meets two of them at most:
it lies in one interval between neighbouring centres, and its mass splits over their bins. So one
scatter of two shares makes the histogram, and since the shares are linear in the score, its
gradient is one number for each interval. A score costs the same for any M.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Bins:
    """M = ``count`` bins, centres evenly from ``high`` (the first) down to ``low`` (the last).

    Raises:
        SettingsError: fewer than 2 bins, or a range that is empty.
    """

    count: int = 20
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if self.count < 2:
            raise SettingsError(f"average precision needs at least 2 bins, not {self.count}")
        if not self.low < self.high:
            raise SettingsError(f"no bins fit between {self.low} and {self.high}")

    @property
    def width(self) -> float:
        """Δ, from one centre to the next."""
        return (self.high - self.low) / (self.count - 1)

    @property
    def codes(self) -> int:
        """How many intervals there are for each label: M - 1 between centres, and one beyond each
        end, where the outermost bin takes all and nothing depends on the score."""
        return self.count + 1

    @property
    def table(self) -> int:
        """How many codes there are in all: of negatives, of positives, and one of no bin."""
        return 2 * self.codes + 1


@dataclass(frozen=True, slots=True)
class Placed:
    """Where r rows of N scores fall.

    ``codes``: (r, N) int64, the interval of each score counted from the high end, those of
    positives after those of negatives. ``shares``: (r, N), which part of its mass goes to the
    lower end of its interval; the rest goes to the higher.
    """

    codes: Tensor
    shares: Tensor
    bins: Bins

    def leave_out_diagonal(self, offset: int) -> None:
        """Let the scores [i, i + offset] fall into no bin."""
        self.codes.diagonal(offset).fill_(self.bins.table - 1)

    def masses(self) -> Tensor:
        """(r, 2, M): the histograms of negatives and of positives, Σ_i δ(x_i, m) of equation 7.

        Both shares are summed, instead of one and the count, because a difference of sums could
        leave a bin that nothing fell into with a negative rest.
        """
        lower_end = self._summed(self.shares)
        higher_end = self._summed(1 - self.shares)
        return lower_end[..., :-1] + higher_end[..., 1:]

    def _summed(self, shares: Tensor) -> Tensor:
        rows, codes = len(shares), self.bins.codes
        sums = shares.new_zeros(rows, self.bins.table)
        return sums.scatter_add_(1, self.codes, shares)[:, :-1].view(rows, 2, codes)

    def slopes(self, gradient: Tensor) -> Tensor:
        """(r, N): the gradient to each score, of a function whose gradient to the masses is
        ``gradient`` (r, 2, M)."""
        return slope_table(gradient, self.bins).gather(1, self.codes)


def slope_table(gradient: Tensor, bins: Bins) -> Tensor:
    """(r, `Bins.table`): for each code, the gradient to the scores of a row that bear it, of a
    function whose gradient to the masses is ``gradient`` (r, 2, M). Equation 8: a higher score
    takes mass from the lower end of its interval and gives it to the higher."""
    inner = (gradient[..., :-1] - gradient[..., 1:]) / bins.width
    return functional.pad(functional.pad(inner, (1, 1)).flatten(1), (0, 1))


def place(scores: Tensor, positive: Tensor, bins: Bins) -> Placed:
    """Find the interval of each score. A score beyond the outermost centre counts once, in the
    outermost bin: similarities are a rounding error above 1.

    Args:
        scores: (r, N) float32 or float64, finite; overwritten.
        positive: (r, N) bool.
    """
    down = scores.neg_().add_(bins.high).div_(bins.width)
    interval = torch.floor(down).clamp_(-1, bins.count - 1)
    shares = down.clamp_(0, bins.count - 1).sub_(interval)
    codes = interval.add_(1).long().add_(positive, alpha=bins.codes)
    return Placed(codes, shares, bins)


def rows_within(memory_bytes: int, *, columns: int, element_bytes: int) -> int:
    """How many rows of scores, at least one, can be placed and summed at a time within so much
    memory: three numbers of theirs live at once for each score, its code and its label."""
    code_and_label = 9
    return max(1, memory_bytes // (columns * (3 * element_bytes + code_and_label)))
