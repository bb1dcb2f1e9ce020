"""From a query to a ranking: shortlist, re-ranking by QAM, query expansion.

The pipeline of Cao et al. 2016 (arXiv 1606.06811): (i) a shortlist by the global
descriptor, (ii) query adaptive matching on the base regions of the shortlist, (iii) the query
averaged with the global descriptors of the re-ranked top, searched again.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.config import Expansion, Method, SearchSettings
from engine.jobs import Ticket
from engine.rank.expansion import alpha_weighted, average
from engine.rank.qam import Merge, match_many
from engine.retrieval.snapshot import Snapshot
from engine.types import FloatArray

Rows = NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class RankingQuery:
    """``descriptor``: (D,) float32 of unit length, GeM-pooled like the base regions it meets.
    ``boxed``: whether a box was drawn. ``exclude``: photos that must not be found."""

    descriptor: FloatArray
    boxed: bool
    exclude: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Photos, best first, as rows of the snapshot.

    ``scores`` (n,): QAM's for what was re-ranked, else the (expanded) global cosine.
    ``global_scores`` (n,): cosines of the global descriptors with the query as it was asked.
    ``merges``: of the rows that were re-ranked. ``milliseconds``: of each stage.
    """

    method: Method
    rows: Rows
    scores: FloatArray
    global_scores: FloatArray
    merges: dict[int, Merge]
    milliseconds: dict[str, float] = field(default_factory=dict)


def rank(
    query: RankingQuery,
    snapshot: Snapshot,
    settings: SearchSettings,
    *,
    top: int | None,
    ticket: Ticket,
) -> Ranking:
    """Rank the photos of a snapshot.

    Args:
        top: how many photos; None = all of them.
    """
    settings.validate()
    method = resolved(settings.method, boxed=query.boxed)
    wanted = len(snapshot) if top is None else top
    clock = _Clock()
    depth = max(wanted, settings.shortlist if method is Method.QAM else 0, settings.expand_top)
    rows, global_scores = clock("shortlist", lambda: shortlist(query, snapshot, depth))
    ticket.check()
    merges: dict[int, Merge] = {}
    scores = global_scores
    if method is Method.QAM:
        merges = clock(
            "rerank",
            lambda: rerank(query, snapshot, rows[: settings.shortlist], settings, ticket),
        )
        rows, scores, global_scores = reordered(rows, global_scores, merges)
    ticket.check()
    if settings.expand is not Expansion.NONE:
        rows, scores = clock("expand", lambda: expand(query, snapshot, rows, settings, depth))
        global_scores = snapshot.descriptors[rows] @ query.descriptor
    return Ranking(
        method=method,
        rows=rows[:wanted],
        scores=scores[:wanted],
        global_scores=global_scores[:wanted],
        merges=merges,
        milliseconds=clock.milliseconds,
    )


def resolved(method: Method, *, boxed: bool) -> Method:
    """What `Method.AUTO` means for this query."""
    if method is not Method.AUTO:
        return method
    return Method.QAM if boxed else Method.GLOBAL


def shortlist(query: RankingQuery, snapshot: Snapshot, count: int) -> tuple[Rows, FloatArray]:
    """The ``count`` nearest photos by the global descriptor, best first: rows and cosines."""
    return _nearest(query.descriptor, query.exclude, snapshot, count)


def rerank(
    query: RankingQuery,
    snapshot: Snapshot,
    rows: Rows,
    settings: SearchSettings,
    ticket: Ticket,
) -> dict[int, Merge]:
    """Query adaptive matching of the photos in ``rows``: the best merge of each."""
    regions, starts = snapshot.regions_of(rows)
    merges = match_many(query.descriptor, regions, starts, solver=settings.solver, ticket=ticket)
    return dict(zip(rows.tolist(), merges, strict=True))


def reordered(
    rows: Rows, global_scores: FloatArray, merges: dict[int, Merge]
) -> tuple[Rows, FloatArray, FloatArray]:
    """What was re-ranked first, by its new score; the rest below in its old order.

    The two scores are cosines of different things and are not compared with each other.
    """
    head = len(merges)
    new = np.array([merges[row].score for row in rows[:head].tolist()], dtype=np.float32)
    order = np.argsort(-new, kind="stable")
    return (
        np.concatenate([rows[:head][order], rows[head:]]),
        np.concatenate([new[order], global_scores[head:]]),
        np.concatenate([global_scores[:head][order], global_scores[head:]]),
    )


def expand(
    query: RankingQuery,
    snapshot: Snapshot,
    rows: Rows,
    settings: SearchSettings,
    count: int,
) -> tuple[Rows, FloatArray]:
    """Search again with the query and its best hits as one: rows and cosines with that query."""
    best = snapshot.descriptors[rows[: settings.expand_top]]
    expanded = (
        average(query.descriptor, best)
        if settings.expand is Expansion.AVERAGE
        else alpha_weighted(query.descriptor, best, alpha=settings.alpha)
    )
    return _nearest(expanded, query.exclude, snapshot, count)


def _nearest(
    descriptor: FloatArray, exclude: frozenset[int], snapshot: Snapshot, count: int
) -> tuple[Rows, FloatArray]:
    """Excluded photos are asked for too and then left out, so that ``count`` remain."""
    rows, cosines = snapshot.index.search(descriptor, min(count + len(exclude), len(snapshot)))
    if exclude:
        kept = ~np.isin(snapshot.table.photo_ids[rows], list(exclude))
        rows, cosines = rows[kept], cosines[kept]
    return rows[:count], cosines[:count]


class _Clock:
    """Runs stages and notes how long each took."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    def __call__(self, stage: str, run: Callable[[], T]) -> T:
        started = time.perf_counter()
        result = run()
        self.milliseconds[stage] = (time.perf_counter() - started) * 1000
        return result
