"""Query adaptive matching against golden values, its theorems, and the reference solver."""

import warnings

import numpy as np
import pytest
import qpsolvers
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.config import Solver
from engine.jobs import Cancelled, Ticket
from engine.rank import qam
from engine.rank.qam import Merge, match, match_many, merge_from_grams

SOLVERS = list(Solver)
EXACT = [Solver.BATCHED, Solver.NNLS]
# Columns (1, 1, 0) and (0, 1, 2) of F, one region in each row.
GOLDEN = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]])


def _score_of(
    z: NDArray[np.float64], query: NDArray[np.float64], rows: NDArray[np.float64]
) -> float:
    merged = z @ rows
    return float(merged @ query / np.linalg.norm(query) / np.linalg.norm(merged))


def _best_single(query: NDArray[np.float64], rows: NDArray[np.float64]) -> float:
    cosines = rows @ query / np.linalg.norm(query) / np.linalg.norm(rows, axis=1)
    return float(cosines.max())


def _features(
    seed: int, *, count: int, dim: int, relu: bool, sparsity: float = 0.0
) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((count, dim))
    if relu:
        values = np.abs(values) * (rng.random((count, dim)) >= sparsity)
        values[:, 0] += 1e-3
    return values


# --- golden values --------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_golden_query_inside_the_cone(solver: Solver) -> None:
    merge = match(np.array([1.0, 2.0, 2.0]) / 3.0, GOLDEN, solver=solver)
    assert merge.score == pytest.approx(1.0, abs=1e-9)
    assert merge.z == pytest.approx([1 / 3, 1 / 3], abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_golden_query_outside_the_cone(solver: Solver) -> None:
    query = np.array([1.0, 0.2, 0.0])
    merge = match(query, GOLDEN, solver=solver)
    assert merge.score == pytest.approx(0.8320502943378436, abs=1e-9)
    assert merge.z == pytest.approx([0.58834841, 0.0], abs=1e-6)


# --- degenerate input -----------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_regions(solver: Solver) -> None:
    merge = match(np.ones(4), np.zeros((0, 4)), solver=solver)
    assert merge.score == 0.0
    assert merge.z.shape == (0,)


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_regions_zero(solver: Solver) -> None:
    merge = match(np.ones(4), np.zeros((3, 4)), solver=solver)
    assert merge.score == 0.0
    assert not merge.z.any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_zero_query(solver: Solver) -> None:
    assert match(np.zeros(3), GOLDEN, solver=solver).score == 0.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_zero_region_among_others_changes_nothing(solver: Solver) -> None:
    query = np.array([1.0, 2.0, 2.0])
    merge = match(query, np.insert(GOLDEN, 1, 0.0, axis=0), solver=solver)
    assert merge.score == pytest.approx(1.0, abs=1e-9)
    assert merge.z == pytest.approx([1 / 3, 0.0, 1 / 3], abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_region_scores_its_cosine(solver: Solver) -> None:
    merge = match(np.array([1.0, 1.0]), np.array([[3.0, 0.0]]), solver=solver)
    assert merge.score == pytest.approx(np.sqrt(0.5), abs=1e-12)
    assert merge.z * 3.0 == pytest.approx([np.sqrt(0.5)], abs=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_infeasible_scores_the_best_single_region(solver: Solver) -> None:
    """Whitened features may all point away from the query: the supremum of (3) is a maximum."""
    query = np.array([1.0, 0.0])
    rows = np.array([[-1.0, 0.0], [-1.0, 3.0], [-2.0, -1.0]])
    merge = match(query, rows, solver=solver)
    assert merge.score == pytest.approx(_best_single(query, rows), abs=1e-12)
    assert merge.score < 0
    assert np.flatnonzero(merge.z).tolist() == [1]


@pytest.mark.parametrize("solver", SOLVERS)
def test_query_orthogonal_to_every_region(solver: Solver) -> None:
    merge = match(np.array([0.0, 0.0, 1.0]), np.array([[1.0, 0, 0], [0, 2.0, 0]]), solver=solver)
    assert merge.score == 0.0
    assert np.isfinite(merge.z).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("copies", [2, 7])
def test_duplicate_regions_change_no_score(solver: Solver, copies: int) -> None:
    rows = _features(3, count=5, dim=24, relu=True)
    query = np.abs(_features(4, count=1, dim=24, relu=False)[0])
    once = match(query, rows, solver=solver)
    many = match(query, np.repeat(rows, copies, axis=0), solver=solver)
    assert many.score == pytest.approx(once.score, abs=1e-7)
    assert (many.z >= 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_more_regions_than_dimensions(solver: Solver) -> None:
    rows = _features(5, count=40, dim=6, relu=False)
    query = _features(6, count=1, dim=6, relu=False)[0]
    merge = match(query, rows, solver=solver)
    assert merge.score == pytest.approx(1.0, abs=1e-6)  # forty directions span all of R⁶
    assert _score_of(merge.z, query, rows) == pytest.approx(merge.score, abs=1e-9)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_half_precision_is_solved_in_double(dtype: type[np.floating]) -> None:
    rows = _features(7, count=20, dim=128, relu=True, sparsity=0.9)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = rows[:3].sum(axis=0)
    stored = rows.astype(dtype)
    exact = match(query, stored.astype(np.float64))
    assert match(query, stored).score == pytest.approx(exact.score, abs=1e-12)
    assert exact.score == pytest.approx(1.0, abs=1e-3)


def test_every_half_precision_number_is_read_exactly() -> None:
    """Scores of single regions with two values, the second 1: all signs, subnormals and zeros."""
    numbers = np.arange(2**16, dtype=np.uint16).view(np.float16)
    numbers = numbers[np.isfinite(numbers)]
    rows = np.stack([numbers, np.ones_like(numbers)], axis=1)
    merges = match_many(np.array([1.0, 0.0]), rows, np.arange(len(rows) + 1))
    exact = numbers.astype(np.float64)
    expected = exact / np.hypot(exact, 1.0)
    # A cosine of 1e-8 is subnormal numbers' own size: compare to the last place.
    np.testing.assert_allclose([merge.score for merge in merges], expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_half_precision_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="regions"):
        match(np.ones(2), np.array([[1.0, value]], dtype=np.float16))


@pytest.mark.parametrize(
    ("query", "rows", "starts"),
    [
        (np.ones(3), np.ones((2, 4)), [0, 2]),
        (np.ones(4), np.ones(4), [0, 1]),
        (np.ones(4), np.ones((2, 4)), [0, 1]),
        (np.ones(4), np.ones((2, 4)), [1, 2]),
        (np.ones(4), np.ones((3, 4)), [0, 2, 1, 3]),
        (np.array([1.0, np.nan]), np.ones((1, 2)), [0, 1]),
        (np.ones(2), np.array([[1.0, np.inf]]), [0, 1]),
    ],
)
def test_input_that_does_not_fit_is_refused(
    query: NDArray[np.float64], rows: NDArray[np.float64], starts: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"query|regions|starts"):
        match_many(query, rows, starts)


# --- many candidates ------------------------------------------------------------------------


def test_many_is_each_alone() -> None:
    counts = [3, 0, 20, 3, 1, 20]
    rows = _features(8, count=sum(counts), dim=32, relu=True, sparsity=0.5)
    starts = np.concatenate([[0], np.cumsum(counts)])
    query = rows[10] + rows[25]
    merges = match_many(query, rows, starts)
    for merge, first, last in zip(merges, starts, starts[1:], strict=False):
        alone = match(query, rows[first:last])
        assert merge.score == pytest.approx(alone.score, abs=1e-12)
        assert merge.z == pytest.approx(alone.z, abs=1e-9)


def test_no_candidates() -> None:
    assert match_many(np.ones(4), np.zeros((0, 4)), [0]) == []


def test_cancel_stops_the_matching() -> None:
    ticket = Ticket()
    ticket.cancel()
    with pytest.raises(Cancelled):
        match_many(np.ones(3), np.ones((4, 3)), [0, 2, 4], ticket=ticket)


# --- precomputed products -------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_known_products_give_the_same_merge(solver: Solver) -> None:
    rows = _features(9, count=12, dim=40, relu=True)
    query = _features(10, count=1, dim=40, relu=True)[0]
    unit = query / np.linalg.norm(query)
    merge = match(query, rows, solver=solver)
    z, scores = merge_from_grams((rows @ rows.T)[None], (rows @ unit)[None], solver=solver)
    assert scores[0] == pytest.approx(merge.score, abs=1e-9)
    assert z[0] == pytest.approx(merge.z, abs=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_padding_stands_for_fewer_regions(solver: Solver) -> None:
    rows = _features(11, count=5, dim=16, relu=True)
    query = _features(12, count=1, dim=16, relu=False)[0]
    padded = np.zeros((8, 16))
    padded[:5] = rows
    unit = query / np.linalg.norm(query)
    z, scores = merge_from_grams((padded @ padded.T)[None], (padded @ unit)[None], solver=solver)
    assert scores[0] == pytest.approx(match(query, rows).score, abs=1e-9)
    assert not z[0, 5:].any()


def test_no_products() -> None:
    z, scores = merge_from_grams(np.zeros((2, 0, 0)), np.zeros((2, 0)))
    assert z.shape == (2, 0)
    assert scores.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("grams", "dots"),
    [
        (np.ones((2, 3, 3)), np.ones((2, 4))),
        (np.ones((3, 3)), np.ones(3)),
        (np.full((1, 1, 1), np.nan), np.ones((1, 1))),
        (np.ones((1, 1, 1)), np.full((1, 1), np.inf)),
    ],
)
def test_products_that_do_not_fit_are_refused(
    grams: NDArray[np.float64], dots: NDArray[np.float64]
) -> None:
    with pytest.raises(ValueError, match="regions"):
        merge_from_grams(grams, dots)


def test_what_a_solver_gives_a_region_without_length_is_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """OSQP may leave a little there."""
    monkeypatch.setattr(qam, "solve", lambda *_, **__: np.array([[1.0, 1.0, 0.5]]))
    grams, dots = np.diag([1.0, 1.0, 0.0])[None], np.array([[0.6, 0.6, 0.0]])
    z, scores = merge_from_grams(grams, dots)
    assert scores[0] == pytest.approx(0.6 * np.sqrt(2.0), abs=1e-12)
    assert z[0].tolist() == pytest.approx([0.6, 0.6, 0.0], abs=1e-12)


def test_no_solver_scores_below_the_best_single_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qam, "solve", lambda *_, **__: np.array([[0.0, 1.0]]))
    z, scores = merge_from_grams(np.eye(2)[None], np.array([[0.8, 0.1]]))
    assert scores[0] == pytest.approx(0.8, abs=1e-12)
    assert z[0].tolist() == pytest.approx([0.8, 0.0], abs=1e-12)


# --- choice of solver -----------------------------------------------------------------------


@pytest.mark.parametrize("name", qpsolvers.available_solvers)
def test_every_installed_solver_can_be_named(name: str) -> None:
    merge = match(np.array([1.0, 0.2, 0.0]), GOLDEN, solver=name)
    assert merge.score == pytest.approx(0.8320502943378436, abs=1e-6)


def test_an_unknown_solver_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"'abacus'.*batched, nnls, osqp"):
        match(np.ones(3), GOLDEN, solver="abacus")


# --- theorems -------------------------------------------------------------------------------

problems = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(1, 30),
    st.integers(2, 48),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 0.9]),
)
Problem = tuple[int, int, int, bool, float]


