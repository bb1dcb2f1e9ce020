"""From a picture and a box to what the network sees of it."""

import math

import numpy as np
from PIL import Image

from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto
from engine.media.pool import DecodeTask
from engine.searching.parts import Decoder
from engine.types import Box, Picture, PixelArray, Size

_SHORTEST_PX = 32
"""A crop whose shorter side would be less is enlarged to it: one cell of the feature map."""

_NO_CHANGE = 0.01
"""Pixels within this share of the wanted factor are taken as they are."""


def decode_query(
    picture: Picture, *, size_px: int, scale: float, pool: Decoder, ticket: Ticket
) -> DecodedPhoto:
    """The picture with the pixels that a crop at ``scale`` needs.

    Raises:
        PhotoError: it cannot be read.
    """
    side = math.ceil(size_px * max(1.0, scale))
    task = DecodeTask(key=0, picture=picture, max_side_px=side, thumbnail_px=None)
    return pool.decode(task, ticket)


def query_pixels(
    decoded: DecodedPhoto, box: Box | None, *, size_px: int, scale: float
) -> PixelArray:
    """What the network is shown, (H, W, 3) uint8.

    Without a box: the photo, its longest side at most ``size_px``. With one: the box's crop at
    the factor that its own photo would be given, times ``scale``. An enlarged crop costs 20 mAP
    points, so it is not brought to a size of its own; only a crop with a side below one cell of
    the feature map is enlarged to that.

    Args:
        box: in pixels of the upright photo, inside it.
    """
    full, pixels = decoded.facts.size, decoded.pixels
    factor = min(1.0, size_px / max(full.w, full.h)) * full.w / pixels.shape[1]
    if box is not None:
        left, top, right, bottom = _whole_corners(box, full, pixels)
        pixels = pixels[top:bottom, left:right]
        factor = max(factor * scale, _SHORTEST_PX / min(pixels.shape[:2]))
    if abs(factor - 1.0) < _NO_CHANGE:
        return np.ascontiguousarray(pixels)
    rows, columns = (max(1, round(side * factor)) for side in pixels.shape[:2])
    image = Image.fromarray(pixels)
    return np.asarray(image.resize((columns, rows), Image.Resampling.LANCZOS))


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
