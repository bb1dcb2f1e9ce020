"""How much faster non-negative least squares is than one OSQP call for each candidate.

Run it: ``python -m tests.bench.qam``. Both solvers get the same 100 candidates in the same run,
from stored float16 regions to scores, taking turns so that a busy machine slows both. The last
line states the ratio and its target; the exit status is 1 if it was missed, or if the scores of
the two do not agree.
"""

import statistics
import sys
import time

import numpy as np
from numpy.typing import NDArray

from engine.config import Solver
from engine.rank.qam import Merge, match_many

CANDIDATES, REGIONS, DIM = 100, 25, 512
ROUNDS = 7
RATIO_TARGET = 5.0
AGREEMENT_TARGET = 1e-5


def made_up_candidates() -> tuple[NDArray[np.float32], NDArray[np.float16]]:
    """A query and regions like pooled features after ReLU: sparse, not negative, of unit length;
    regions of one photo overlap, so they share what they see."""
    rng = np.random.default_rng(0)
    parts = rng.gamma(0.3, size=(CANDIDATES, 40, DIM)) * (rng.random((CANDIDATES, 40, DIM)) > 0.7)
    seen = rng.random((CANDIDATES, REGIONS, 40)) > 0.7
    regions = seen.astype(np.float64) @ parts + 1e-3  # (N, K, D)
    regions /= np.linalg.norm(regions, axis=2, keepdims=True)
    query = rng.gamma(0.3, size=DIM) + regions[:, 0].mean(axis=0)
    unit = query / np.linalg.norm(query)
    return unit.astype(np.float32), regions.reshape(-1, DIM).astype(np.float16)


def timed(solver: Solver) -> tuple[float, list[Merge]]:
    """Seconds for all candidates, and the merges."""
    query, regions = made_up_candidates()
    starts = np.arange(CANDIDATES + 1) * REGIONS
    begun = time.perf_counter()
    merges = match_many(query, regions, starts, solver=solver)
    return time.perf_counter() - begun, merges


def main() -> int:
    """Print the table; 0 if both targets were met."""
    for solver in Solver:  # imports and first calls cost extra
        timed(solver)
    seconds: dict[Solver, list[float]] = {solver: [] for solver in Solver}
    scores: dict[Solver, NDArray[np.float64]] = {}
    for _ in range(ROUNDS):
        for solver in Solver:
            spent, merges = timed(solver)
            seconds[solver].append(spent)
            scores[solver] = np.array([merge.score for merge in merges])
    print(f"{CANDIDATES} candidates, K = {REGIONS}, D = {DIM}, {ROUNDS} rounds")
    print(f"{'solver':8s} {'median ms':>10s} {'least ms':>10s}")
    for solver, spent_s in seconds.items():
        print(f"{solver:8s} {statistics.median(spent_s) * 1e3:10.1f} {min(spent_s) * 1e3:10.1f}")
    apart = float(np.abs(scores[Solver.NNLS] - scores[Solver.OSQP]).max())
    print(f"largest difference of scores: {apart:.1e}, target <= {AGREEMENT_TARGET:.0e}")
    ratio = statistics.median(
        slow / fast for slow, fast in zip(seconds[Solver.OSQP], seconds[Solver.NNLS], strict=True)
    )
    print(f"NNLS is {ratio:.1f} times as fast as OSQP, target >= {RATIO_TARGET:.1f}")
    return 0 if ratio >= RATIO_TARGET and apart <= AGREEMENT_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
