"""The jobs that answer a query: a search, and then the exact focus map of one of its hits."""

import time

import numpy as np

from engine.catalogue import photos as catalogue
from engine.config import SearchSettings
from engine.errors import NothingIndexedError, PhotoMissingError
from engine.jobs import Ticket
from engine.media.pool import DecodeTask
from engine.network.regions import ospp
from engine.rank import focus as focusing
from engine.rank.qam import Float64, Merge
from engine.requests import FocusAnswer, FocusRequest, SearchAnswer, SearchRequest
from engine.retrieval.pipeline import Ranking, RankingQuery, rank
from engine.retrieval.snapshot import Snapshot
from engine.searching.parts import AskedQuery, SearchParts
from engine.searching.query import decode_query, query_pixels
from engine.types import Box, FloatArray, FocusMap, Hit, Photo, Picture, SearchTimings, Size


def search(request: SearchRequest, ticket: Ticket, *, parts: SearchParts) -> SearchAnswer:
    """Find every photo that has the thing in the box, best first.

    The query need not be in the library and is not added to it; if its content is there, it is
    left out of its own hits.

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
        raise NothingIndexedError("this library holds no photo yet: add a folder first")
    decoded = decode_query(
        request.picture,
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
    query = RankingQuery(descriptor, box is not None, _excluded(parts, decoded.identity))
    ranking = rank(query, snapshot, settings, top=request.top, ticket=ticket)
    hits = _hits(ranking, snapshot, parts)
    weights = {int(snapshot.table.photo_ids[row]): m.z for row, m in ranking.merges.items()}
    return SearchAnswer(
        token=parts.asked.remember(AskedQuery(descriptor, weights)),
        query=request.picture,
        query_size=decoded.facts.size,
        box=box,
        network=snapshot.network_key,
        method=str(ranking.method),
        hits=hits,
        timings_ms=_timings(started, read, seen, ranking),
    )


def focus(request: FocusRequest, ticket: Ticket, *, parts: SearchParts) -> FocusAnswer:
    """The exact focus map of a hit, from a fresh pass over its photo.

    For a photo that was re-ranked it says which cells the score of its merge is made of, for any
    other which cells the global cosine is made of (`engine.rank.focus.attribution`).

    Raises:
        PhotoError: the photo cannot be read, or has changed since it was indexed.
        SettingsError: the search is too long ago.
    """
    asked = parts.asked.recall(request.token)
    ticket.check()
    photo = catalogue.by_ids(parts.database, [request.photo_id]).get(request.photo_id)
    if photo is None:
        raise PhotoMissingError("the library has this photo no more")
    side = parts.features.size_px
    decoded = parts.pool.decode(
        DecodeTask(key=0, picture=Picture(photo.path), max_side_px=side, thumbnail_px=None),
        ticket,
    )
    network = parts.network()
    feature_map = network.feature_map(decoded.pixels)
    ticket.check()
    cells, z = _merged_cells(feature_map, asked.weights.get(request.photo_id), parts)
    if len(cells) != len(z):
        raise PhotoMissingError("the photo has changed since it was indexed", path=photo.path)
    parts_of_score = focusing.attribution(
        feature_map,
        cells,
        z,
        asked.descriptor,
        p=network.manifest.gem_p,
        eps=network.manifest.gem_eps,
    )
    values = focusing.focus_map_from(parts_of_score)
    box = focusing.found_box(values, decoded.facts.size)
    return FocusAnswer(request.photo_id, FocusMap(values, exact=True), box)


def _merged_cells(
    feature_map: FloatArray, weights: Float64 | None, parts: SearchParts
) -> tuple[np.ndarray, Float64]:
    """The regions that were merged, in cells, and their weights; the whole photo if none were."""
    h, w = feature_map.shape[1:]
    if weights is None:
        return np.array([[0, 0, w, h]]), np.ones(1)
    return ospp(h, w, parts.features.levels), weights


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
            seen, box = _footprint(photo, row, ranking.merges.get(row), snapshot)
            hits.append(Hit(photo, score, global_score, box, seen))
    return tuple(hits)


def _footprint(
    photo: Photo, row: int, merge: Merge | None, snapshot: Snapshot
) -> tuple[FocusMap | None, Box | None]:
    """The focus map and found box that the stored regions tell, without the photo."""
    if merge is None:
        return None, None
    size = photo.size or Size(1, 1)
    shape = focusing.footprint_shape(size)
    values = focusing.footprint(merge.z, snapshot.boxes_of(row), shape=shape)
    return FocusMap(values, exact=False), focusing.found_box(values, size)


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
