"""When a search is said to have found nothing good."""

from pathlib import Path

import pytest

from app.views.verdict import LEAST_HITS, is_weak
from engine.requests import SearchAnswer
from engine.types import Picture, SearchTimings
from tests.fakes.scripted_engine import PHOTO_SIZE, hit


def answer(*scores: float) -> SearchAnswer:
    hits = tuple(hit(n + 1, score) for n, score in enumerate(scores))
    timings = SearchTimings(0, 0, 0, 0, 0, 0)
    query = Picture(path=Path("query.jpg"))
    return SearchAnswer("t", query, PHOTO_SIZE, None, "lite0", "qam", hits, timings)


@pytest.mark.parametrize(
    ("scores", "weak"),
    [
        ((0.72, *[0.50] * 40), False),  # one that stands out
        ((0.56, *[0.50] * 40), True),  # none does
        ((0.68, *[0.62] * 40), True),  # high, but so is everything
        ((0.90, *[0.88] * 40), False),  # an album of one thing
        ((0.30, *[0.29] * 5), False),  # too few to tell
        ((), False),
    ],
)
def test_the_best_hit_is_measured_against_the_middle(scores: tuple[float, ...], weak: bool) -> None:
    assert is_weak(answer(*scores)) is weak


def test_the_rule_begins_with_enough_hits() -> None:
    assert not is_weak(answer(*[0.5] * (LEAST_HITS - 1)))
    assert is_weak(answer(*[0.5] * LEAST_HITS))
