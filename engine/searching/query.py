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
    full = decoded.facts.size
    factor = min(1.0, size_px / max(full.w, full.h))
    if box is None:
        return _resized(decoded.pixels, None, (full.w * factor, full.h * factor))
    factor *= scale
    factor *= max(1.0, _SHORTEST_PX / (min(box.w, box.h) * factor))
    corners = _corners_in(decoded.pixels, box, full)
    return _resized(decoded.pixels, corners, (box.w * factor, box.h * factor))


def _corners_in(pixels: PixelArray, box: Box, full: Size) -> tuple[float, float, float, float]:
    """The corners of a box of the full photo in these pixels of it."""
    rows, columns = pixels.shape[:2]
    across, down = columns / full.w, rows / full.h
    return (
        box.x * across,
        box.y * down,
        min((box.x + box.w) * across, columns),
        min((box.y + box.h) * down, rows),
    )


def _resized(
    pixels: PixelArray,
    corners: tuple[float, float, float, float] | None,
    size: tuple[float, float],
) -> PixelArray:
    """The part between the corners (None: all) at this width and height."""
    target = (max(1, round(size[0])), max(1, round(size[1])))
    if corners is None and target == (pixels.shape[1], pixels.shape[0]):
        return pixels
    image = Image.fromarray(pixels)
    return np.asarray(image.resize(target, Image.Resampling.LANCZOS, box=corners))
