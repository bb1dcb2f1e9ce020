"""How much faster query adaptive matching is at once than by one OSQP call for each candidate.

Run it: ``python -m tests.bench.qam``. All solvers get the same 100 candidates in the same run, from
stored float16 regions to scores, Gram matrices included, taking turns for equally long, so that a
busy machine slows all alike; the programme goes to OSQP sparse and with a tolerance of 1e-9. The
batched solver also gets 1,000. The last lines state the targets; the exit status is 1 if one was
missed.
"""

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.config import Solver
from engine.rank.qam import match_many, merge_from_grams

CANDIDATES, MANY, REGIONS, DIM = 100, 1000, 25, 512
ROUNDS = 9
TURN_S = 0.15
RATIO_TARGET = 15.0
GROWTH_TARGET = 10.0
AGREEMENT_TARGET = 1e-5

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class _Shortlist:
    query: NDArray[np.float32]
    regions: NDArray[np.float16]
    starts: NDArray[np.int64]

    def grams(self) -> tuple[Float64, Float64]:
        """What a library that stores Gram matrices would have at hand."""
        stack = self.regions.reshape(-1, REGIONS, DIM).astype(np.float64)
        query = self.query.astype(np.float64)
        return stack @ stack.transpose(0, 2, 1), stack @ (query / np.linalg.norm(query))


def made_up_candidates(count: int) -> _Shortlist:
    """A query and regions like pooled features after ReLU: sparse, not negative, of unit length;
    regions of one photo overlap, so they share what they see."""
    rng = np.random.default_rng(0)
    regions = np.empty((count, REGIONS, DIM))
    for one in regions:
        parts = rng.gamma(0.3, size=(40, DIM)) * (rng.random((40, DIM)) > 0.7)
        one[:] = (rng.random((REGIONS, 40)) > 0.7) @ parts + 1e-3
    regions /= np.linalg.norm(regions, axis=2, keepdims=True)
    query = rng.gamma(0.3, size=DIM) + regions[:, 0].mean(axis=0)
    unit = (query / np.linalg.norm(query)).astype(np.float32)
    starts = np.arange(count + 1) * REGIONS
    return _Shortlist(unit, regions.reshape(-1, DIM).astype(np.float16), starts)


def _from_regions(shortlist: _Shortlist, solver: Solver) -> Callable[[], Float64]:
    def scores() -> Float64:
        merges = match_many(shortlist.query, shortlist.regions, shortlist.starts, solver=solver)
        return np.array([merge.score for merge in merges])

    return scores


def _from_stored(shortlist: _Shortlist, solver: Solver) -> Callable[[], Float64]:
    grams, dots = shortlist.grams()
    return lambda: merge_from_grams(grams, dots, solver=solver)[1]


def _spent(run: Callable[[], Float64]) -> float:
    """Seconds for one call, the mean over one turn."""
    begun, calls = time.perf_counter(), 0
    while time.perf_counter() - begun < TURN_S:
        run()
        calls += 1
    return (time.perf_counter() - begun) / calls


def main() -> int:
    """Print the table; 0 if all targets were met."""
    few, many = made_up_candidates(CANDIDATES), made_up_candidates(MANY)
    runs = {f"{solver}": _from_regions(few, solver) for solver in Solver}
    runs |= {f"{solver}, stored Gram": _from_stored(few, solver) for solver in Solver}
    runs |= {f"batched, {MANY}": _from_regions(many, Solver.BATCHED)}
    scores = {name: run() for name, run in runs.items()}  # imports and first calls cost extra
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            seconds[name].append(_spent(run))
    print(f"{CANDIDATES} candidates, K = {REGIONS}, D = {DIM}, {ROUNDS} rounds")
    print(f"{'solver':22s} {'median ms':>10s} {'least ms':>10s}")
    for name, spent_s in seconds.items():
        print(f"{name:22s} {statistics.median(spent_s) * 1e3:10.1f} {min(spent_s) * 1e3:10.1f}")

    def times(slow: str, fast: str) -> float:
        return statistics.median(a / b for a, b in zip(seconds[slow], seconds[fast], strict=True))

    stored = times("osqp, stored Gram", "batched, stored Gram")
    print(f"with stored Gram matrices batched is {stored:.1f} times as fast as OSQP")
    apart = max(float(np.abs(scores[s] - scores["osqp"]).max()) for s in ("batched", "nnls"))
    print(f"largest difference of scores: {apart:.1e}, target <= {AGREEMENT_TARGET:.0e}")
    growth = times(f"batched, {MANY}", "batched")
    print(f"{MANY} candidates take {growth:.1f} times as long, target <= {GROWTH_TARGET:.1f}")
    ratio = times("osqp", "batched")
    print(f"batched is {ratio:.1f} times as fast as OSQP, target >= {RATIO_TARGET:.1f}")
    met = ratio >= RATIO_TARGET and growth <= GROWTH_TARGET and apart <= AGREEMENT_TARGET
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
