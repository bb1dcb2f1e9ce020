"""Report 24: an adaptive cut-off, and a word when nothing is good."""

import numpy as np

from engine.retrieval.cutoff import LEAST_HITS, cutoff_of


def _scores(*best: float, rest: float, count: int = 100) -> np.ndarray:
    return np.array([*best, *np.full(count - len(best), rest)], dtype=np.float32)


def test_report_24_the_cut_lies_between_the_thing_and_the_rest() -> None:
    cutoff = cutoff_of(_scores(0.7, 0.66, rest=0.3))
    assert cutoff is not None
    assert cutoff.good
    assert 0.3 < cutoff.score < 0.66


def test_report_24_no_good_match() -> None:
    cutoff = cutoff_of(_scores(0.41, 0.4, rest=0.38))
    assert cutoff is not None
    assert not cutoff.good


def test_an_album_of_one_thing_is_all_good() -> None:
    cutoff = cutoff_of(_scores(0.93, rest=0.9))
    assert cutoff is not None
    assert cutoff.good
    assert cutoff.score <= 0.9


def test_what_is_usual_moves_the_cut() -> None:
    low, high = (cutoff_of(_scores(0.9, rest=rest)) for rest in (0.2, 0.5))
    assert low is not None
    assert high is not None
    assert low.score < high.score


def test_a_handful_of_hits_says_nothing() -> None:
    assert cutoff_of(_scores(0.9, rest=0.1, count=LEAST_HITS - 1)) is None
    assert cutoff_of(np.zeros(0, dtype=np.float32)) is None
