"""Non-negative least squares on the Cholesky factor, one candidate after the other.

With FᵀF = LLᵀ, min_{z≥0} ‖Fz - q‖² is min_{z≥0} ‖Lᵀz - L⁻¹Fᵀq‖², a problem of K×K numbers, which
`scipy.optimize.nnls` solves. Where columns are nearly dependent, and duplicate regions are that,
SciPy 1.17 may return a point that is not optimal without saying so, and L may not exist. So every
answer is held to the conditions of Karush, Kuhn and Tucker, and what fails them is solved again by
the active-set method.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from engine.jobs import Ticket
from engine.rank.solvers import active_set

Float64 = NDArray[np.float64]

_RIDGE = 1e-12
"""Added to the unit diagonal, so that most singular Gram matrices have a factor."""

_OPTIMAL = 1e-9
"""How far from the conditions of optimality an answer may be, for unit columns and target."""


def solve(grams: Float64, targets: Float64, *, ticket: Ticket | None = None) -> Float64:
    """argmin_{z≥0} zᵀGz - 2bᵀz of n problems with K unknowns each.

    Args:
        grams: (n, K, K) symmetric, positive semidefinite, ones on the diagonal.
        targets: (n, K) b, within [-1, 1].
        ticket: asked for cancellation before each problem.

    Returns:
        (n, K) z ≥ 0.
    """
    weights = np.zeros_like(targets)
    for row, (gram, target) in enumerate(zip(grams, targets, strict=True)):
        if ticket is not None:
            ticket.check()
        weights[row] = _solve_one(gram, target)
    failed = np.flatnonzero(distance_from_optimum(grams, targets, weights) > _OPTIMAL)
    weights[failed] = active_set.solve_many(grams[failed], targets[failed])
    return weights


def distance_from_optimum(grams: Float64, targets: Float64, weights: Float64) -> Float64:
    """(n,) how far z ≥ 0 is from the conditions of Karush, Kuhn and Tucker: Gz - b ≥ 0, and = 0
    wherever z > 0. Shapes as for `solve`."""
    gradients = targets - (grams @ weights[:, :, None])[:, :, 0]
    excess: Float64 = np.where(weights > 0, np.abs(gradients), gradients).max(axis=1, initial=0.0)
    return excess


def _solve_one(gram: Float64, target: Float64) -> Float64:
    """The answer of SciPy, or 0 where it has none: then the check fails, or 0 is right."""
    try:
        lower = np.linalg.cholesky(gram + _RIDGE * np.eye(len(target)))
        side = solve_triangular(lower, target, lower=True, check_finite=False)
        z: Float64 = nnls(lower.T, side)[0]
    except (np.linalg.LinAlgError, RuntimeError):  # no factor, or too many iterations
        return np.zeros_like(target)
    return z
