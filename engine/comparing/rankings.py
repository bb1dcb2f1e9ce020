"""Rankings of all questions by one method, and how long one takes."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.comparing.descriptors import Descriptors
from engine.comparing.material import Material
from engine.comparing.reranking import Scorer
from engine.config import Expansion, SearchSettings
from engine.rank.expansion import alpha_weighted, average
from engine.types import FloatArray

Rows = NDArray[np.int64]

SHORTLIST = 100


@dataclass(frozen=True, slots=True)
class Rankings:
    """``orders``: for each question the ids of all photos, best first, without what must not be
    found. ``seconds``: of one query, mean."""

    orders: tuple[Rows, ...]
    seconds: float


def by_descriptor(material: Material, descriptors: Descriptors) -> Rankings:
    """By the cosines of the global descriptors."""
    owns = [material.own(number) for number in range(len(material.questions))]
    return _searched(descriptors.photos, descriptors.questions, owns)


def reranked(first: Rankings, scorer: Scorer, *, depth: int = SHORTLIST) -> Rankings:
    """The first ``depth`` of each ranking by their new scores, above the others in their old
    order."""
    orders = []
    for number, order in enumerate(first.orders):
        head = order[:depth]
        new = np.argsort(-scorer.scores(number, head), kind="stable")
        orders.append(np.concatenate([head[new], order[depth:]]))
    return Rankings(tuple(orders), first.seconds + scorer.seconds)


def expanded(
    material: Material, descriptors: Descriptors, first: Rankings, expansion: Expansion
) -> Rankings:
    """All photos searched again with each query and its best 5 as one."""
    standard = SearchSettings()
    begun = time.perf_counter()
    questions = []
    for query, order in zip(descriptors.questions, first.orders, strict=True):
        best = descriptors.photos[order[: standard.expand_top]]
        questions.append(
            average(query, best)
            if expansion is Expansion.AVERAGE
            else alpha_weighted(query, best, alpha=standard.alpha)
        )
    spent = (time.perf_counter() - begun) / len(questions)
    owns = [material.own(number) for number in range(len(questions))]
    again = _searched(descriptors.photos, np.stack(questions), owns)
    return Rankings(again.orders, first.seconds + spent + again.seconds)


def _searched(photos: FloatArray, questions: FloatArray, owns: Sequence[int | None]) -> Rankings:
    orders = []
    begun = time.perf_counter()
    for query, own in zip(questions, owns, strict=True):
        order = np.argsort(-(photos @ query), kind="stable")
        orders.append(order if own is None else order[order != own])
    return Rankings(tuple(orders), (time.perf_counter() - begun) / len(questions))
