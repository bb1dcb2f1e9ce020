"""Programme (6) as the paper writes it, one call of a general solver for each candidate.

Cao et al. 2016 (arXiv 1606.06811): min_z zᵀGz subject to bᵀz = 1, z ≥ 0, through qpsolvers.
"""

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config import Solver
from engine.jobs import Ticket

logger = logging.getLogger(__name__)

Float64 = NDArray[np.float64]

_TOLERANCE = 1e-9
_OPTIONS: dict[str, dict[str, Any]] = {
    "osqp": {
        "eps_abs": _TOLERANCE,
        "eps_rel": _TOLERANCE,
        "max_iter": 200_000,
        "raise_error": False,  # it says that it found nothing, like the others
    },
    "scs": {"eps_abs": _TOLERANCE, "eps_rel": _TOLERANCE},
    "proxqp": {"eps_abs": _TOLERANCE, "eps_rel": _TOLERANCE},
    "piqp": {"eps_abs": _TOLERANCE, "eps_rel": _TOLERANCE},
    "clarabel": {"tol_gap_abs": _TOLERANCE, "tol_gap_rel": _TOLERANCE, "tol_feas": _TOLERANCE},
}
"""What each calls its tolerances. Solvers that are not named here run with their own."""


def solve(
    grams: Float64, targets: Float64, *, name: str = Solver.OSQP, ticket: Ticket | None = None
) -> Float64:
    """z of programme (6) for n candidates.

    Args:
        grams: (n, K, K) FᵀF, ones on the diagonal.
        targets: (n, K) Fᵀq, within [-1, 1].
        name: a solver that qpsolvers finds installed.
        ticket: asked for cancellation before each call.

    Returns:
        (n, K) z ≥ 0 up to a factor; all 0 where the programme is infeasible, b ≤ 0.

    Raises:
        ValueError: qpsolvers does not find that solver.
    """
    import qpsolvers  # takes a while; only who asks for it waits

    if name not in qpsolvers.available_solvers:
        known = ", ".join([*(str(s) for s in Solver), *qpsolvers.available_solvers])
        raise ValueError(f"there is no solver {name!r}; there are {known}")
    weights = np.zeros_like(targets)
    for row, (gram, target) in enumerate(zip(grams, targets, strict=True)):
        if ticket is not None:
            ticket.check()
        if target.max(initial=0.0) > 0:
            weights[row] = _solve_one(gram, target, name=name)
    return weights


def _solve_one(gram: Float64, target: Float64, *, name: str) -> Float64:
    import qpsolvers
    from scipy import sparse

    count = len(target)
    # The scale of the constraint is free; at the best cosine, z is about 1 whatever the query.
    # qpsolvers minimises ½ zᵀPz.
    objective, constraint = 2.0 * gram, target[None, :] / target.max()
    if name in qpsolvers.sparse_solvers:
        objective, constraint = sparse.csc_matrix(objective), sparse.csc_matrix(constraint)
    solution = qpsolvers.solve_problem(
        qpsolvers.Problem(
            P=objective, q=np.zeros(count), A=constraint, b=np.ones(1), lb=np.zeros(count)
        ),
        solver=name,
        **_OPTIONS.get(name, {}),
    )
    if solution.x is None:
        logger.warning("%s found no merge of %d regions; the best stands alone", name, count)
        return np.zeros(count)
    z: Float64 = np.maximum(solution.x, 0.0)
    return z
