"""The solvers by themselves: block pivoting in NumPy, torch and CUDA, and the Cholesky factor."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.jobs import Cancelled, Ticket
from engine.rank.solvers import active_set, batched, cholesky, reference

Float64 = NDArray[np.float64]


def _problems(seed: int, *, count: int, regions: int, dim: int) -> tuple[Float64, Float64]:
    """Gram matrices and cosines of overlapping regions; every third one is duplicated."""
    rng = np.random.default_rng(seed)
    parts = rng.gamma(0.3, size=(count, 40, dim))
    rows = (rng.random((count, regions, 40)) > 0.7) @ parts + 1e-3
    rows[:, 1::3] = rows[:, 0:-1:3]
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    query = rng.gamma(0.3, size=dim) + rows[0, 0]
    return rows @ rows.transpose(0, 2, 1), rows @ (query / np.linalg.norm(query))


def _assert_optimal(grams: Float64, targets: Float64, z: Float64) -> None:
    assert z.shape == targets.shape
    assert (z >= 0).all()
    assert cholesky.distance_from_optimum(grams, targets, z).max() <= 1e-8


def _assert_same_projections(grams: Float64, one: Float64, other: Float64) -> None:
    apart = one - other
    assert np.einsum("ni,nij,nj->n", apart, grams, apart).max() <= 1e-14


@pytest.mark.parametrize("count", [1, 20, 500])  # one part of what a CPU takes at a time, and more
@pytest.mark.parametrize(("regions", "dim"), [(1, 8), (25, 64), (30, 12), (80, 64)])
def test_block_pivoting_agrees_with_the_active_set(count: int, regions: int, dim: int) -> None:
    count = min(count, 6000 // regions)
    grams, targets = _problems(1, count=count, regions=regions, dim=dim)
    z = batched.solve(grams, targets)
    _assert_optimal(grams, targets, z)
    _assert_same_projections(grams, z, active_set.solve_many(grams, targets))


def test_block_pivoting_itself_solves_what_is_well_conditioned() -> None:
    """Not the active set behind it."""
    grams, targets = _problems(2, count=50, regions=25, dim=512)
    z, solved = batched.block_pivoting(grams, targets, xp=np)
    assert solved.all()
    _assert_optimal(grams, targets, z)


def test_block_pivoting_says_what_it_did_not_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batched, "_ROUNDS", 1)
    grams, targets = _problems(3, count=30, regions=25, dim=64)
    _, solved = batched.block_pivoting(grams, targets, xp=np)
    assert not solved.all()
    _assert_optimal(grams, targets, batched.solve(grams, targets))


def test_nothing_to_gain_is_zero() -> None:
    grams = np.broadcast_to(np.eye(3), (2, 3, 3))
    targets = np.array([[-0.5, 0.0, -1.0], [0.0, 0.0, 0.0]])
    assert not batched.solve(grams, targets).any()
    assert not cholesky.solve(grams, targets).any()
    assert not reference.solve(grams, targets).any()


@pytest.mark.parametrize("device", ["cpu:0", "cuda"])  # "cpu" alone means NumPy
def test_torch_gives_what_numpy_gives(device: str) -> None:
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    for regions, dim in ((25, 512), (30, 12), (80, 64)):
        grams, targets = _problems(4, count=30, regions=regions, dim=dim)
        targets[0] = -0.5
        z = batched.solve(grams, targets, device=device)
        _assert_optimal(grams, targets, z)
        _assert_same_projections(grams, z, batched.solve(grams, targets))


def test_an_answer_of_scipy_that_is_not_optimal_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grams, targets = _problems(5, count=4, regions=9, dim=64)

    def best_alone(_: Float64, side: Float64) -> tuple[Float64, float]:
        z = np.zeros(len(side))
        z[0] = 0.5
        return z, 0.0

    monkeypatch.setattr(cholesky, "nnls", best_alone)
    _assert_optimal(grams, targets, cholesky.solve(grams, targets))


def test_an_answer_that_scipy_does_not_give_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    grams, targets = _problems(6, count=4, regions=9, dim=64)

    def give_up(*_: Float64) -> tuple[Float64, float]:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr(cholesky, "nnls", give_up)
    _assert_optimal(grams, targets, cholesky.solve(grams, targets))


@pytest.mark.parametrize("solve", [cholesky.solve, reference.solve])
def test_cancel_stops_between_two_candidates(solve: object) -> None:
    ticket = Ticket()
    ticket.cancel()
    with pytest.raises(Cancelled):
        solve(np.ones((1, 1, 1)), np.ones((1, 1)), ticket=ticket)  # type: ignore[operator]


def test_the_matching_loads_no_torch() -> None:
    code = (
        "import sys, numpy as np; from engine.rank.qam import match;"
        "match(np.ones(3), np.ones((2, 3))); print('torch' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
