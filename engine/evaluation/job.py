"""The evaluation job: asks every query of a ground truth, and judges the answers.

It knows neither library nor network: it is handed callables that answer.
"""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np

from engine.errors import GroundTruthError
from engine.evaluation.groundtruth import GroundTruth, TruthQuery
from engine.evaluation.metrics import (
    Relevance,
    average_precision,
    focus_iou,
    mask_of,
    ns_score,
    points_into,
    recall_at,
)
from engine.jobs import Ticket
from engine.requests import EvaluateReport, SearchAnswer
from engine.types import FocusMap, Photo

RECALL_AT = (1, 5, 10, 100)
_OF_FOUR = 3  # positives of a UKBench query: the other views of a group of four


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged.

    ``identify``: the id of the photo that a name of the ground truth stands for, or None where it
    could not be read; names of the same content have the same id. ``rank``: the whole ranking of a
    query. ``focus``: the focus map of an answer for one photo id, found high or low or not at all;
    None where the method has none.
    """

    identify: Callable[[str], int | None]
    rank: Callable[[TruthQuery], SearchAnswer]
    focus: Callable[[SearchAnswer, int], FocusMap | None]


def evaluate(
    truth: GroundTruth, subject: Subject, ticket: Ticket, *, settings: Mapping[str, object]
) -> EvaluateReport:
    """Ask every query and average.

    Protocol "leave-query-out": the query's own photo and its junk leave the ranking, then AP,
    recall and N-S are taken of what is left. Two names of the same content are one photo, found
    once; a copy of the query is no positive of it. A positive that could not be read counts as
    never found. A query without a positive has no AP and is left out.

    Args:
        settings: everything that the figures depend on, for the report.

    Raises:
        GroundTruthError: no query has a positive.
    """
    figures = _Figures()
    listed = frozenset(subject.identify(name) for name in truth.photos)
    for done, query in enumerate(truth.queries):
        ticket.update("evaluating", done, len(truth.queries))
        positives = _Positives.of(query, subject, listed)
        if not positives.count:
            continue
        answer = subject.rank(query)
        figures.add_ranking(answer, positives)
        figures.add_focus(answer, query, subject)
    if not figures.final:
        raise GroundTruthError(f"no query of {truth.name} has a positive")
    return figures.report(truth.name, settings)


@dataclass(frozen=True, slots=True)
class _Positives:
    """``ids``: what must be found; ``listed``: the photos of the ground truth; ``left_out``: what
    leaves the ranking; ``count``: N_q."""

    ids: frozenset[int]
    listed: frozenset[int | None]
    left_out: frozenset[int]
    count: int

    @classmethod
    def of(cls, query: TruthQuery, subject: Subject, listed: frozenset[int | None]) -> "_Positives":
        own = subject.identify(query.photo)
        found = [subject.identify(name) for name in query.positives]
        junk = {subject.identify(name) for name in query.junk}
        ids = frozenset(id_ for id_ in found if id_ is not None and id_ != own)
        left_out = frozenset(id_ for id_ in junk | {own} if id_ is not None) - ids
        return cls(ids, listed, left_out, len(ids) + found.count(None))

    def relevance(self, ranking: list[int]) -> Relevance:
        """(N,) for the ranking of the listed photos without what leaves it."""
        kept = [id_ for id_ in ranking if id_ in self.listed and id_ not in self.left_out]
        return np.array([id_ in self.ids for id_ in kept], bool)


@dataclass(slots=True)
class _Figures:
    """One value for each query, or for each pair of a query and a masked positive."""

    final: list[float] = field(default_factory=list)
    by_global: list[float] = field(default_factory=list)
    recalls: list[dict[int, float]] = field(default_factory=list)
    ns: list[float | None] = field(default_factory=list)
    timings: list[dict[str, float]] = field(default_factory=list)
    pointing: list[bool] = field(default_factory=list)
    ious: list[float] = field(default_factory=list)
    areas: list[float] = field(default_factory=list)
    maps: int = 0

    def add_ranking(self, answer: SearchAnswer, positives: _Positives) -> None:
        relevant = positives.relevance([hit.photo.id for hit in answer.hits])
        alone = sorted(answer.hits, key=lambda hit: -hit.global_score)
        self.final.append(average_precision(relevant, positives.count))
        self.by_global.append(
            average_precision(positives.relevance([h.photo.id for h in alone]), positives.count)
        )
        self.recalls.append({k: recall_at(relevant, positives.count, k=k) for k in RECALL_AT})
        self.ns.append(ns_score(relevant) if positives.count == _OF_FOUR else None)
        self.timings.append(asdict(answer.timings_ms))

    def add_focus(self, answer: SearchAnswer, query: TruthQuery, subject: Subject) -> None:
        """Every positive that has a mask, found or not; one without a map is a miss."""
        photos: dict[int, Photo] = {hit.photo.id: hit.photo for hit in answer.hits}
        for name in query.positives:
            id_ = subject.identify(name)
            photo = None if id_ is None else photos.get(id_)
            if name not in query.masks or photo is None or photo.size is None:
                continue
            mask = mask_of(query.masks[name], photo.size)
            focus = subject.focus(answer, photo.id)
            self.maps += focus is not None
            self.areas.append(float(mask.mean()))
            self.pointing.append(focus is not None and points_into(focus.values, mask))
            self.ious.append(focus_iou(focus.values, mask) if focus is not None else 0.0)

    def report(self, dataset: str, settings: Mapping[str, object]) -> EvaluateReport:
        of_four = [score for score in self.ns if score is not None]
        return EvaluateReport(
            dataset=dataset,
            queries=len(self.final),
            map=statistics.fmean(self.final),
            map_global=statistics.fmean(self.by_global),
            ns_score=statistics.fmean(of_four) if len(of_four) == len(self.ns) else None,
            recall_at={k: statistics.fmean(r[k] for r in self.recalls) for k in RECALL_AT},
            pointing=statistics.fmean(self.pointing) if self.maps else None,
            pointing_chance=statistics.fmean(self.areas) if self.areas else None,
            focus_iou=statistics.fmean(self.ious) if self.maps else None,
            timings_ms={
                stage: statistics.median(t[stage] for t in self.timings)
                for stage in self.timings[0]
            },
            settings=dict(settings),
        )
