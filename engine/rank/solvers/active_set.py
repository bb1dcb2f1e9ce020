"""Non-negative least squares from Gram matrices, for many small problems at once.

min_{z≥0} ‖Fz - q‖² needs only G = FᵀF and b = Fᵀq. This is the active-set method of Lawson and
Hanson ("Solving Least Squares Problems", 1974, chapter 23) in the form of Bro and de Jong ("A fast
non-negativity-constrained least squares algorithm", 1997) that works on G and b, with all
problems stepping together: few regions take part in a merge, so each step solves systems of a few
unknowns however many regions there are.

It is what the faster solvers fall back to: it steps from one feasible point to a better one, so
duplicate and nearly dependent regions cannot send it in circles.
"""

import logging

import numpy as np
from numpy.typing import NDArray

logger = logging.getLogger(__name__)

Float64 = NDArray[np.float64]
Bools = NDArray[np.bool_]

_RIDGE = 1e-12
"""Added to the unit diagonal: dependent columns make G singular. A thousand times what rounding
leaves, and for features that are not negative at most 1e-12 of the optimum."""

_TOLERANCE = 1e-11
"""A column may still improve the fit if its gradient is above this, for unit columns and target."""


def solve_many(grams: Float64, targets: Float64) -> Float64:
    """argmin_{z≥0} zᵀGz - 2bᵀz of n problems with K unknowns each.

    Args:
        grams: (n, K, K) symmetric, positive semidefinite, ones on the diagonal.
        targets: (n, K) b, within [-1, 1].

    Returns:
        (n, K) z ≥ 0. At the optimum Gz - b ≥ 0, and = 0 wherever z > 0.
    """
    count, unknowns = targets.shape
    solution = np.zeros_like(targets)
    left = np.flatnonzero((targets > _TOLERANCE).any(axis=1))
    if not len(left):
        return solution
    state = _State(grams[left] + _RIDGE * np.eye(unknowns), targets[left])
    for _ in range(20 * unknowns + 20):
        ended = state.add_best()
        solution[left[ended]] = state.z[ended]
        if ended.all():
            return solution
        if ended.any():
            left = left[~ended]
            state = state.only(~ended)
        state.step()
    logger.warning("%d of %d merges stopped short of the optimum", len(left), count)
    solution[left] = state.z
    return solution


class _State:
    """n problems on their way. ``free``: (n, K) the columns that may differ from 0."""

    def __init__(self, grams: Float64, targets: Float64) -> None:
        self._grams = grams
        self._targets = targets
        self.z = np.zeros_like(targets)
        self._free: Bools = np.zeros(targets.shape, dtype=bool)
        self._barred: Bools = np.zeros(targets.shape, dtype=bool)
        """Columns that were freed and went straight back to 0: only rounding made them look good.
        Barred until something else has moved."""
        self._whole: Bools = np.ones(len(targets), dtype=bool)
        """Whether z is the optimum of the free columns, so that another may be freed."""

    def only(self, kept: Bools) -> "_State":
        """The problems of ``kept``, (n,)."""
        state = _State(self._grams[kept], self._targets[kept])
        state.z, state._free = self.z[kept], self._free[kept]
        state._barred, state._whole = self._barred[kept], self._whole[kept]
        return state

    def add_best(self) -> Bools:
        """Free the column of steepest descent of each problem that is at the optimum of its free
        columns. Returns (n,) which problems have none left: they are solved."""
        gradient = self._targets - (self._grams @ self.z[:, :, None])[:, :, 0]
        gradient[self._free | self._barred] = -np.inf
        best = gradient.argmax(axis=1)
        rows = np.arange(len(best))
        more = gradient[rows, best] > _TOLERANCE
        self._free[rows[self._whole & more], best[self._whole & more]] = True
        ended: Bools = self._whole & ~more
        return ended

    def step(self) -> None:
        """Move to the optimum of the free columns, or as far as z stays ≥ 0 on the way there."""
        goal = self._optimum_of_free()
        blocking = self._free & (goal <= 0)
        # A column that was just freed stands at 0 and must not go below: no step at all.
        length = np.where(blocking, 0.0, 1.0)
        shrinking = blocking & (self.z > 0)
        length[shrinking] = self.z[shrinking] / (self.z - goal)[shrinking]
        share = length.min(axis=1)
        arrived: Bools = ~np.logical_or.reduce(blocking, axis=1)
        stuck = ~arrived & (share <= 0)
        self.z = np.where(arrived[:, None], goal, self.z + share[:, None] * (goal - self.z))
        stopped = self._free & ~arrived[:, None] & ((length <= share[:, None]) | (self.z <= 0))
        self._free &= ~stopped
        self.z[~self._free] = 0.0
        self._barred = np.where(stuck[:, None], self._barred | stopped, False)
        self._whole = arrived | stuck

    def _optimum_of_free(self) -> Float64:
        """(n, K) the unconstrained optimum over each problem's free columns, 0 elsewhere."""
        width = int(self._free.sum(axis=1).max())
        # The free columns first; what pads them has equations of its own, with solution 0.
        order = np.argsort(~self._free, axis=1, kind="stable")[:, :width]
        real = np.take_along_axis(self._free, order, axis=1)
        rows = np.arange(len(order))[:, None]
        systems = self._grams[rows[:, :, None], order[:, :, None], order[:, None, :]]
        systems = np.where(real[:, :, None] & real[:, None, :], systems, np.eye(width))
        sides = np.where(real, self._targets[rows, order], 0.0)
        optimum = np.zeros_like(self.z)
        np.put_along_axis(optimum, order, np.linalg.solve(systems, sides[:, :, None])[:, :, 0], 1)
        return optimum
