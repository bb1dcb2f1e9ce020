"""From a picture and a box to what the network sees of it."""

import math

import numpy as np
from PIL import Image

from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto
from engine.media.pool import DecodeTask
from engine.searching.parts import Decoder
from engine.types import Box, Picture, PixelArray, Size

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


def decode_query(
    picture: Picture,
    box: Box | None,
    *,
    size_px: int,
    scale: float,
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
    decoded = decoded_at(_SPARE * size_px * max(1.0, scale))
    full = decoded.facts.size
    factor = min(1.0, _crop_factor(box.within(full), full, size_px=size_px, scale=scale))
    if decoded.pixels.shape[1] < factor * full.w * (1 - _NO_CHANGE):
        return decoded_at(max(full.w, full.h) * factor)
    return decoded


def query_pixels(
    decoded: DecodedPhoto, box: Box | None, *, size_px: int, scale: float
) -> PixelArray:
    """What the network is shown, (H, W, 3) uint8.

    Without a box: the photo, its longest side at most ``size_px``. With one: the box's crop at
    the factor that its own photo would be given, times ``scale``. An enlarged crop costs 20 mAP
    points, so it is not brought to a size of its own; only a crop with a side below two cells of
    the feature map is enlarged to that.

    Args:
        box: in pixels of the upright photo, inside it.
    """
    full, pixels = decoded.facts.size, decoded.pixels
    held = pixels.shape[1] / full.w
    if box is None:
        width, height = float(full.w), float(full.h)
        factor = min(1.0, size_px / max(full.w, full.h))
    else:
        width, height = box.w, box.h
        factor = _crop_factor(box, full, size_px=size_px, scale=scale)
        left, top, right, bottom = _whole_corners(box, full, pixels)
        pixels = pixels[top:bottom, left:right]
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
