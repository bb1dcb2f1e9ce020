"""The evaluation job: asks every query of a ground truth, and judges the answers.

It knows neither library nor network: it is handed callables that answer.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from engine.errors import GroundTruthError
from engine.evaluation.groundtruth import Answers, GroundTruth, Protocol, TruthQuery
from engine.evaluation.metrics import (
    focus_iou,
    mask_of,
    ns_score,
    points_into,
    precision_at,
    recall_at,
)
from engine.jobs import Ticket
from engine.rank.precision import (
    Relevance,
    average_precision,
    average_precision_by_trapezoids,
)
from engine.requests import EvaluateReport, ProtocolFigures, SearchAnswer
from engine.types import FocusMap, Hit, Photo

RECALL_AT = (1, 5, 10, 100)
PRECISION_AT = (1, 5, 10)
_OF_FOUR = 3  # positives of a UKBench query: the other views of a group of four


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged.

    ``identify``: the id of the photo that a name of the ground truth stands for, or None where it
    could not be read; names of the same content have the same id. ``rank``: the whole ranking of a
    query. ``focus``: the focus map of an answer for one photo id, found high or low or not at all;
    None where the method has none. ``distractors``: ids of photos that the ground truth does not
    list and that are ranked all the same.
    """

    identify: Callable[[str], int | None]
    rank: Callable[[TruthQuery], SearchAnswer]
    focus: Callable[[SearchAnswer, int], FocusMap | None]
    distractors: frozenset[int] = frozenset()


def evaluate(
    truth: GroundTruth, subject: Subject, ticket: Ticket, *, settings: Mapping[str, object]
) -> EvaluateReport:
    """Ask every query and average.

    The query's own photo (but in the original protocol) and its junk leave the ranking, then AP,
    P@k, recall and N-S are taken of what is left. Two names of the same content are one photo,
    found once; a copy of the query is no positive of it. A positive that could not be read counts
    as never found. A query without a positive has no AP and is left out. Of a revisited set, that
    holds for each of easy, medium and hard, and what has but one figure is of medium.

    Args:
        settings: everything that the figures depend on, for the report.

    Raises:
        GroundTruthError: no query has a positive.
    """
    figures = _Figures(truth, subject)
    for done, query in enumerate(truth.queries):
        ticket.update("evaluating", done, len(truth.queries))
        own = None if truth.keeps_own else subject.identify(query.photo)
        parts = {
            name: _Positives.of(own, answers, subject)
            for name, answers in truth.answers(query).items()
        }
        if not parts[truth.main].count:
            continue
        answer = subject.rank(query)
        figures.add_ranking(answer, parts)
        figures.add_focus(answer, query)
    if not figures.timings:
        raise GroundTruthError(f"no query of {truth.name} has a positive")
    return figures.report(settings)


@dataclass(frozen=True, slots=True)
class _Positives:
    """``ids``: what must be found; ``left_out``: what leaves the ranking; ``count``: N_q."""

    ids: frozenset[int]
    left_out: frozenset[int]
    count: int

    @classmethod
    def of(cls, own: int | None, answers: Answers, subject: Subject) -> "_Positives":
        """``own``: the photo that must not be found."""
        found = [subject.identify(name) for name in answers.positives]
        junk = {subject.identify(name) for name in answers.junk}
        ids = frozenset(id_ for id_ in found if id_ is not None and id_ != own)
        left_out = frozenset(id_ for id_ in junk | {own} if id_ is not None) - ids
        return cls(ids, left_out, len(ids) + found.count(None))

    def relevance(self, ranking: list[int]) -> Relevance:
        """(N,) for a ranking without what leaves it."""
        return np.array([id_ in self.ids for id_ in ranking if id_ not in self.left_out], bool)


