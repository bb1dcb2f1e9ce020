"""One file -> upright sRGB pixels, facts, identity and thumbnail, in one pass."""

import io
import os
import threading
import warnings
from dataclasses import dataclass
from typing import Final

import numpy as np
from PIL import Image, ImageFile

from engine.media.colour import plain, to_srgb
from engine.media.facts import MediaFacts, frames_of, orientation_of, read_exif, taken_at
from engine.media.identity import identity_of_stream
from engine.media.opening import JPEG, Stream, open_picture, opened
from engine.media.reasons import photo_error
from engine.types import Picture, PixelArray, Size

BYTES_PER_PIXEL: Final = 24
"""Peak memory of a decode for one decoded pixel, at most: 7 were measured for HEIC, 5 to 14 for
JPEG, PNG and TIFF, 24 for WebP and 21 for JPEG 2000 at full size."""

_THUMBNAIL_QUALITY = 82
_PHOTO_GAP = 3.0
_THUMBNAIL_GAP = 1.2
"""Large reductions start with a fast box filter, down to this many times the final size. 3 cannot
be told from the slow way; a thumbnail may be a little softer and is done in a third of the time."""

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

_one_at_a_time = threading.Lock()
"""Silencing the decoders' warnings changes a state of the whole process. Decoding in parallel is
what the pool's processes are for."""


@dataclass(frozen=True, slots=True, eq=False)
class DecodedPhoto:
    """``pixels``: (H, W, 3) uint8, upright sRGB. ``thumbnail``: JPEG, if one was asked for.
    ``identity``: of the bytes that were decoded, see `engine.media.identity`; None where the file
    changed meanwhile."""

    pixels: PixelArray
    facts: MediaFacts
    thumbnail: bytes | None
    identity: str | None


def decode(
    picture: Picture,
    *,
    max_side_px: int | None,
    thumbnail_px: int | None = None,
    max_pixels: int,
) -> DecodedPhoto:
    """Read and decode a picture.

    Turned upright by all eight EXIF orientations or the container's own; converted to sRGB by the
    embedded profile; transparency over white. Of a file with several pictures the first is taken.

    ``max_side_px``: longest side of the pixels, never enlarged; None = full size.
    ``thumbnail_px``: longest side of the thumbnail; None = no thumbnail. ``max_pixels``: limit for
    the pixels that are decoded, checked before anything is allocated. A JPEG may be larger: it is
    decoded at a fraction of its size where that suffices.

    Thread-safe, one decode at a time in a process.

    Raises:
        PhotoMissingError: the file is not there.
        PhotoTooLargeError: over the limit, or out of memory.
        PhotoUnreadableError: damaged, incomplete, no picture, or no permission.
    """
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with opened(picture) as stream:
                return _decode(stream, max_side_px, thumbnail_px, max_pixels=max_pixels)
        except Exception as error:
            raise photo_error(error, picture.path) from error


def _decode(
    stream: Stream, max_side_px: int | None, thumbnail_px: int | None, *, max_pixels: int
) -> DecodedPhoto:
    version = _version(stream)
    identity = identity_of_stream(stream)
    stream.seek(0)
    target_px = None if max_side_px is None else max(max_side_px, thumbnail_px or 0)
    image, full = open_picture(stream, target_px=target_px, max_pixels=max_pixels)
    turned_by_pillow = 1
    if image.format == "TIFF":  # it is loaded upright, and says so no more
        turned_by_pillow = orientation_of(image, read_exif(image))
    image.load()
    if image.format not in JPEG:  # a header may be wrong; of a JPEG less than all was decoded
        full = image.size
    exif = read_exif(image)
    orientation = orientation_of(image, exif)
    upright = _upright(image, full, orientation, longest_px=target_px)
    facts = MediaFacts(
        format=image.format or "",
        size=Size(*(full if orientation < 5 else full[::-1])),
        orientation=max(orientation, turned_by_pillow),
        taken=taken_at(exif),
        frames=frames_of(image),
    )
    return DecodedPhoto(
        pixels=np.array(_fitted(upright, upright.size, max_side_px, gap=_PHOTO_GAP)),
        facts=facts,
        thumbnail=_thumbnail(upright, thumbnail_px) if thumbnail_px else None,
        identity=identity if _version(stream) == version else None,
    )


def _upright(
    image: ImageFile.ImageFile,
    full: tuple[int, int],
    orientation: int,
    *,
    longest_px: int | None,
) -> Image.Image:
    """Loaded picture -> upright sRGB with this longest side."""
    small = _fitted(plain(image), full, longest_px, gap=_PHOTO_GAP)
    small = to_srgb(small, image.info.get("icc_profile"))
    turn = _TURNS.get(orientation)
    return small if turn is None else small.transpose(turn)


def _fitted(
    image: Image.Image, full: tuple[int, int], longest_px: int | None, *, gap: float
) -> Image.Image:
    """Reduced so that the longest side of a picture of size ``full`` becomes this long."""
    if longest_px is None or max(full) <= longest_px:
        return image
    factor = longest_px / max(full)
    width, height = (max(1, round(side * factor)) for side in full)
    return image.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=gap)


def _thumbnail(upright: Image.Image, longest_px: int) -> bytes:
    written = io.BytesIO()
    small = _fitted(upright, upright.size, longest_px, gap=_THUMBNAIL_GAP)
    small.save(written, "JPEG", quality=_THUMBNAIL_QUALITY)
    return written.getvalue()


def _version(stream: Stream) -> tuple[int, int] | None:
    """What changes when somebody writes to an open file; None for bytes in memory."""
    if isinstance(stream, io.BytesIO):
        return None
    found = os.fstat(stream.fileno())
    return found.st_size, found.st_mtime_ns
