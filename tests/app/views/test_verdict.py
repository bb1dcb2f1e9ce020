"""Which hits are said to be likely."""

from pathlib import Path

import pytest

from app.views.verdict import LEAST_HITS, likely_hits
from engine.requests import SearchAnswer
from engine.types import Picture, SearchTimings
from tests.fakes.scripted_engine import PHOTO_SIZE, hit


def answer(*scores: float) -> SearchAnswer:
    hits = tuple(hit(n + 1, score) for n, score in enumerate(scores))
    timings = SearchTimings(0, 0, 0, 0, 0, 0)
    query = Picture(path=Path("query.jpg"))
    return SearchAnswer("t", query, PHOTO_SIZE, None, "lite0", "qam", hits, timings)


@pytest.mark.parametrize(
    ("scores", "likely"),
    [
        ((0.72, 0.66, 0.58, *[0.50] * 40), 2),  # two stand out
        ((0.56, 0.55, *[0.50] * 40), 0),  # none does
        ((0.68, *[0.62] * 40), 0),  # high, but so is everything
        ((*[0.90] * 20, *[0.78] * 30), 50),  # an album of one thing
        ((0.30, *[0.29] * 5), 6),  # too few to tell
        ((), 0),
    ],
)
def test_hits_are_measured_against_their_middle(scores: tuple[float, ...], likely: int) -> None:
    assert likely_hits(answer(*scores)) == likely


def test_the_rule_begins_with_enough_hits() -> None:
    assert likely_hits(answer(*[0.5] * (LEAST_HITS - 1))) == LEAST_HITS - 1
    assert likely_hits(answer(*[0.5] * LEAST_HITS)) == 0


def test_equal_and_perfect_scores_do_no_harm() -> None:
    assert likely_hits(answer(*[1.0] * 40)) == 40