class _Figures:
    """One value for each query, or for each pair of a query and a masked positive."""

    def __init__(self, truth: GroundTruth, subject: Subject) -> None:
        self._truth = truth
        self._subject = subject
        listed = {subject.identify(name) for name in truth.photos}
        self._ranked = listed | subject.distractors
        self._distractors: set[int] = set()
        self._by_trapezoids = truth.protocol is not Protocol.LEAVE_QUERY_OUT
        self._precisions: dict[str, list[float]] = defaultdict(list)
        self._precisions_at: dict[str, list[dict[int, float]]] = defaultdict(list)
        self._by_global: list[float] = []
        self._recalls: list[dict[int, float]] = []
        self._ns: list[float | None] = []
        self._pointing: list[bool] = []
        self._ious: list[float] = []
        self._areas: list[float] = []
        self._maps = 0
        self.timings: list[dict[str, float]] = []

    def add_ranking(self, answer: SearchAnswer, parts: Mapping[str, _Positives]) -> None:
        """``parts``: by the name of the figure."""
        ranking = self._of_the_set(answer.hits)
        for name, positives in parts.items():
            if positives.count:
                relevant = positives.relevance(ranking)
                self._precisions[name].append(self._precision(relevant, positives.count))
                self._precisions_at[name].append(
                    {k: precision_at(relevant, positives.count, k=k) for k in PRECISION_AT}
                )
        main = parts[self._truth.main]
        relevant = main.relevance(ranking)
        alone = sorted(answer.hits, key=lambda hit: -hit.global_score)
        by_global = main.relevance(self._of_the_set(alone))
        self._by_global.append(self._precision(by_global, main.count))
        self._recalls.append({k: recall_at(relevant, main.count, k=k) for k in RECALL_AT})
        self._ns.append(ns_score(relevant) if main.count == _OF_FOUR else None)
        self._distractors.update(self._subject.distractors.intersection(ranking))
        self.timings.append(asdict(answer.timings_ms))

    def _of_the_set(self, hits: Iterable[Hit]) -> list[int]:
        return [hit.photo.id for hit in hits if hit.photo.id in self._ranked]

    def _precision(self, relevant: Relevance, positives: int) -> float:
        rule = average_precision_by_trapezoids if self._by_trapezoids else average_precision
        return rule(relevant, positives)

    def add_focus(self, answer: SearchAnswer, query: TruthQuery) -> None:
        """Every positive that has a mask, found or not; one without a map is a miss."""
        photos: dict[int, Photo] = {hit.photo.id: hit.photo for hit in answer.hits}
        for name in query.positives:
            id_ = self._subject.identify(name)
            photo = None if id_ is None else photos.get(id_)
            if name not in query.masks or photo is None or photo.size is None:
                continue
            mask = mask_of(query.masks[name], photo.size)
            focus = self._subject.focus(answer, photo.id)
            self._maps += focus is not None
            self._areas.append(float(mask.mean()))
            self._pointing.append(focus is not None and points_into(focus.values, mask))
            self._ious.append(focus_iou(focus.values, mask) if focus is not None else 0.0)

    def report(self, settings: Mapping[str, object]) -> EvaluateReport:
        of_four = [score for score in self._ns if score is not None]
        protocols = {
            name: ProtocolFigures(
                queries=len(precisions),
                map=statistics.fmean(precisions),
                mean_precision_at=_means(self._precisions_at[name]),
            )
            for name, precisions in self._precisions.items()
        }
        return EvaluateReport(
            dataset=self._truth.name,
            queries=len(self.timings),
            map=protocols[self._truth.main].map,
            map_global=statistics.fmean(self._by_global),
            ns_score=statistics.fmean(of_four) if len(of_four) == len(self._ns) else None,
            recall_at=_means(self._recalls),
            pointing=statistics.fmean(self._pointing) if self._maps else None,
            pointing_chance=statistics.fmean(self._areas) if self._areas else None,
            focus_iou=statistics.fmean(self._ious) if self._maps else None,
            protocols=protocols,
            distractors=len(self._distractors),
            timings_ms={
                stage: statistics.median(timing[stage] for timing in self.timings)
                for stage in self.timings[0]
            },
            settings=dict(settings),
        )


def _means(by_k: Sequence[Mapping[int, float]]) -> dict[int, float]:
    return {k: statistics.fmean(one[k] for one in by_k) for k in by_k[0]}
