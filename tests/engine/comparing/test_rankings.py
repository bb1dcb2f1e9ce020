"""Rankings with known answers, from descriptors and scores that are written down."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from engine.comparing.descriptors import Descriptors
from engine.comparing.material import Material
from engine.comparing.rankings import by_descriptor, expanded, reranked
from engine.comparing.reranking import Scorer
from engine.config import Aggregation, Expansion


def _material(*owns: int | None) -> Material:
    known = SimpleNamespace(questions=owns, own=lambda number: owns[number])
    return cast(Material, known)


def _at(*degrees: float) -> np.ndarray:
    """Unit vectors of the plane."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def _descriptors(photos: np.ndarray, questions: np.ndarray) -> Descriptors:
    return Descriptors(Aggregation.GEM, None, photos, questions)


def _scored(*scores: float) -> Scorer:
    return cast(Scorer, _Scored(*scores))


class _Scored:
    """A re-ranking with these scores of each photo, whoever asks."""

    seconds = 0.5

    def __init__(self, *scores: float) -> None:
        self._scores = np.array(scores)

    def scores(self, number: int, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self._scores[rows])


def test_the_nearest_come_first_and_the_own_photo_not_at_all() -> None:
    descriptors = _descriptors(_at(0, 50, 20, 30), _at(0, 55))
    rankings = by_descriptor(_material(0, None), descriptors)
    assert [order.tolist() for order in rankings.orders] == [[2, 3, 1], [1, 3, 2, 0]]
    assert rankings.seconds > 0


def test_only_the_head_is_re_ranked() -> None:
    descriptors = _descriptors(_at(10, 20, 30, 40), _at(0))
    first = by_descriptor(_material(None), descriptors)
    scorer = _scored(0.1, 0.3, 0.2, 0.9)
    again = reranked(first, scorer, depth=3)
    assert again.orders[0].tolist() == [1, 2, 0, 3]
    assert again.seconds == pytest.approx(first.seconds + 0.5)


def test_equal_scores_leave_the_old_order() -> None:
    descriptors = _descriptors(_at(20, 10, 30), _at(0))
    scorer = _scored(0.5, 0.5, 0.5)
    again = reranked(by_descriptor(_material(None), descriptors), scorer)
    assert again.orders[0].tolist() == [1, 0, 2]


def test_an_expansion_searches_all_again_with_the_best_five() -> None:
    """All but the first of the best five lie to the left of the query; so the mean is nearer to
    the photo at -21° than to the one at 18°, which the query is nearer to, alone or with the first
    of the five."""
    photos = _at(0, -12, -13, -14, -15, 18, -21)
    descriptors = _descriptors(photos, _at(0))
    material = _material(None)
    first = by_descriptor(material, descriptors)
    assert first.orders[0].tolist() == [0, 1, 2, 3, 4, 5, 6]
    for expansion in (Expansion.AVERAGE, Expansion.ALPHA):
        again = expanded(material, descriptors, first, expansion)
        assert again.orders[0].tolist()[-2:] == [6, 5]
        assert again.seconds > first.seconds


def test_an_expansion_takes_the_re_ranked_top_and_leaves_the_own_photo_out() -> None:
    photos = _at(0, 10, 20, 30, 40, 50, -40, -41, -42, -43, -44)
    material = _material(0)
    descriptors = _descriptors(photos, _at(0))
    scorer = _scored(*[0.0] * 6, *[1.0] * 5)
    first = reranked(by_descriptor(material, descriptors), scorer)
    again = expanded(material, descriptors, first, Expansion.AVERAGE)
    assert sorted(again.orders[0].tolist()[:5]) == [6, 7, 8, 9, 10]
    assert 0 not in again.orders[0]
