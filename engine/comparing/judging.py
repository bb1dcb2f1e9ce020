"""Rankings handed to the evaluation job, which alone knows the protocols."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.comparing.material import Material
from engine.comparing.rankings import Rankings, Rows
from engine.evaluation.groundtruth import TruthQuery
from engine.evaluation.job import Subject, evaluate
from engine.jobs import Ticket
from engine.requests import EvaluateReport, SearchAnswer
from engine.types import FloatArray, FocusMap, Hit, Photo, Picture, SearchTimings, Size

Focus = Callable[[int, int], FloatArray]
"""The focus map (h, w) of a question's number and a photo's id."""


class Judge:
    """Judges rankings of one material."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self._photos = [material.photo(id_) for id_ in range(len(material.ranked))]
        truth = material.truth
        # Rasterising masks takes longer than all else, and most rows need none.
        self._bare = replace(truth, queries=tuple(replace(q, masks={}) for q in truth.queries))
        # Queries have no hash: their masks are a mapping.
        self._numbers = {
            id(query): number
            for queries in (truth.queries, self._bare.queries)
            for number, query in enumerate(queries)
        }

    def figures(self, rankings: Rankings, focus: Focus | None = None) -> EvaluateReport:
        """See `engine.evaluation.job.evaluate`; without ``focus`` no focus map is judged.

        Raises:
            GroundTruthError: no query has a positive.
        """

        material = self._material

        def rank(query: TruthQuery) -> SearchAnswer:
            number = self._numbers[id(query)]
            size = material.questions[number].own.size
            return _answer(number, query, size, rankings.orders[number], self._photos)

        def focus_of(answer: SearchAnswer, id_: int) -> FocusMap | None:
            return None if focus is None else FocusMap(focus(int(answer.token), id_), exact=True)

        subject = Subject(material.ids.__getitem__, rank, focus_of, material.distractors)
        # A ticket of its own: a stage for every row would tell nobody anything.
        ticket = Ticket()
        material.extraction.ticket.check()
        truth = self._bare if focus is None else material.truth
        return evaluate(truth, subject, ticket, settings={})


def _answer(
    number: int, query: TruthQuery, size: Size, order: Rows, photos: list[Photo]
) -> SearchAnswer:
    """The places stand for scores: cosines of different things are not compared here."""
    places = np.linspace(1.0, 0.0, num=len(order)).tolist()
    hits = tuple(
        Hit(photos[id_], score, score) for id_, score in zip(order.tolist(), places, strict=True)
    )
    return SearchAnswer(
        token=str(number),
        query=Picture(Path(query.photo)),
        query_size=size,
        box=query.box,
        network="",
        method="",
        hits=hits,
        timings_ms=SearchTimings(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    )
