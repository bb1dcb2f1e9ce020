"""The batched solver, judged by the conditions of optimality and on what is hard for it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.rank.solvers.active_set import solve_many


def _units(values: NDArray[np.float64]) -> NDArray[np.float64]:
    units: NDArray[np.float64] = values / np.linalg.norm(values, axis=-1, keepdims=True)
    return units


def _gradient(rows: NDArray[np.float64], query: NDArray[np.float64]) -> float:
    """How far the solution for one problem is from the conditions of Karush, Kuhn and Tucker."""
    z = solve_many((rows @ rows.T)[None], (rows @ query)[None])[0]
    assert (z >= 0).all()
    slack = rows @ (query - z @ rows)
    return max(float(slack.max()), float(np.abs(slack[z > 0]).max(initial=0.0)))


def test_many_problems_are_solved_as_each_alone() -> None:
    rng = np.random.default_rng(0)
    rows = _units(rng.standard_normal((50, 12, 8)))
    queries = _units(rng.standard_normal((50, 8)))
    grams, targets = rows @ rows.transpose(0, 2, 1), np.einsum("nkd,nd->nk", rows, queries)
    together = solve_many(grams, targets)
    for n in range(50):
        alone = solve_many(grams[n : n + 1], targets[n : n + 1])[0]
        assert together[n] @ rows[n] == pytest.approx(alone @ rows[n], abs=1e-8)


def test_nothing_to_gain_is_zero() -> None:
    grams = np.broadcast_to(np.eye(3), (2, 3, 3))
    targets = np.array([[-0.5, 0.0, -1.0], [0.0, 0.0, 0.0]])
    assert not solve_many(grams, targets).any()


def test_no_problems_and_no_unknowns() -> None:
    assert solve_many(np.zeros((0, 4, 4)), np.zeros((0, 4))).shape == (0, 4)
    assert solve_many(np.zeros((2, 0, 0)), np.zeros((2, 0))).shape == (2, 0)


def test_a_column_that_must_leave_again() -> None:
    """The best single column takes no part in the best merge: q = (1, 1)/√2 between the other
    two, with the first just off that line, and out of their plane."""
    rows = _units(np.array([[1.0, 1.0, 0.3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    query = _units(np.array([1.0, 1.0, 0.0]))
    z = solve_many((rows @ rows.T)[None], (rows @ query)[None])[0]
    assert z == pytest.approx([0.0, np.sqrt(0.5), np.sqrt(0.5)], abs=1e-9)


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 40),
    dim=st.integers(1, 30),
    copies=st.integers(1, 4),
    jitter=st.sampled_from([0.0, 1e-15, 1e-12, 1e-9, 1e-6]),
    relu=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_optimal_with_duplicate_and_nearly_duplicate_columns(
    seed: int, count: int, dim: int, copies: int, jitter: float, relu: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, dim))
    if relu:
        rows = np.abs(rows) * (rng.random(rows.shape) > 0.8)
        rows[:, 0] += 1e-3
    rows = np.repeat(rows, copies, axis=0)
    rows = _units(rows + jitter * rng.standard_normal(rows.shape))
    assert _gradient(rows, _units(rng.standard_normal(dim))) <= 1e-7


def test_what_scipy_gets_wrong() -> None:
    """Thirteen columns, seven of them equal: scipy.optimize.nnls 1.17 ended off the optimum on
    the Cholesky factor of this one's Gram matrix."""
    rng = np.random.default_rng(22)
    values = rng.standard_normal((14, 22))
    values = np.abs(values) * (rng.random(values.shape) >= 0.9)
    values[:, 0] += 1e-3
    assert _gradient(_units(values[1:]), _units(values[0])) <= 1e-9
