"""The jobs that answer a query, and list more of what it found."""

import time
from dataclasses import replace

import numpy as np

from engine.catalogue import photos as catalogue
from engine.config import SearchSettings
from engine.errors import NothingIndexedError
from engine.jobs import Ticket
from engine.rank.expansion import steered
from engine.requests import FocusAnswer, HitPage, MoreHitsRequest, SearchAnswer, SearchRequest
from engine.retrieval.cutoff import cutoff_of
from engine.retrieval.matching import RankingQuery, Rows, matched_features
from engine.retrieval.pipeline import Ranking, rank
from engine.retrieval.snapshot import Snapshot
from engine.searching.asked import AskedQuery
from engine.searching.focus import stored_focuses
from engine.searching.parts import SearchParts
from engine.searching.query import decode_query, look, query_pixels, views_of
from engine.types import Hit, Photo, SearchTimings


def search(request: SearchRequest, ticket: Ticket, *, parts: SearchParts) -> SearchAnswer:
    """Find every photo that has the thing in the box, best first.

    The query need not be in the library and is not added to it; if its content is there, it is
    left out of its own hits unless the request wants it. So is what the searcher does not like.

    Raises:
        NothingIndexedError: the library holds no photo of this network.
        PhotoError: the picture cannot be read.
        BoxError: the box has no area, or lies outside.
        Cancelled: a newer search took its place.
    """
    started = time.perf_counter()
    settings = request.settings or SearchSettings()
    settings.validate()
    ticket.update("reading the picture", 0, 0)
    snapshot = parts.snapshot(ticket)
    size_px = parts.features.size_px
    if not len(snapshot):
        raise NothingIndexedError(
            f"this library holds no photo yet that was indexed at {size_px} px"
        )
    decoded = decode_query(
        request.picture,
        request.box,
        size_px=size_px,
        scales=settings.query_scales or (1.0,),
        pool=parts.pool,
        ticket=ticket,
    )
    full = decoded.facts.size
    box = request.box.within(full) if request.box else None
    views = views_of(boxed=box is not None, scales=settings.query_scales)
    pictures = [query_pixels(decoded, box, view, size_px=size_px) for view in views]
    read = time.perf_counter()
    ticket.update("looking at the picture", 0, 0)
    network = parts.network()
    descriptor, seen_parts = look(network, pictures, boxed=box is not None)
    seen = time.perf_counter()
    ticket.update("searching", 0, 0)
    own = None if request.with_own else decoded.identity
    # Centring helps a scene, whose parts are usual ones (holidays .829 to what the module of
    # queries says), and does not help a thing.
    centre = network.centre if box is None else None
    query = RankingQuery(descriptor, seen_parts, _excluded(parts, own), centre)
    query = _steered(query, request, snapshot, settings)
    ranking = rank(query, snapshot, settings, top=request.top, ticket=ticket)
    return SearchAnswer(
        token=parts.asked.remember(AskedQuery(query, settings, parts.features)),
        query=request.picture,
        query_size=full,
        box=box,
        network=snapshot.network_key,
        method=str(ranking.method),
        hits=_hits(ranking, snapshot, parts),
        timings_ms=_timings(started, read, seen, ranking),
        total=_total(query, snapshot),
        cutoff=cutoff_of(ranking.scores),
    )


def more(request: MoreHitsRequest, ticket: Ticket, *, parts: SearchParts) -> HitPage:
    """The hits of an earlier search from some place on. The network is not asked again.

    Raises:
        SettingsError: the search is too long ago.
    """
    asked = parts.asked.recall(request.token)
    snapshot = parts.snapshot(ticket)
    end = request.offset + request.limit
    ranking = rank(asked.looked_for, snapshot, asked.settings, top=end, ticket=ticket)
    hits = _hits(ranking.from_place(request.offset), snapshot, parts)
    return HitPage(request.offset, _total(asked.looked_for, snapshot), hits)


def _steered(
    query: RankingQuery, request: SearchRequest, snapshot: Snapshot, settings: SearchSettings
) -> RankingQuery:
    """The query moved towards what is liked and away from what is not."""
    if not request.liked and not request.disliked:
        return query
    liked, disliked = (
        matched_features(query, snapshot, _rows(snapshot, ids), settings)
        for ids in (request.liked, request.disliked)
    )
    parts = steered(query.parts, liked, disliked)
    # The first stage follows only where it looks for the very same thing, as it does for a box.
    descriptor = parts[0] if len(parts) == 1 else query.descriptor
    exclude = query.exclude | frozenset(request.disliked)
    return replace(query, descriptor=descriptor, parts=parts, exclude=exclude)


def _rows(snapshot: Snapshot, photo_ids: tuple[int, ...]) -> Rows:
    rows = [snapshot.row_of(photo_id) for photo_id in photo_ids]
    return np.array([row for row in rows if row is not None], dtype=np.int64)


def _excluded(parts: SearchParts, identity: str | None) -> frozenset[int]:
    """What must not be found: contents that lie nowhere any more, and the query's own."""
    excluded = catalogue.placeless(parts.database)
    own = catalogue.by_identity(parts.database, identity) if identity else None
    return excluded if own is None else excluded | {own}


def _total(query: RankingQuery, snapshot: Snapshot) -> int:
    left_out = np.isin(snapshot.table.photo_ids, list(query.exclude))
    return len(snapshot) - int(left_out.sum())


def _hits(ranking: Ranking, snapshot: Snapshot, parts: SearchParts) -> tuple[Hit, ...]:
    ids = snapshot.table.photo_ids[ranking.rows].tolist()
    known = catalogue.by_ids(parts.database, ids)
    there = [place for place, photo_id in enumerate(ids) if photo_id in known]
    rows = ranking.rows.tolist()
    matched = [place for place in there if rows[place] in ranking.merges]
    seen = stored_focuses(
        [known[ids[place]] for place in matched],
        [ranking.merges[rows[place]] for place in matched],
        [snapshot.boxes_of(rows[place]) for place in matched],
    )
    focus = dict(zip(matched, seen, strict=True))
    scores, global_scores = ranking.scores.tolist(), ranking.global_scores.tolist()
    return tuple(
        _hit(known[ids[place]], scores[place], global_scores[place], focus.get(place))
        for place in there
    )


def _hit(photo: Photo, score: float, global_score: float, seen: FocusAnswer | None) -> Hit:
    if seen is None:
        return Hit(photo, score, global_score)
    return Hit(photo, score, global_score, seen.box, seen.focus)


def _timings(started: float, read: float, seen: float, ranking: Ranking) -> SearchTimings:
    stages = ranking.milliseconds
    return SearchTimings(
        decode=(read - started) * 1000,
        network=(seen - read) * 1000,
        shortlist=stages.get("shortlist", 0.0),
        rerank=stages.get("rerank", 0.0),
        expand=stages.get("expand", 0.0),
        total=(time.perf_counter() - started) * 1000,
    )
