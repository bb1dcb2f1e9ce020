"""Sizes, facts, thumbnails and identity of decoded photos."""

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image

from engine.media.identity import identity
from engine.types import Size
from tests.engine.media.pictures import corners, decoded, encoded, exif_with, noise


def test_pixels_are_what_the_network_needs() -> None:
    pixels = decoded(encoded(noise(900, 700), "JPEG"), max_side_px=300).pixels
    assert pixels.shape == (233, 300, 3)
    assert pixels.dtype == np.uint8
    assert pixels.flags.c_contiguous
    assert pixels.flags.writeable  # torch warns of anything else


@pytest.mark.parametrize(
    ("size", "longest", "wanted"),
    [
        ((640, 480), 320, (320, 240)),
        ((480, 640), 320, (240, 320)),
        ((640, 480), 640, (640, 480)),
        ((64, 48), 768, (64, 48)),  # never enlarged
        ((3000, 2), 300, (300, 1)),
        ((1, 1), 768, (1, 1)),
        ((5000, 3333), 768, (768, 512)),
    ],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_longest_side(
    kind: str, size: tuple[int, int], longest: int, wanted: tuple[int, int]
) -> None:
    photo = decoded(encoded(Image.new("RGB", size), kind), max_side_px=longest)
    assert photo.pixels.shape == (wanted[1], wanted[0], 3)
    assert photo.facts.size == Size(*size)


def test_full_size_on_request() -> None:
    photo = decoded(encoded(noise(4000, 300), "JPEG"))
    assert photo.pixels.shape == (300, 4000, 3)


def test_thumbnail_comes_with_the_photo() -> None:
    data = encoded(noise(900, 600), "PNG")
    photo = decoded(data, max_side_px=400, thumbnail_px=90)
    assert photo.thumbnail is not None
    with Image.open(io.BytesIO(photo.thumbnail)) as thumbnail:
        assert (thumbnail.format, thumbnail.size) == ("JPEG", (90, 60))
    assert decoded(data).thumbnail is None


def test_a_thumbnail_may_be_larger_than_the_photo_that_is_asked_for() -> None:
    photo = decoded(encoded(noise(900, 600), "JPEG"), max_side_px=60, thumbnail_px=300)
    assert photo.pixels.shape == (40, 60, 3)
    with Image.open(io.BytesIO(photo.thumbnail or b"")) as thumbnail:
        assert thumbnail.size == (300, 200)


def test_identity_is_that_of_all_bytes(tmp_path: Path) -> None:
    data = encoded(noise(90, 60), "JPEG") + b"something behind the picture"
    path = tmp_path / "a.jpg"
    path.write_bytes(data)
    wanted = hashlib.blake2b(data, digest_size=16).hexdigest()
    assert identity(path) == decoded(path).identity == decoded(data).identity == wanted
    path.write_bytes(data + b"!")
    assert identity(path) != wanted


def test_identity_reads_large_files_in_chunks(tmp_path: Path) -> None:
    path = tmp_path / "large.tif"
    with path.open("wb") as file:
        file.truncate(40 * 1024**2)
    assert identity(path) == hashlib.blake2b(bytes(40 * 1024**2), digest_size=16).hexdigest()


# --- facts ------------------------------------------------------------------------------------


_Tags = dict[ExifTags.Base, str]


def _taken(tags: _Tags, detail: _Tags | None = None) -> str | None:
    exif = exif_with({int(tag): value for tag, value in tags.items()})
    exif.get_ifd(ExifTags.IFD.Exif).update({int(t): value for t, value in (detail or {}).items()})
    return decoded(encoded(Image.new("RGB", (8, 8)), "JPEG", exif=exif)).facts.taken


_ORIGINAL = ExifTags.Base.DateTimeOriginal
_DIGITIZED = ExifTags.Base.DateTimeDigitized
_CHANGED = ExifTags.Base.DateTime


def test_report_38_the_cameras_local_time_is_kept_as_it_is() -> None:
    zone = {ExifTags.Base.OffsetTimeOriginal: "+09:00", ExifTags.Base.OffsetTime: "-05:00"}
    stamp = {_ORIGINAL: "2018:12:31 23:58:07"}
    assert _taken({}, stamp) == _taken({}, stamp | zone) == "2018-12-31T23:58:07"


def test_report_38_the_capture_counts_before_later_changes() -> None:
    changed = {_CHANGED: "2024:01:01 10:00:00"}
    assert _taken(changed, {_ORIGINAL: "2018:07:31 14:52:07"}) == "2018-07-31T14:52:07"
    assert _taken(changed, {_DIGITIZED: "2019:07:31 14:52:07"}) == "2019-07-31T14:52:07"
    assert _taken(changed) == "2024-01-01T10:00:00"


@pytest.mark.parametrize(
    "stamp", ["0000:00:00 00:00:00", "    :  :     :  :  ", "2018:02:31 10:00:00", "soon", ""]
)
def test_a_time_that_is_none_is_left_out(stamp: str) -> None:
    assert _taken({}, {_ORIGINAL: stamp}) is None


def test_a_clock_that_was_never_set_leaves_the_other_stamps() -> None:
    tags = {_CHANGED: "2024:01:01 10:00"}
    assert _taken(tags, {_ORIGINAL: "0000:00:00 00:00:00"}) == "2024-01-01T10:00:00"


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_every_format_tells_its_time(kind: str) -> None:
    exif = exif_with({_CHANGED: "2024:05:06 07:08:09"})
    photo = decoded(encoded(Image.new("RGB", (16, 16)), kind, exif=exif))
    assert (photo.facts.format, photo.facts.taken) == (kind, "2024-05-06T07:08:09")


def test_time_and_format_of_a_real_heic(photo_sets: Path) -> None:
    path = photo_sets / "odd/pillow_heif/heif_other/arrow.heic"
    facts = decoded(path, max_side_px=64).facts
    assert (facts.format, facts.taken, facts.frames) == ("HEIF", "2018-07-31T14:52:07", 1)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF", "AVIF", "MPO"])
def test_report_38_the_first_frame_of_an_animation_is_taken(kind: str) -> None:
    first, *others = (Image.fromarray(np.roll(corners(), n * 8, axis=1)) for n in range(3))
    photo = decoded(encoded(first, kind, save_all=True, append_images=others))
    assert photo.facts.frames == 3
    assert np.abs(photo.pixels.astype(int) - corners()).mean() < 8


def test_report_38_a_damaged_later_frame_costs_no_photo() -> None:
    first, second = Image.fromarray(corners()), noise(48, 32)
    whole = encoded(first, "GIF", save_all=True, append_images=[second])
    alone = encoded(first, "GIF")
    photo = decoded(whole[: len(alone) + 40])
    assert np.array_equal(photo.pixels, decoded(alone).pixels)


def test_of_several_pictures_in_a_heic_the_primary_one_is_taken(photo_sets: Path) -> None:
    photo = decoded(photo_sets / "odd/pillow_heif/heif/zPug_3.heic")
    assert photo.facts.frames == 3
    assert photo.facts.size == Size(64, 64)
