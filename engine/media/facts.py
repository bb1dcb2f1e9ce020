"""What a file says of its picture beside the pixels."""

import logging
import re
from dataclasses import dataclass
from datetime import datetime

from PIL import ExifTags, Image, ImageFile

from engine.types import Size

log = logging.getLogger(__name__)

_STAMP = re.compile(r"(\d{4})[:/.-](\d\d)[:/.-](\d\d)[ T](\d\d):(\d\d)(?::(\d\d))?")
_STAMP_TAGS = (ExifTags.Base.DateTimeOriginal, ExifTags.Base.DateTimeDigitized)


@dataclass(frozen=True, slots=True)
class MediaFacts:
    """``format``: Pillow's name. ``size``: of the whole upright photo. ``orientation``: what was
    turned according to EXIF, 1 to 8; 1 = nothing (HEIC and AVIF turn by their container alone).
    ``taken``: local time as the camera wrote it, ISO 8601 to the second without zone, or None.
    ``frames``: how many pictures the file holds; the first, for HEIC the primary one, is used.
    """

    format: str
    size: Size
    orientation: int
    taken: str | None
    frames: int


def read_exif(image: ImageFile.ImageFile) -> Image.Exif:
    """EXIF of a picture, empty where it is missing or damaged.

    For PNG it may lie behind the pixels: read it after the picture was loaded.
    """
    try:
        return image.getexif()
    except Exception as error:  # noqa: BLE001  (a damaged tag is no damaged photo)
        log.debug("left EXIF aside: %s", error)
        return Image.Exif()


def orientation_of(image: ImageFile.ImageFile, exif: Image.Exif) -> int:
    """How the loaded pixels must be turned, as an EXIF orientation from 1 to 8.

    In HEIC only the container's transformations count, and libheif has applied them: "rotation
    metadata … is ignored in the displaying process" (ISO/IEC 23008-12, section 6.5.10 and annex
    A). The same holds for AVIF, where Pillow hands the container's transformation over as EXIF.
    """
    if image.format == "HEIF":
        return 1
    if image.format == "AVIF" and not image.info.get("exif"):
        return 1  # Pillow would take it from XMP
    value = exif.get(ExifTags.Base.Orientation)
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def taken_at(exif: Image.Exif) -> str | None:
    """Capture time, else the time of digitising, else of the file's last change by a camera."""
    try:
        detail = exif.get_ifd(ExifTags.IFD.Exif)
        stamps = [*(detail.get(tag) for tag in _STAMP_TAGS), exif.get(ExifTags.Base.DateTime)]
    except Exception as error:  # noqa: BLE001
        log.debug("left the capture time aside: %s", error)
        return None
    return next((time for time in map(_iso_time, stamps) if time), None)


def _iso_time(stamp: object) -> str | None:
    if isinstance(stamp, bytes):
        stamp = stamp.decode("ascii", "replace")
    found = _STAMP.match(stamp.strip()) if isinstance(stamp, str) else None
    if not found:
        return None
    try:
        return datetime(*(int(part or 0) for part in found.groups())).isoformat()  # type: ignore[arg-type]
    except ValueError:  # zeros where the camera's clock was never set
        return None


def frames_of(image: ImageFile.ImageFile) -> int:
    """How many pictures the file holds, at least 1. May move the picture to another frame."""
    try:
        return max(1, int(getattr(image, "n_frames", 1)))
    except Exception as error:  # noqa: BLE001  (a later frame is damaged; the first one is fine)
        log.debug("could not count the frames: %s", error)
        return 1
