"""One coordinate space: the upright photo."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image

from engine.types import PixelArray, Size
from tests.engine.media.pictures import (
    corners,
    decoded,
    difference,
    encoded,
    exif_orientation,
    exif_with,
    png_chunk,
)

# How the upright picture is stored, for each EXIF orientation (CIPA DC-008, table 6).
_STORED: dict[int, Callable[[PixelArray], PixelArray]] = {
    1: lambda upright: upright,
    2: lambda upright: upright[:, ::-1],
    3: lambda upright: upright[::-1, ::-1],
    4: lambda upright: upright[::-1],
    5: lambda upright: upright.transpose(1, 0, 2),
    6: lambda upright: np.rot90(upright, 1),
    7: lambda upright: upright[::-1, ::-1].transpose(1, 0, 2),
    8: lambda upright: np.rot90(upright, -1),
}
_LOSSLESS: dict[str, dict[str, object]] = {
    "PNG": {},
    "WEBP": {"lossless": True},
    "TIFF": {},
    "JPEG": {"quality": 98, "subsampling": 0},
    "AVIF": {"quality": 98, "subsampling": "4:4:4"},
}


def _stored(orientation: int) -> Image.Image:
    return Image.fromarray(np.ascontiguousarray(_STORED[orientation](corners())))


@pytest.mark.parametrize("kind", _LOSSLESS)
@pytest.mark.parametrize("orientation", range(1, 9))
def test_report_35_all_eight_orientations_become_upright(kind: str, orientation: int) -> None:
    data = encoded(
        _stored(orientation), kind, exif=exif_orientation(orientation), **_LOSSLESS[kind]
    )
    photo = decoded(data, thumbnail_px=48)
    assert difference(photo.pixels, corners()) < 3
    assert photo.facts.size == Size(48, 32)
    assert photo.facts.orientation == orientation
    assert photo.thumbnail is not None
    assert difference(decoded(photo.thumbnail).pixels, corners()) < 12


@pytest.mark.parametrize("orientation", range(1, 9))
def test_report_35_size_is_upright_when_the_decode_was_reduced(orientation: int) -> None:
    upright = np.asarray(Image.fromarray(corners()).resize((4800, 3200), Image.Resampling.NEAREST))
    stored = Image.fromarray(np.ascontiguousarray(_STORED[orientation](upright)))
    photo = decoded(encoded(stored, "JPEG", exif=exif_orientation(orientation)), max_side_px=48)
    assert photo.facts.size == Size(4800, 3200)
    assert photo.pixels.shape == (32, 48, 3)
    assert difference(photo.pixels, corners()) < 8


def test_report_35_photos_of_every_orientation_are_the_same_photo(photo_sets: Path) -> None:
    for series in ("Landscape", "Portrait"):
        folder = photo_sets / "odd" / "exif-orientation-examples"
        turned = [decoded(folder / f"{series}_{n}.jpg", max_side_px=200) for n in range(9)]
        for photo in turned[1:]:
            assert photo.facts.size == turned[0].facts.size
            # the generator wrote the number of the orientation into each picture
            assert difference(photo.pixels, turned[0].pixels) < 6


@pytest.mark.parametrize("value", [0, 9, 255])
def test_an_orientation_that_is_none_turns_nothing(value: int) -> None:
    photo = decoded(encoded(_stored(1), "PNG", exif=exif_orientation(value)))
    assert photo.facts.orientation == 1
    assert np.array_equal(photo.pixels, corners())


def test_orientation_behind_the_pixels_of_a_png_counts() -> None:
    whole = encoded(_stored(6), "PNG")
    exif = exif_orientation(6).tobytes().removeprefix(b"Exif\0\0")
    end = whole.index(b"IEND") - 4
    photo = decoded(whole[:end] + png_chunk(b"eXIf", exif) + whole[end:])
    assert np.array_equal(photo.pixels, corners())


def test_orientation_in_the_old_png_text_counts() -> None:
    exif = exif_orientation(8).tobytes()
    text = f"\nexif\n{len(exif):8}\n{exif.hex()}\n".encode()
    chunk = png_chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(text))
    whole = encoded(_stored(8), "PNG")
    behind_header = whole.index(b"IDAT") - 4
    photo = decoded(whole[:behind_header] + chunk + whole[behind_header:])
    assert np.array_equal(photo.pixels, corners())


@pytest.mark.parametrize("exif", [b"", b"M", b"MM\0*", b"II*\0\xff\xff\xff\xff", b"garbage" * 20])
def test_damaged_exif_costs_no_photo(exif: bytes) -> None:
    data = encoded(_stored(1), "JPEG", exif=b"Exif\0\0" + exif, quality=98, subsampling=0)
    photo = decoded(data)
    assert difference(photo.pixels, corners()) < 3
    assert photo.facts.taken is None


# --- containers that turn by themselves -------------------------------------------------------


def _avif(*, container: int, exif: int) -> bytes:
    """An AVIF that the container turns by one orientation and EXIF would by another (0 = no tag).

    Pillow never writes the tag into an AVIF, so another one is written and renamed.
    """
    tags = exif_with({ExifTags.Base.ResolutionUnit: exif} if exif else {})
    tags[ExifTags.Base.Orientation] = container
    data = encoded(_stored(container), "AVIF", exif=tags, **_LOSSLESS["AVIF"])
    named, renamed = (struct.pack(">HHIH", tag, 3, 1, exif) for tag in (0x0128, 0x0112))
    named_little, renamed_little = (struct.pack("<HHIH", t, 3, 1, exif) for t in (0x0128, 0x0112))
    if not exif:
        return data
    assert named in data or named_little in data
    return data.replace(named, renamed).replace(named_little, renamed_little)


@pytest.mark.parametrize(("container", "exif"), [(6, 0), (1, 6), (6, 6), (8, 3)])
def test_report_36_avif_is_turned_by_its_container_alone(container: int, exif: int) -> None:
    photo = decoded(_avif(container=container, exif=exif))
    assert difference(photo.pixels, corners()) < 3
    assert photo.facts.size == Size(48, 32)


def _heic(photo_sets: Path, *, irot: bool, exif: bool) -> bytes:
    """A photo of an upright arrow that a phone stored lying, with irot and EXIF both."""
    data = (photo_sets / "odd/pillow_heif/heif_other/arrow.heic").read_bytes()
    turn = data.index(b"irot") + 4
    tag = data.index(struct.pack(">HHIH", 0x0112, 3, 1, 6))
    assert data[turn] == 3  # times 90 degrees anticlockwise
    if not irot:
        data = data[:turn] + b"\0" + data[turn + 1 :]
    return data if exif else data[: tag + 9] + b"\x01" + data[tag + 10 :]


def test_report_36_heic_is_turned_once_whoever_says_so(photo_sets: Path) -> None:
    both = decoded(_heic(photo_sets, irot=True, exif=True), max_side_px=300)
    irot_only = decoded(_heic(photo_sets, irot=True, exif=False), max_side_px=300)
    neither = decoded(_heic(photo_sets, irot=False, exif=False), max_side_px=300)
    assert both.facts.size == irot_only.facts.size == Size(3024, 4032)
    assert np.array_equal(both.pixels, irot_only.pixels)
    assert neither.facts.size == Size(4032, 3024)
    assert difference(np.rot90(neither.pixels, -1), both.pixels) < 1
    # The arrow points up: its ink is wide in the upper half, narrow in the lower one.
    ink = both.pixels.mean(axis=2) < 70
    assert np.ptp(np.nonzero(ink[:150])[1]) > 1.5 * np.ptp(np.nonzero(ink[200:])[1])


def test_report_36_exif_alone_turns_no_heic(photo_sets: Path) -> None:
    """It only tells how the camera was held: ISO/IEC 23008-12, and what phones and browsers do."""
    exif_only = decoded(_heic(photo_sets, irot=False, exif=True), max_side_px=300)
    neither = decoded(_heic(photo_sets, irot=False, exif=False), max_side_px=300)
    assert exif_only.facts.size == Size(4032, 3024)
    assert np.array_equal(exif_only.pixels, neither.pixels)
