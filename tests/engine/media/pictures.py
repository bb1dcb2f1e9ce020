"""Pictures for the tests of media, made on the spot."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import ExifTags, Image

from engine.media.decode import DecodedPhoto, decode
from engine.types import Picture, PixelArray

MAX_PIXELS = 100_000_000


def decoded(
    source: bytes | Path,
    *,
    max_side_px: int | None = None,
    thumbnail_px: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> DecodedPhoto:
    """Decode at full size, or as asked."""
    picture = Picture(path=source) if isinstance(source, Path) else Picture(data=source)
    return decode(
        picture, max_side_px=max_side_px, thumbnail_px=thumbnail_px, max_pixels=max_pixels
    )


def encoded(image: Image.Image, kind: str, **how: object) -> bytes:
    written = io.BytesIO()
    image.save(written, kind, **how)
    return written.getvalue()


def corners(width: int = 48, height: int = 32) -> PixelArray:
    """Four colours in four corners: no turn and no mirror leaves it as it was."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[: height // 2, : width // 2] = (200, 40, 40)
    pixels[: height // 2, width // 2 :] = (40, 180, 60)
    pixels[height // 2 :, : width // 2] = (50, 70, 200)
    pixels[height // 2 :, width // 2 :] = (230, 220, 90)
    return pixels


def noise(width: int, height: int, seed: int = 1) -> Image.Image:
    """Soft coloured noise, which compresses about like a photo."""
    small = np.random.default_rng(seed).integers(0, 256, (height // 8 + 1, width // 8 + 1, 3))
    return Image.fromarray(small.astype(np.uint8)).resize((width, height), Image.Resampling.BICUBIC)


def exif_with(tags: dict[int, Any]) -> Image.Exif:
    exif = Image.Exif()
    for tag, value in tags.items():
        exif[tag] = value
    return exif


def exif_orientation(orientation: int) -> Image.Exif:
    return exif_with({ExifTags.Base.Orientation: orientation})


def png_chunk(kind: bytes, data: bytes) -> bytes:
    crc = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


def png(width: int, height: int, *, bits: int, colour: int, rows: bytes) -> bytes:
    """A PNG with this header and these unfiltered rows (each begins with a zero byte)."""
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            png_chunk(b"IHDR", header),
            png_chunk(b"IDAT", zlib.compress(rows)),
            png_chunk(b"IEND", b""),
        )
    )


def difference(left: PixelArray, right: PixelArray) -> float:
    """Mean absolute difference in levels; infinite where the sizes differ."""
    if left.shape != right.shape:
        return float("inf")
    return float(np.abs(left.astype(np.int16) - right).mean())
