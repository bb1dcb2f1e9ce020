"""From a file to an opened but undecoded picture that is known to fit into memory.

The size guard runs on the header, before the decoder allocates anything. Pillow's own guard
(`Image.MAX_IMAGE_PIXELS`) stays as it is; a picture is opened through its plugin rather than
`Image.open` because that guard would turn away large JPEG files before they could be reduced.
"""

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from PIL import Image, ImageFile

from engine.errors import PhotoUnreadableError
from engine.media.container import check_complete
from engine.media.formats import HEAD_BYTES, sniff
from engine.media.reasons import too_large
from engine.types import Picture

Stream = io.BufferedReader | io.BytesIO

JPEG: Final = frozenset({"JPEG", "MPO"})
"""Formats that may be decoded at a fraction of their size."""

_OVERSAMPLING = 2
"""A reduced JPEG keeps at least this many pixels per final pixel in each direction, so that what
one sees comes from the high-quality filter rather than from the decoder's box."""

_SUSPECT_PIXELS = 16_000_000
_PIXELS_PER_BYTE = 512
"""A Huffman-coded JPEG spends at least one bit on each block of 8×8 pixels."""


@contextmanager
def opened(picture: Picture) -> Iterator[Stream]:
    """The bytes of a picture as a binary stream. Never blocks on a pipe or device."""
    if picture.path is None:
        yield io.BytesIO(picture.data or b"")
        return
    if not stat.S_ISREG(os.stat(picture.path).st_mode):  # noqa: PTH116  (one call, raises)
        if picture.path.is_dir():
            raise PhotoUnreadableError("this is a folder, not a picture")
        raise PhotoUnreadableError("this is no ordinary file")
    with picture.path.open("rb") as stream:
        yield stream


def open_picture(
    stream: Stream, *, target_px: int | None, max_pixels: int
) -> tuple[ImageFile.ImageFile, tuple[int, int]]:
    """Open, ask for a reduced decode where that pays, and check the size.

    ``target_px``: longest side that is needed, in pixels; None = all. Returns the undecoded
    picture and its full size as (width, height) before any turning.

    Raises:
        PhotoTooLargeError: more than ``max_pixels`` would be decoded.
        PhotoUnreadableError: empty, no picture, or visibly incomplete.
    """
    head = stream.read(HEAD_BYTES)
    if not head:
        raise PhotoUnreadableError("the file is empty")
    name = sniff(head)
    if name is None:
        raise PhotoUnreadableError("the file is no picture of a kind that Refocal reads")
    if name in {"HEIF", "AVIF"}:
        check_complete(stream)
    stream.seek(0)
    factory, _ = Image.OPEN[name]
    image = factory(stream, "")
    size = image.size
    _check_size(size, None if name in JPEG else max_pixels)
    if name == "JPEG":
        _check_claim(stream, size)
        _reduce(image, target_px, max_pixels)
    return image, size


def _check_size(size: tuple[int, int], max_pixels: int | None) -> None:
    if min(size) < 1:
        raise PhotoUnreadableError("the file is damaged (it claims a picture of no size)")
    if max_pixels is not None and size[0] * size[1] > max_pixels:
        raise too_large(size, max_pixels)


def _check_claim(stream: Stream, size: tuple[int, int]) -> None:
    pixels = size[0] * size[1]
    if pixels <= _SUSPECT_PIXELS:
        return
    at = stream.tell()
    length = stream.seek(0, os.SEEK_END)
    stream.seek(at)
    if pixels > length * _PIXELS_PER_BYTE:
        raise PhotoUnreadableError(
            f"the file is damaged (it claims {size[0]:,} × {size[1]:,} pixels but holds only "
            f"{length:,} bytes)"
        )


def _reduce(image: ImageFile.ImageFile, target_px: int | None, max_pixels: int) -> None:
    """Let libjpeg decode at 1/2, 1/4 or 1/8 where the picture is that much larger than needed."""
    width, height = image.size
    longest = max(width, height)
    ratio = 1.0 if target_px is None else longest / target_px
    scale = max(s for s in (1, 2, 4, 8) if s == 1 or s * _OVERSAMPLING <= ratio)
    while scale < 8 and width * height > max_pixels * scale**2 and scale * 2 <= ratio:
        scale *= 2
    if image.info.get("progressive"):
        # Its coefficients are all held at full size, whatever size comes out.
        _check_size((width, height), max_pixels)
    if scale > 1:
        image.draft(None, (max(1, width // scale), max(1, height // scale)))
    if image.width * image.height > max_pixels:
        raise too_large((width, height), max_pixels)
