"""Average precision by hand-computed numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rank.precision import (
    average_precision,
    average_precision_by_trapezoids,
    average_precision_of_scores,
)


def _relevance(text: str) -> np.ndarray:
    return np.array([letter == "+" for letter in text], dtype=bool)


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


def test_average_precision_of_scores_ranks_the_highest_first() -> None:
    scores = np.array([0.1, 0.9, -0.4, 0.6], dtype=np.float32)
    relevant = np.array([True, True, False, False])
    assert average_precision_of_scores(scores, relevant) == pytest.approx((1 / 1 + 2 / 3) / 2)


def test_equal_scores_rank_in_their_order() -> None:
    relevant = np.array([False] * 20 + [True])
    assert average_precision_of_scores(np.zeros(21), relevant) == pytest.approx(1 / 21)


def test_scores_without_a_positive_have_no_average_precision() -> None:
    assert average_precision_of_scores(np.zeros(3), np.zeros(3, dtype=bool)) is None
