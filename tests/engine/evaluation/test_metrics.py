"""Figures by hand-computed numbers."""

import numpy as np
import pytest

from engine.evaluation.metrics import (
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
