"""Three solvers of one problem, min_{z≥0} zᵀGz - 2bᵀz, for many candidates.

With G = FᵀF and b = Fᵀq this is non-negative least squares, min_{z≥0} ‖Fz - q‖², which has the same
solution up to its scale as programme (6) of Cao et al. 2016 (arXiv 1606.06811). G has ones on its
diagonal and q is a unit vector: who calls brings the columns of F to unit length.
"""

import numpy as np
from numpy.typing import NDArray

from engine.config import Solver
from engine.jobs import Ticket
from engine.rank.solvers import batched, cholesky, reference

Float64 = NDArray[np.float64]


def solve(
    grams: Float64,
    targets: Float64,
    *,
    solver: str = Solver.BATCHED,
    device: str = "cpu",
    ticket: Ticket | None = None,
) -> Float64:
    """The weights of n merges of K regions each.

    Args:
        grams: (n, K, K) symmetric, positive semidefinite, ones on the diagonal.
        targets: (n, K) b, within [-1, 1].
        solver: one of `Solver`, or the name of any other solver that qpsolvers finds installed.
        device: "cpu", or a device of torch that computes in float64 ("cuda"); for `Solver.BATCHED`.
        ticket: asked for cancellation between problems where they are solved one by one.

    Returns:
        (n, K) z ≥ 0, each row up to a positive factor; all 0 where no merge has bᵀz > 0.

    Raises:
        ValueError: a solver that is not known here.
    """
    if not targets.size:
        return np.zeros_like(targets)
    if solver == Solver.BATCHED:
        return batched.solve(grams, targets, device=device)
    if solver == Solver.NNLS:
        return cholesky.solve(grams, targets, ticket=ticket)
    return reference.solve(grams, targets, name=solver, ticket=ticket)
