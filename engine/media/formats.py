"""Which files are pictures: by name before they are opened, by their first bytes after."""

from pathlib import Path
from typing import Final

import pi_heif
from PIL import (
    AvifImagePlugin,  # noqa: F401  (importing a plugin registers it; only these are wanted)
    BmpImagePlugin,  # noqa: F401
    GifImagePlugin,  # noqa: F401
    Image,
    Jpeg2KImagePlugin,  # noqa: F401
    JpegImagePlugin,  # noqa: F401
    MpoImagePlugin,  # noqa: F401
    PngImagePlugin,  # noqa: F401
    PsdImagePlugin,  # noqa: F401
    TiffImagePlugin,  # noqa: F401
    WebPImagePlugin,  # noqa: F401
)

pi_heif.register_heif_opener(thumbnails=False, depth_images=False, aux_images=False)

SUFFIXES: Final = frozenset(
    f".{name}"
    for names in (
        ("jpg", "jpeg", "jpe", "jfif", "mpo"),
        ("png", "apng", "webp", "gif", "bmp", "tif", "tiff", "psd"),
        ("heic", "heics", "heif", "heifs", "hif", "avif", "avifs"),
        ("jp2", "j2k", "j2c", "jpc", "jpf", "jpx"),
    )
    for name in names
)
"""Suffixes of files that are looked into, lower case, with the dot."""

FORMATS: Final = ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "JPEG2000", "PSD", "HEIF", "AVIF")
"""The decoders that may run, by Pillow's names. The others that Pillow has (some start programs,
such as Ghostscript for EPS) never see a user's file."""

HEAD_BYTES: Final = 64
"""How many first bytes `sniff` looks at."""

_AVIF_BRANDS = frozenset({b"avif", b"avis"})
_GENERIC_BRANDS = frozenset({b"mif1", b"msf1"})
_HEIF_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"})


def is_photo_name(path: Path) -> bool:
    """Whether a file of this name is looked into; upper and lower case are the same."""
    return path.suffix.lower() in SUFFIXES


def sniff(head: bytes) -> str | None:
    """The name in `FORMATS` that the first bytes of a file tell, whatever its suffix, or None."""
    if head[4:8] == b"ftyp":
        return _sniff_iso(head)
    for name in FORMATS:
        accept = Image.OPEN[name][1]
        if accept is not None and accept(head[:16]) is True:
            return name
    return None


def _sniff_iso(head: bytes) -> str | None:
    main = head[8:12]
    if main in _GENERIC_BRANDS:  # of HEIC and AVIF alike: the compatible brands tell them apart
        end = min(int.from_bytes(head[:4], "big"), len(head))
        compatible = {head[at : at + 4] for at in range(16, end - 3, 4)}
        return "AVIF" if compatible & _AVIF_BRANDS else "HEIF"
    if main in _AVIF_BRANDS:
        return "AVIF"
    return "HEIF" if main in _HEIF_BRANDS else None