def _problem(drawn: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    seed, count, dim, relu, sparsity = drawn
    rows = _features(seed, count=count + 1, dim=dim, relu=relu, sparsity=sparsity)
    return rows[0], rows[1:]


@given(problems)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_solvers_agree(drawn: Problem) -> None:
    query, rows = _problem(drawn)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ours, alone, reference = (match(query, rows, solver=solver) for solver in SOLVERS)
    # Among many regions of two or three numbers OSQP may stop, and say, short of its tolerance.
    assume(not said)
    assert abs(ours.score - reference.score) <= 1e-6
    assert abs(ours.score - alone.score) <= 1e-6
    assert ours.score >= reference.score - 1e-9


@pytest.mark.parametrize("solver", EXACT)
@given(problems)
@settings(max_examples=100, deadline=None)
def test_score_is_that_of_z_and_beats_single_regions_and_their_sum(
    solver: Solver, drawn: Problem
) -> None:
    query, rows = _problem(drawn)
    merge = match(query, rows, solver=solver)
    assert -1.0 <= merge.score <= 1.0
    assert (merge.z >= 0).all()
    assert merge.score == pytest.approx(_score_of(merge.z, query, rows), abs=1e-9)
    assert merge.score >= _best_single(query, rows) - 1e-12
    assert merge.score >= _score_of(np.ones(len(rows)), query, rows) - 1e-9
    if merge.score > 1e-6:
        assert np.linalg.norm(merge.z @ rows) == pytest.approx(merge.score, abs=1e-9)


@pytest.mark.parametrize("solver", EXACT)
@given(problems)
@settings(max_examples=60, deadline=None)
def test_optimal_by_the_conditions_of_karush_kuhn_and_tucker(
    solver: Solver, drawn: Problem
) -> None:
    """Fᵀ(q - Fẑ) ≤ 0, and = 0 where z > 0: no solver needed to judge this one."""
    query, rows = _problem(drawn)
    merge = match(query, rows, solver=solver)
    if merge.score <= 1e-6:
        return
    unit = query / np.linalg.norm(query)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    slack = units @ (unit - merge.z @ rows)
    assert slack.max() <= 1e-6
    assert abs(slack @ (merge.z * np.linalg.norm(rows, axis=1))) <= 1e-6


@pytest.mark.parametrize("solver", EXACT)
@given(problems, st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_lengths_of_regions_change_no_score(solver: Solver, drawn: Problem, seed: int) -> None:
    query, rows = _problem(drawn)
    lengths = np.random.default_rng(seed).uniform(1e-3, 1e3, size=(len(rows), 1))
    assert match(query, rows * lengths, solver=solver).score == pytest.approx(
        match(query, rows, solver=solver).score, abs=1e-9
    )


@pytest.mark.parametrize("solver", EXACT)
@given(problems)
@settings(max_examples=60, deadline=None)
def test_another_region_never_lowers_the_score(solver: Solver, drawn: Problem) -> None:
    query, rows = _problem(drawn)
    assert (
        match(query, rows, solver=solver).score
        >= match(query, rows[:-1], solver=solver).score - 1e-9
        or len(rows) == 1
    )


def test_merge_is_a_value() -> None:
    merge = Merge(0.5, np.ones(1))
    with pytest.raises(AttributeError):
        merge.score = 1.0  # type: ignore[misc]
