"""From a query to a ranking: shortlist, matching, query expansion.

The pipeline of Cao et al. 2016 (arXiv 1606.06811): (i) a shortlist by the global descriptor, here
by the regions as well, (ii) matching on the base regions of the shortlist, (iii) the query
averaged with what was found, searched again.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import TypeVar

import numpy as np

from engine.config import Expansion, Method, SearchSettings
from engine.jobs import Ticket
from engine.rank.expansion import alpha_weighted, average
from engine.rank.qam import Merge
from engine.retrieval.matching import RankingQuery, Rows, matched, matched_features, resolved
from engine.retrieval.snapshot import Snapshot
from engine.types import FloatArray

T = TypeVar("T")

_REGIONS_IN_TURN = 2
"""Among 2,941 photos the first hundred hold .961 of the positives of the cutouts' boxes with one
in turn, .972 with two and with three, .928 by the global descriptor alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Photos, best first, as rows of the snapshot.

    ``scores`` (n,): the method's for what was re-ranked, else the (expanded) global cosine.
    ``global_scores`` (n,): cosines of the global descriptors with the query as it was asked.
    ``merges``: of the rows that were re-ranked. ``milliseconds``: of each stage.
    """

    method: Method
    rows: Rows
    scores: FloatArray
    global_scores: FloatArray
    merges: dict[int, Merge]
    milliseconds: dict[str, float] = field(default_factory=dict)

    def from_place(self, first: int) -> "Ranking":
        """What is left from this place of the ranking on."""
        return replace(
            self,
            rows=self.rows[first:],
            scores=self.scores[first:],
            global_scores=self.global_scores[first:],
        )


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
    method = resolved(settings.method)
    wanted = len(snapshot) if top is None else top
    clock = _Clock()
    depth = max(wanted, settings.shortlist, settings.expand_top)
    rows = clock("shortlist", lambda: shortlist(query, snapshot, settings, depth))
    ticket.check()
    merges: dict[int, Merge] = {}
    scores = snapshot.descriptors[rows] @ query.descriptor
    if method is not Method.GLOBAL:
        merges = clock("rerank", lambda: rerank(query, snapshot, rows, settings, ticket))
        rows, scores = reordered(rows, scores, merges)
    ticket.check()
    if settings.expand is not Expansion.NONE:
        rows, scores, merges = clock(
            "expand", lambda: expand(query, snapshot, rows, merges, settings, depth, ticket)
        )
    return Ranking(
        method=method,
        rows=rows[:wanted],
        scores=scores[:wanted],
        global_scores=snapshot.descriptors[rows[:wanted]] @ query.descriptor,
        merges=merges,
        milliseconds=clock.milliseconds,
    )


def shortlist(
    query: RankingQuery, snapshot: Snapshot, settings: SearchSettings, count: int
) -> Rows:
    """The ``count`` first photos of a search: at their head those that are matched, one by the
    global descriptor and then `_REGIONS_IN_TURN` by regions, and so on; behind them the rest by the
    global descriptor.
    """
    near = _nearest(query.descriptor, query.exclude, snapshot, count)
    if resolved(settings.method) is Method.GLOBAL:
        return near
    most = settings.shortlist + len(query.exclude)
    by_regions = _without(query.exclude, snapshot, snapshot.scan.search(query.descriptor, most)[0])
    turns = (by_regions[first::_REGIONS_IN_TURN].tolist() for first in range(_REGIONS_IN_TURN))
    in_turn = chain.from_iterable(zip_longest(near.tolist(), *turns))
    head = list(dict.fromkeys(row for row in in_turn if row is not None))[: settings.shortlist]
    kept = near[~np.isin(near, head)]
    return np.concatenate([np.array(head, dtype=np.int64), kept])[:count]


def rerank(
    query: RankingQuery, snapshot: Snapshot, rows: Rows, settings: SearchSettings, ticket: Ticket
) -> dict[int, Merge]:
    """The merge of each photo of the shortlist."""
    head = rows[: settings.shortlist]
    merges = matched(query, snapshot, head, settings, ticket)
    return dict(zip(head.tolist(), merges, strict=True))


def reordered(rows: Rows, scores: FloatArray, merges: dict[int, Merge]) -> tuple[Rows, FloatArray]:
    """What was re-ranked first, by its new score; the rest below in its old order.

    The two scores are cosines of different things and are not compared with each other.
    """
    head = len(merges)
    new = np.array([merges[row].score for row in rows[:head].tolist()], dtype=np.float32)
    order = np.argsort(-new, kind="stable")
    return (
        np.concatenate([rows[:head][order], rows[head:]]),
        np.concatenate([new[order], scores[head:]]),
    )


def expand(
    query: RankingQuery,
    snapshot: Snapshot,
    rows: Rows,
    merges: dict[int, Merge],
    settings: SearchSettings,
    count: int,
    ticket: Ticket,
) -> tuple[Rows, FloatArray, dict[int, Merge]]:
    """Search again with the query and its best hits as one: rows, scores, merges.

    `Expansion.MATCHED` ranks the shortlist once more by the parts of the best hits that matched;
    the others search by the global descriptor, as their papers do.
    """
    best = rows[: settings.expand_top]
    if settings.expand is Expansion.MATCHED:
        found = matched_features(query, snapshot, best, settings)
        richer = replace(query, parts=alpha_weighted(query.parts, found, alpha=settings.alpha))
        again = matched(richer, snapshot, rows[: len(merges)], settings, ticket)
        new = dict(zip(rows[: len(merges)].tolist(), again, strict=True))
        below = snapshot.descriptors[rows] @ query.descriptor
        return *reordered(rows, below, new), new
    descriptors = snapshot.descriptors[best].astype(np.float32)
    expanded = (
        average(query.descriptor, descriptors)
        if settings.expand is Expansion.AVERAGE
        else alpha_weighted(query.descriptor, descriptors, alpha=settings.alpha)
    )
    again_near = shortlist(
        replace(query, descriptor=expanded),
        snapshot,
        replace(settings, method=Method.GLOBAL),
        count,
    )
    return again_near, snapshot.descriptors[again_near] @ expanded, merges


def _nearest(
    descriptor: FloatArray, exclude: frozenset[int], snapshot: Snapshot, count: int
) -> Rows:
    """Excluded photos are asked for too and then left out, so that ``count`` remain."""
    rows, _ = snapshot.index.search(descriptor, min(count + len(exclude), len(snapshot)))
    return _without(exclude, snapshot, rows)[:count]


def _without(exclude: frozenset[int], snapshot: Snapshot, rows: Rows) -> Rows:
    if not exclude:
        return rows
    return rows[~np.isin(snapshot.table.photo_ids[rows], list(exclude))]


class _Clock:
    """Runs stages and notes how long each took."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    def __call__(self, stage: str, run: Callable[[], T]) -> T:
        started = time.perf_counter()
        result = run()
        self.milliseconds[stage] = (time.perf_counter() - started) * 1000
        return result
