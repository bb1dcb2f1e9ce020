"""From a picture and a box to what the network sees of it.

A query is looked at twice, and both views count alike. A thing in a box is shown at half and at
0.85 of the size that it has in its photo: the scale of the query decides more than any method of
matching. A scene is shown mirrored as it is and, where its photo is small, upright and a little
enlarged, but never above the size at which the library's photos are seen; each part of each view is
looked for by itself. What other scales and views give is in the README's table.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto
from engine.media.pool import DecodeTask
from engine.searching.parts import Decoder, QueryNetwork
from engine.types import Box, FloatArray, Picture, PixelArray, Size

BOX_SCALES = (0.5, 0.85)
PHOTO_SCALE = 1.41
PHOTO_LEVELS = (2, 3)
"""Levels of the pyramid whose squares are the parts of a scene."""

_SHORTEST_PX = 64
"""A crop whose shorter side would be less is enlarged to it, two cells of the feature map, even if
enlarging costs elsewhere: what fills less than a cell says next to nothing. Measured on cutouts
with boxes shrunk to 15 % of their width: QAM .25 as it is, .27 at 32 pixels, .36 at 48, .37 at 64,
.35 at 96, .28 at 128."""

_SPARE = 2.0
"""Pixels of a boxed picture are decoded at this multiple of the wanted size, if it has them, and
then cropped and reduced in one step: sharper than a crop of reduced pixels (QAM .850 : .847)."""

_NO_CHANGE = 0.01
"""Pixels within this share of the wanted factor are taken as they are."""


@dataclass(frozen=True, slots=True)
class View:
    """A query is shown to the network at ``scale`` times the size of its photo."""

    scale: float
    mirrored: bool = False


def views_of(*, boxed: bool, scales: tuple[float, ...] | None) -> tuple[View, ...]:
    """How often and how a query is looked at; ``scales`` None: the standard."""
    if scales is not None:
        return tuple(View(scale) for scale in scales)
    if boxed:
        return tuple(View(scale) for scale in BOX_SCALES)
    return View(PHOTO_SCALE), View(1.0, mirrored=True)


def look(
    network: QueryNetwork, pictures: Sequence[PixelArray], *, boxed: bool
) -> tuple[FloatArray, FloatArray]:
    """What the network sees in the views of a query.

    Args:
        pictures: (H, W, 3) uint8 each.

    Returns:
        (D,) the descriptor for the first stage, and (P, D) the parts that are looked for.
    """
    seen = [network.look(picture, () if boxed else PHOTO_LEVELS) for picture in pictures]
    descriptor = _unit(np.sum([whole for whole, _ in seen], axis=0))
    if boxed:
        return descriptor, _unit(np.sum([parts for _, parts in seen], axis=0))
    return descriptor, np.concatenate([parts for _, parts in seen])


def decode_query(
    picture: Picture,
    box: Box | None,
    *,
    size_px: int,
    scales: tuple[float, ...],
    pool: Decoder,
    ticket: Ticket,
) -> DecodedPhoto:
    """The picture with the pixels that `query_pixels` needs: as a photo of the library is decoded
    or, with a box, with some to spare; for a small thing in a large picture as many as there are.

    Raises:
        PhotoError: it cannot be read.
        BoxError: the box has no area, or lies outside.
    """

    def decoded_at(side_px: float) -> DecodedPhoto:
        task = DecodeTask(key=0, picture=picture, max_side_px=math.ceil(side_px), thumbnail_px=None)
        return pool.decode(task, ticket)

    if box is None:
        return decoded_at(size_px)
    scale = max(scales)
    decoded = decoded_at(_SPARE * size_px * max(1.0, scale))
    full = decoded.facts.size
    factor = min(1.0, _crop_factor(box.within(full), full, size_px=size_px, scale=scale))
    if decoded.pixels.shape[1] < factor * full.w * (1 - _NO_CHANGE):
        return decoded_at(max(full.w, full.h) * factor)
    return decoded


def query_pixels(decoded: DecodedPhoto, box: Box | None, view: View, *, size_px: int) -> PixelArray:
    """What the network is shown, (H, W, 3) uint8.

    Without a box: the photo, its longest side at most ``size_px``. With one: the box's crop at
    the factor that its own photo would be given, times the view's scale. An enlarged crop costs
    20 mAP points, so it is not brought to a size of its own; only a crop with a side below two
    cells of the feature map is enlarged to that, and a huge one is shown no larger than a photo.

    Args:
        box: in pixels of the upright photo, inside it.
    """
    full, pixels = decoded.facts.size, decoded.pixels
    held = pixels.shape[1] / full.w
    if box is None:
        width, height = float(full.w), float(full.h)
        fitting = size_px / max(full.w, full.h)
        factor = min(min(1.0, fitting) * view.scale, fitting)
    else:
        width, height = box.w, box.h
        factor = _crop_factor(box, full, size_px=size_px, scale=view.scale)
        left, top, right, bottom = _whole_corners(box, full, pixels)
        pixels = pixels[top:bottom, left:right]
    if view.mirrored:
        pixels = pixels[:, ::-1]
    if abs(factor / held - 1.0) < _NO_CHANGE:
        return np.ascontiguousarray(pixels)
    target = (max(1, round(width * factor)), max(1, round(height * factor)))
    return np.asarray(Image.fromarray(pixels).resize(target, Image.Resampling.LANCZOS))


def _crop_factor(box: Box, full: Size, *, size_px: int, scale: float) -> float:
    """Pixels that the network is shown for one of the full photo.

    A narrow strip is not enlarged until its longer side is larger than a photo's.
    """
    factor = min(1.0, size_px / max(full.w, full.h)) * scale
    short, long = sorted((box.w, box.h))
    return max(factor, min(_SHORTEST_PX / short, size_px / long))


def _whole_corners(box: Box, full: Size, pixels: PixelArray) -> tuple[int, int, int, int]:
    """The corners of a box of the full photo as whole pixels of ``pixels``.

    Whole ones, because a crop that falls between pixels would be resampled, and blurred, a
    second time.
    """
    rows, columns = pixels.shape[:2]
    across, down = columns / full.w, rows / full.h
    left, top = min(round(box.x * across), columns - 1), min(round(box.y * down), rows - 1)
    right, bottom = round((box.x + box.w) * across), round((box.y + box.h) * down)
    return left, top, max(min(right, columns), left + 1), max(min(bottom, rows), top + 1)


def _unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
