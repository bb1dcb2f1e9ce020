"""The job that says where a match sits: from stored regions at once, or exactly by a fresh pass."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from engine.catalogue import photos as catalogue
from engine.config import Method
from engine.errors import PhotoMissingError
from engine.features.head import Head
from engine.features.scheme import base_regions, pooling_of
from engine.jobs import Ticket
from engine.media.pool import DecodeTask
from engine.rank.aggregated import global_attribution
from engine.rank.attribution import attribution, mean_attribution
from engine.rank.focus import focus_map_from, footprint_shape, footprints, found_box, found_boxes
from engine.rank.qam import Merge, match
from engine.rank.sparse import weights
from engine.requests import FocusAnswer, FocusRequest
from engine.retrieval.matching import centred, matched, resolved, sharpness_of
from engine.searching.asked import AskedQuery
from engine.searching.parts import SearchParts
from engine.types import FloatArray, FocusMap, Photo, Picture, Size


def focus(request: FocusRequest, ticket: Ticket, *, parts: SearchParts) -> FocusAnswer:
    """The focus map of one photo for an earlier search.

    An exact map says which cells the photo's score is made of or, for the global method, which
    cells the global cosine is made of (`engine.rank.attribution`).

    Raises:
        PhotoError: the photo cannot be read, is unknown, or has changed since it was indexed; or
            a stored map is asked for where the global method has none.
        SettingsError: the search is too long ago.
    """
    asked = parts.asked.recall(request.token)
    photo = catalogue.by_ids(parts.database, [request.photo_id]).get(request.photo_id)
    if photo is None:
        raise PhotoMissingError("the library has this photo no more")
    if request.exact:
        return _exact_focus(photo, asked, parts, ticket)
    snapshot = parts.snapshot(ticket)
    row = snapshot.row_of(photo.id)
    if row is None:
        raise PhotoMissingError("this network has not seen the photo", path=photo.path)
    if resolved(asked.settings.method) is Method.GLOBAL:
        raise PhotoMissingError("the global method has no stored focus map", path=photo.path)
    rows = np.array([row])
    merge = matched(asked.looked_for, snapshot, rows, asked.settings, ticket)[0]
    return stored_focuses([photo], [merge], [snapshot.boxes_of(row)])[0]


def stored_focuses(
    photos: Sequence[Photo], merges: Sequence[Merge], boxes: Sequence[FloatArray]
) -> list[FocusAnswer]:
    """The footprints of merges; they work while the photos are offline.

    Args:
        boxes: of each photo the (R, 4) boxes of its base regions, fractions of the upright photo.
    """
    sizes = [photo.size or Size(1, 1) for photo in photos]
    alike: defaultdict[tuple[tuple[int, int], int], list[int]] = defaultdict(list)
    for place, (size, own) in enumerate(zip(sizes, boxes, strict=True)):
        alike[footprint_shape(size), len(own)].append(place)
    found: dict[int, FocusAnswer] = {}
    for (shape, _), places in alike.items():
        z = np.stack([merges[place].z for place in places])
        maps = footprints(z, np.stack([boxes[place] for place in places]), shape=shape)
        parts = found_boxes(maps, [sizes[place] for place in places])
        for place, values, box in zip(places, maps, parts, strict=True):
            found[place] = FocusAnswer(photos[place].id, FocusMap(values, exact=False), box)
    return [found[place] for place in range(len(photos))]


def _exact_focus(
    photo: Photo, asked: AskedQuery, parts: SearchParts, ticket: Ticket
) -> FocusAnswer:
    ticket.check()
    decoded = parts.pool.decode(
        DecodeTask(
            key=photo.id,
            picture=Picture(photo.path),
            max_side_px=asked.features.size_px,
            thumbnail_px=None,
        ),
        ticket,
    )
    # Another content is another photo: the map would not be of what was found.
    if decoded.identity != catalogue.identity_of(parts.database, photo.id):
        raise PhotoMissingError("the photo has changed since it was indexed", path=photo.path)
    network = parts.network()
    ticket.check()
    how = network.manifest
    score_parts = _score_parts(
        network.feature_map(decoded.pixels), asked, network.head, p=how.gem_p, eps=how.gem_eps
    )
    values = focus_map_from(score_parts)
    return FocusAnswer(
        photo.id, FocusMap(values, exact=True), found_box(values, decoded.facts.size)
    )


def _score_parts(
    feature_map: FloatArray, asked: AskedQuery, head: Head | None, *, p: float, eps: float
) -> np.ndarray:
    """(h, w) the score that fresh, unabridged features give this photo, split among its cells."""
    method, features, query = resolved(asked.settings.method), asked.features, asked.looked_for
    if method is Method.GLOBAL:
        return global_attribution(
            feature_map, features.aggregation, query.descriptor, p=p, eps=eps, head=head
        )
    found = base_regions(feature_map, features, p=p, eps=eps, head=head)
    pooling = pooling_of(features)
    if method is Method.QAM:
        merge = match(query.parts.sum(axis=0), found.features, solver=asked.settings.solver)
        return attribution(
            feature_map,
            found.weights,
            merge.z,
            query.parts.sum(axis=0),
            pooling=pooling,
            p=p,
            eps=eps,
            head=head,
        )
    parts = centred(query.parts, query.centre)
    cosines = parts @ centred(found.features, query.centre).T
    return mean_attribution(
        feature_map,
        found.weights,
        weights(cosines, sharpness=sharpness_of(method)),
        parts,
        pooling=pooling,
        p=p,
        eps=eps,
        centre=query.centre,
        head=head,
    )
