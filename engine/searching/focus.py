"""The job that says where a match sits: from stored regions at once, or exactly by a fresh pass."""

import numpy as np
from numpy.typing import NDArray

from engine.catalogue import photos as catalogue
from engine.config import FeatureSettings, Method
from engine.errors import PhotoMissingError
from engine.features.grid import ospp
from engine.jobs import Ticket
from engine.media.pool import DecodeTask
from engine.rank.attribution import attribution
from engine.rank.focus import focus_map_from, footprint, footprint_shape, found_box
from engine.rank.qam import Merge, match
from engine.requests import FocusAnswer, FocusRequest
from engine.searching.asked import AskedQuery
from engine.searching.parts import SearchParts
from engine.types import FloatArray, FocusMap, Photo, Picture, Size


def focus(request: FocusRequest, ticket: Ticket, *, parts: SearchParts) -> FocusAnswer:
    """The focus map of one photo for an earlier search.

    An exact map says which cells the score of the photo's merge is made of or, for the global
    method, which cells the global cosine is made of (`engine.rank.focus.attribution`).

    Raises:
        PhotoError: the photo cannot be read, is unknown, or has changed since it was indexed; or
            a stored map is asked for where the global method has none.
        SettingsError: the search is too long ago.
    """
    asked = parts.asked.recall(request.token)
    photo = catalogue.by_ids(parts.database, [request.photo_id]).get(request.photo_id)
    if photo is None:
        raise PhotoMissingError("the library has this photo no more")
    snapshot = parts.snapshot(ticket)
    row = snapshot.row_of(photo.id)
    if row is None:
        raise PhotoMissingError("this network has not seen the photo", path=photo.path)
    merge = asked.merges.get(photo.id)
    if merge is None and asked.method is Method.QAM:  # it lies below the shortlist
        regions, _ = snapshot.regions_of(np.array([row]))
        merge = match(asked.descriptor, regions, solver=asked.solver)
    if request.exact:
        return _exact_focus(photo, merge, asked, parts, ticket)
    if merge is None:
        raise PhotoMissingError("the global method has no stored focus map", path=photo.path)
    return stored_focus(photo, merge, snapshot.boxes_of(row))


def stored_focus(photo: Photo, merge: Merge, boxes: FloatArray) -> FocusAnswer:
    """The footprint of a merge; works while the photo is offline.

    Args:
        boxes: (R, 4) of the photo's base regions, fractions of the upright photo.
    """
    size = photo.size or Size(1, 1)
    values = footprint(merge.z, boxes, shape=footprint_shape(size))
    return FocusAnswer(photo.id, FocusMap(values, exact=False), found_box(values, size))


def _exact_focus(
    photo: Photo, merge: Merge | None, asked: AskedQuery, parts: SearchParts, ticket: Ticket
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
    # Another content has other regions: the weights say nothing of it.
    if decoded.identity != catalogue.identity_of(parts.database, photo.id):
        raise PhotoMissingError("the photo has changed since it was indexed", path=photo.path)
    network = parts.network()
    ticket.check()
    feature_map = network.feature_map(decoded.pixels)
    cells, z = _merged_cells(feature_map, merge, asked.features)
    score_parts = attribution(
        feature_map,
        cells,
        z,
        asked.descriptor,
        p=network.manifest.gem_p,
        eps=network.manifest.gem_eps,
    )
    values = focus_map_from(score_parts)
    return FocusAnswer(
        photo.id, FocusMap(values, exact=True), found_box(values, decoded.facts.size)
    )


def _merged_cells(
    feature_map: FloatArray, merge: Merge | None, features: FeatureSettings
) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
    """The regions that were merged, in cells, and their weights; the whole photo if none were."""
    h, w = feature_map.shape[1:]
    if merge is None:
        return np.array([[0, 0, w, h]]), np.ones(1)
    return ospp(h, w, features.levels), merge.z
