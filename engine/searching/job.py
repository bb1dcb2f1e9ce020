"""The job that answers a query."""

import time

from engine.catalogue import photos as catalogue
from engine.config import SearchSettings
from engine.errors import NothingIndexedError
from engine.jobs import Ticket
from engine.requests import SearchAnswer, SearchRequest
from engine.retrieval.pipeline import Ranking, RankingQuery, rank
from engine.retrieval.snapshot import Snapshot
from engine.searching.asked import AskedQuery
from engine.searching.focus import stored_focus
from engine.searching.parts import SearchParts
from engine.searching.query import decode_query, query_pixels
from engine.types import Hit, SearchTimings


def search(request: SearchRequest, ticket: Ticket, *, parts: SearchParts) -> SearchAnswer:
    """Find every photo that has the thing in the box, best first.

    The query need not be in the library and is not added to it; if its content is there, it is
    left out of its own hits unless the request wants it.

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
    if not len(snapshot):
        size = parts.features.size_px
        raise NothingIndexedError(f"this library holds no photo yet that was indexed at {size} px")
    decoded = decode_query(
        request.picture,
        request.box,
        size_px=parts.features.size_px,
        scale=settings.query_scale,
        pool=parts.pool,
        ticket=ticket,
    )
    box = request.box.within(decoded.facts.size) if request.box else None
    pixels = query_pixels(decoded, box, size_px=parts.features.size_px, scale=settings.query_scale)
    read = time.perf_counter()
    ticket.update("looking at the picture", 0, 0)
    network = parts.network()
    descriptor = network.descriptor(pixels)
    seen = time.perf_counter()
    ticket.update("searching", 0, 0)
    own = None if request.with_own else decoded.identity
    query = RankingQuery(descriptor, box is not None, _excluded(parts, own))
    ranking = rank(query, snapshot, settings, top=request.top, ticket=ticket)
    hits = _hits(ranking, snapshot, parts)
    merges = {int(snapshot.table.photo_ids[row]): m for row, m in ranking.merges.items()}
    return SearchAnswer(
        token=parts.asked.remember(
            AskedQuery(descriptor, parts.features, ranking.method, settings.solver, merges)
        ),
        query=request.picture,
        query_size=decoded.facts.size,
        box=box,
        network=snapshot.network_key,
        method=str(ranking.method),
        hits=hits,
        timings_ms=_timings(started, read, seen, ranking),
    )


def _excluded(parts: SearchParts, identity: str | None) -> frozenset[int]:
    """What must not be found: contents that lie nowhere any more, and the query's own."""
    excluded = catalogue.placeless(parts.database)
    own = catalogue.by_identity(parts.database, identity) if identity else None
    return excluded if own is None else excluded | {own}


def _hits(ranking: Ranking, snapshot: Snapshot, parts: SearchParts) -> tuple[Hit, ...]:
    ids = snapshot.table.photo_ids[ranking.rows].tolist()
    known = catalogue.by_ids(parts.database, ids)
    hits = []
    for row, photo_id, score, global_score in zip(
        ranking.rows.tolist(),
        ids,
        ranking.scores.tolist(),
        ranking.global_scores.tolist(),
        strict=True,
    ):
        photo = known.get(photo_id)
        if photo is not None:
            merge = ranking.merges.get(row)
            seen = stored_focus(photo, merge, snapshot.boxes_of(row)) if merge else None
            box, focus = (seen.box, seen.focus) if seen else (None, None)
            hits.append(Hit(photo, score, global_score, box, focus))
    return tuple(hits)


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
