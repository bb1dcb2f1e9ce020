"""Query adaptive matching: the best soft merge of a candidate's base regions for one query.

Cao et al., "Where to Focus: Query Adaptive Matching for Instance Retrieval Using Convolutional
Feature Maps" (2016, arXiv 1606.06811). With the K pooled features of a candidate as the columns
of F and a unit query q, equations (3) and (4) ask for

    max_z  qᵀFz / ‖Fz‖   subject to  z ≥ 0,

which is the quadratic programme (6): min_z zᵀFᵀFz subject to qᵀFz = 1, z ≥ 0.

The score is the length of the projection of q on the cone {Fz : z ≥ 0}, so the same z comes, up
to its scale, from non-negative least squares, ẑ = argmin_{z≥0} ‖Fz - q‖², and z* = ẑ/‖Fẑ‖². With
FᵀF = LLᵀ that is min ‖Lᵀz - L⁻¹Fᵀq‖², a problem of K×K numbers. `Solver.OSQP` solves (6) as it
is written, one call for each candidate, as the reference.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.config import Solver
from engine.jobs import Ticket
from engine.rank.nnls import solve_many

logger = logging.getLogger(__name__)

Float64 = NDArray[np.float64]

_CHUNK_VALUES = 8_000_000
"""Numbers of one stack of regions in float64 (64 MB), so that a long shortlist needs no more."""

_OSQP_TOLERANCE = 1e-9
_OSQP_ITERATIONS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """How the base regions of one candidate merge for the query.

    ``score``: the maximum of equation (3), a cosine in [-1, 1]. ``z``: (K,) float64, ≥ 0, the
    weights of the regions, scaled so that Fz is the projection of the unit query and ‖Fz‖ the
    score. Where no merge has a positive cosine (Fᵀq ≤ 0, programme (6) has no solution), the
    supremum of (3) is the best single region's cosine: z names this region alone, at unit length.
    Without any region of positive length the score is 0 and z all zero.
    """

    score: float
    z: Float64


def match(query: ArrayLike, regions: ArrayLike, *, solver: Solver = Solver.NNLS) -> Merge:
    """The best merge of one candidate's regions; see `match_many`.

    Args:
        query: (D,) the query's feature, of any positive length.
        regions: (K, D) one pooled feature in each row, of any lengths and any float type.
    """
    rows = np.asarray(regions)
    return match_many(query, rows, np.array([0, len(rows)]), solver=solver)[0]


def match_many(
    query: ArrayLike,
    regions: ArrayLike,
    starts: ArrayLike,
    *,
    solver: Solver = Solver.NNLS,
    ticket: Ticket | None = None,
) -> list[Merge]:
    """Query adaptive matching of many candidates, equations (3) to (6).

    Args:
        query: (D,) the query's feature; a zero query scores 0 everywhere.
        regions: (ΣK, D) pooled features of all candidates, one after the other.
        starts: (N + 1,) candidate n owns the rows starts[n] to starts[n + 1].
        ticket: asked for cancellation between stacks of candidates, and between calls of OSQP.

    Returns:
        N merges. Each score is at least the cosine of every single region and of their sum (up
        to rounding), and does not depend on the lengths of the regions.

    Raises:
        ValueError: shapes that do not fit, or values that are not finite.
    """
    table = np.asarray(regions)
    bounds = np.asarray(starts, dtype=np.int64)
    _check(table, bounds)
    unit_query = _unit_query(query, dim=table.shape[1])
    counts = np.diff(bounds)
    merges: list[Merge] = [Merge(0.0, np.zeros(int(count))) for count in counts]
    for members in _stacks(counts, dim=table.shape[1]):
        rows = bounds[members][:, None] + np.arange(counts[members[0]])
        stack = table[rows].astype(np.float64)  # (n, K, D)
        solved = _match_stack(unit_query, stack, solver=solver, ticket=ticket)
        for member, merge in zip(members, solved, strict=True):
            merges[member] = merge
    return merges


# --- input ----------------------------------------------------------------------------------


def _check(table: NDArray[np.floating], bounds: NDArray[np.int64]) -> None:
    if table.ndim != 2:
        raise ValueError(f"regions must be (ΣK, D), not {table.shape}")
    if bounds.ndim != 1 or len(bounds) < 1 or bounds[0] != 0 or bounds[-1] != len(table):
        raise ValueError(f"starts must run from 0 to the number of regions, {len(table)}")
    if (np.diff(bounds) < 0).any():
        raise ValueError("starts must not fall")


def _unit_query(query: ArrayLike, *, dim: int) -> Float64:
    vector = np.asarray(query, dtype=np.float64)
    if vector.shape != (dim,):
        raise ValueError(f"the query must be ({dim},), like the regions, not {vector.shape}")
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length):
        raise ValueError("the query holds values that are not finite")
    return vector / length if length > 0 else vector


def _stacks(counts: NDArray[np.int64], *, dim: int) -> Iterator[NDArray[np.int64]]:
    """Indices of candidates with equally many regions, at most a chunk at a time."""
    for count in np.unique(counts[counts > 0]):
        members = np.flatnonzero(counts == count)
        step = max(1, _CHUNK_VALUES // int(count * dim))
        for first in range(0, len(members), step):
            yield members[first : first + step]


# --- solving --------------------------------------------------------------------------------


def _match_stack(
    unit_query: Float64, stack: Float64, *, solver: Solver, ticket: Ticket | None
) -> list[Merge]:
    """Merges of n candidates with K regions each; ``stack`` is (n, K, D)."""
    if ticket is not None:
        ticket.check()
    grams = stack @ stack.transpose(0, 2, 1)  # (n, K, K)
    diagonal = np.arange(stack.shape[1])
    lengths = np.sqrt(grams[:, diagonal, diagonal])  # (n, K)
    if not np.isfinite(lengths).all():
        raise ValueError("the regions hold values that are not finite")
    alive = lengths > 0
    scales = 1.0 / np.where(alive, lengths, 1.0)
    cosines = (stack @ unit_query) * scales  # (n, K)
    grams *= scales[:, :, None] * scales[:, None, :]
    # A region without length gets a direction of its own that the query does not have.
    grams[:, diagonal, diagonal] = 1.0
    if solver is Solver.NNLS:
        weights = solve_many(grams, cosines)
    else:
        weights = np.stack([_solve_osqp(*one, ticket) for one in zip(grams, cosines, strict=True)])
    singles = np.where(alive, cosines, -np.inf)
    return _merges(weights * scales, stack, query=unit_query, singles=singles, scales=scales)


def _solve_osqp(gram: Float64, cosines: Float64, ticket: Ticket | None) -> Float64:
    """Programme (6) as it is written, by the operator splitting solver OSQP; 0 if infeasible."""
    if ticket is not None:
        ticket.check()
    if cosines.max() <= 0:
        return np.zeros(len(cosines))
    from qpsolvers import Problem, solve_problem
    from scipy import sparse

    count = len(cosines)
    # The scale of the constraint is free; at the best cosine, z is about 1 whatever the query.
    problem = Problem(
        P=sparse.csc_matrix(2.0 * gram),
        q=np.zeros(count),
        A=sparse.csc_matrix(cosines[None, :] / cosines.max()),
        b=np.ones(1),
        lb=np.zeros(count),
    )
    solution = solve_problem(
        problem,
        solver="osqp",
        eps_abs=_OSQP_TOLERANCE,
        eps_rel=_OSQP_TOLERANCE,
        max_iter=_OSQP_ITERATIONS,
        raise_error=False,
    )
    if solution.x is None:
        logger.warning("OSQP found no merge of %d regions; the best region stands alone", count)
        return np.zeros(count)
    z: Float64 = np.maximum(solution.x, 0.0)
    return z


def _merges(
    z: Float64, stack: Float64, *, query: Float64, singles: Float64, scales: Float64
) -> list[Merge]:
    """Equation (3) at ``z``, (n, K), or at the best single region where that is better.

    The score is computed from z, never from the optimum of (6): an order more exact. The best
    region takes over where (6) has no solution, and where rounding would lose to it. ``singles``:
    (n, K) cosines, -inf for regions without length; ``scales``: (n, K) one over their lengths.
    """
    rows = np.arange(len(z))
    merged = (z[:, None, :] @ stack)[:, 0]  # (n, D)
    lengths = np.linalg.norm(merged, axis=1)
    safe = np.where(lengths > 0, lengths, 1.0)
    scores = (merged @ query) / safe
    best = singles.argmax(axis=1)
    best_scores = singles[rows, best]
    alone = (lengths == 0) | (scores < best_scores)
    scores = np.where(alone, best_scores, scores)
    empty = np.isneginf(scores)  # not one region has a length
    scores[empty] = 0.0
    z = np.where(alone[:, None], 0.0, z * (scores / safe)[:, None])
    ones = np.where(scores > 0, scores, 1.0) * scales[rows, best]
    z[rows, best] = np.where(alone, np.where(empty, 0.0, ones), z[rows, best])
    scores = np.clip(scores, -1.0, 1.0)
    return [Merge(float(score), weights) for score, weights in zip(scores, z, strict=True)]
