"""Figures by hand-computed numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.metrics import (
    average_precision,
    average_precision_by_trapezoids,
    focus_iou,
    mask_of,
    ns_score,
    points_into,
    precision_at,
    recall_at,
)
from engine.types import Size


def _relevance(text: str) -> np.ndarray:
    return np.array([letter == "+" for letter in text], dtype=bool)


# --- rankings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranking", "positives", "expected"),
    [
        ("+-+-", 2, (1 / 1 + 2 / 3) / 2),  # the golden example of the AP loss: 0.8333333
        ("+++", 3, 1.0),
        ("---+", 1, 0.25),
        ("--+-+", 2, (1 / 3 + 2 / 5) / 2),
        ("+--", 2, 0.5),  # one positive never found
        ("", 1, 0.0),
        ("----", 3, 0.0),
    ],
)
def test_average_precision(ranking: str, positives: int, expected: float) -> None:
    assert average_precision(_relevance(ranking), positives) == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=1, max_size=40).filter(any))
def test_average_precision_is_the_sum_of_equation_two(flags: list[bool]) -> None:
    """Σ_k P_k Δr_k, term by term over every rank as it is written."""
    positives = sum(flags)
    expected = 0.0
    for k in range(1, len(flags) + 1):
        precision = sum(flags[:k]) / k
        expected += precision * (flags[k - 1] / positives)
    assert average_precision(np.array(flags), positives) == pytest.approx(expected)


# Ranks from 1; each positive adds (precision before it + precision at it) / 2 / N_q.
TRAPEZOIDS = [
    ("+++", 3, 1.0),
    ("+-+-", 2, 19 / 24),  # ((1 + 1/1)/2 + (1/2 + 2/3)/2) / 2 = (1 + 7/12) / 2; the sum has 5/6
    ("-+", 1, 1 / 4),  # (0/1 + 1/2)/2; the sum has 1/2
    ("---+", 1, 1 / 8),  # (0/3 + 1/4)/2; the sum has 1/4
    ("--+-+", 2, 59 / 240),  # ((0/2 + 1/3)/2 + (1/4 + 2/5)/2) / 2 = (20/120 + 39/120) / 2
    ("+--", 2, 1 / 2),  # one positive never found
    ("", 1, 0.0),
    ("----", 3, 0.0),
]


@pytest.mark.parametrize(("ranking", "positives", "expected"), TRAPEZOIDS)
def test_average_precision_by_trapezoids(ranking: str, positives: int, expected: float) -> None:
    found = average_precision_by_trapezoids(_relevance(ranking), positives)
    assert found == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=1, max_size=40).filter(any))
def test_trapezoids_under_the_curve_of_precision_over_recall(flags: list[bool]) -> None:
    """Photo by photo down the ranking, from precision 1 at recall 0."""
    area, recall, precision = 0.0, 0.0, 1.0
    for k in range(1, len(flags) + 1):
        now_recall, now_precision = sum(flags[:k]) / sum(flags), sum(flags[:k]) / k
        area += (now_recall - recall) * (precision + now_precision) / 2
        recall, precision = now_recall, now_precision
    found = average_precision_by_trapezoids(np.array(flags), sum(flags))
    assert found == pytest.approx(area)
    assert found <= average_precision(np.array(flags), sum(flags)) + 1e-12


@pytest.mark.parametrize(
    ("ranking", "positives", "k", "expected"),
    [
        ("+-+--", 2, 1, 1.0),
        ("+-+--", 2, 2, 1 / 2),
        ("+-+--", 2, 5, 2 / 3),  # the last positive is at 3: two among three, not two among five
        ("-+", 1, 1, 0.0),
        ("-+" + "-" * 20, 1, 10, 1 / 2),
        ("++++++", 6, 5, 1.0),
        ("+--------+-", 2, 5, 1 / 5),
        ("+-", 2, 5, 1 / 5),  # one positive never found: it comes last of all
        ("---", 1, 5, 0.0),
        ("", 1, 1, 0.0),
    ],
)
def test_precision_at(ranking: str, positives: int, k: int, expected: float) -> None:
    assert precision_at(_relevance(ranking), positives, k=k) == pytest.approx(expected)


def test_recall() -> None:
    relevant = _relevance("-+--+")
    assert recall_at(relevant, 3, k=1) == 0.0
    assert recall_at(relevant, 3, k=2) == pytest.approx(1 / 3)
    assert recall_at(relevant, 3, k=100) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("ranking", "score"), [("+++-", 4.0), ("-+++", 3.0), ("---+++", 1.0), ("+", 2.0)]
)
def test_ns_score_counts_the_query_itself(ranking: str, score: float) -> None:
    assert ns_score(_relevance(ranking)) == score


# --- masks and maps -------------------------------------------------------------------------


def test_mask_covers_its_polygons_at_the_photos_shape() -> None:
    square = ((0.0, 0.0), (199.0, 0.0), (199.0, 99.0), (0.0, 99.0))
    mask = mask_of([square], Size(400, 200))
    assert mask.shape == (200, 400)
    assert mask.mean() == pytest.approx(0.25, abs=0.01)
    assert mask[50, 100]
    assert not mask[50, 300]


def test_mask_of_a_large_photo_is_kept_small() -> None:
    mask = mask_of([((0, 0), (8000, 0), (8000, 3000), (0, 3000))], Size(8000, 6000))
    assert mask.shape == (768, 1024)
    assert mask.mean() == pytest.approx(0.5, abs=0.01)


def test_mask_is_the_union_and_ignores_what_lies_outside() -> None:
    left = ((-50, 0), (25, 0), (25, 100), (-50, 100))
    right = ((75, 0), (150, 0), (150, 100), (75, 100))
    assert mask_of([left, right], Size(100, 100)).mean() == pytest.approx(0.5, abs=0.03)
    assert not mask_of([], Size(100, 100)).any()


def _map(rows: list[list[float]]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def test_pointing_looks_at_the_middle_of_the_maximum() -> None:
    mask = mask_of([((0, 0), (50, 0), (50, 100), (0, 100))], Size(100, 100))
    assert points_into(_map([[1.0, 0.2], [1.0, 0.2]]), mask)
    assert not points_into(_map([[0.2, 1.0], [0.2, 1.0]]), mask)
    assert not points_into(_map([[0.0, 0.0]]), mask)


def test_iou_of_a_map_that_fits_and_of_one_that_does_not() -> None:
    mask = mask_of([((0, 0), (49, 0), (49, 99), (0, 99))], Size(100, 100))
    fitting = np.zeros((20, 20), dtype=np.float32)
    fitting[:, :10] = 1.0
    assert focus_iou(fitting, mask) == pytest.approx(1.0, abs=0.06)
    assert focus_iou(fitting[:, ::-1].copy(), mask) == pytest.approx(0.0, abs=0.03)
    assert focus_iou(np.ones((4, 4), dtype=np.float32), mask) == pytest.approx(0.5, abs=0.01)
    assert focus_iou(np.zeros((4, 4), dtype=np.float32), mask) == 0.0


def test_iou_takes_what_reaches_half_the_maximum() -> None:
    mask = np.ones((40, 40), dtype=bool)
    values = np.zeros((20, 20), dtype=np.float32)
    values[:, :5], values[:, 5:10], values[:, 10:] = 1.0, 0.6, 0.2
    assert focus_iou(values, mask) == pytest.approx(0.5, abs=0.05)
