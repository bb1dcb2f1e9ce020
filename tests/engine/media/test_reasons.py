"""Files that cannot become a photo: one readable line each."""

import os
import pickle
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from engine.errors import PhotoError, PhotoMissingError, PhotoTooLargeError, PhotoUnreadableError
from engine.media import decode as decode_module
from engine.media.reasons import photo_error
from tests.engine.media.pictures import decoded, encoded, noise
from tests.fakes.rights import as_ordinary_user


def _reason(path: Path, kind: type[PhotoError]) -> str:
    with pytest.raises(PhotoError) as caught:
        decoded(path)
    assert type(caught.value) is kind
    assert caught.value.path == path
    return caught.value.reason


def test_a_missing_file(tmp_path: Path) -> None:
    assert _reason(tmp_path / "no.jpg", PhotoMissingError) == "the file is not there"
    (tmp_path / "a.jpg").touch()
    assert _reason(tmp_path / "a.jpg" / "no.jpg", PhotoMissingError) == "the file is not there"


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "folder.jpg").mkdir()
    assert "folder" in _reason(tmp_path / "folder.jpg", PhotoUnreadableError)


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").touch()
    assert _reason(tmp_path / "a.jpg", PhotoUnreadableError) == "the file is empty"


@pytest.mark.parametrize(
    "content", [b"Dear diary,\n", b"BM", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"]
)
def test_a_text_or_a_stub_under_the_name_of_a_picture(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.jpg").write_bytes(content)
    assert "\n" not in _reason(tmp_path / "a.jpg", PhotoUnreadableError)


def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "own" / "a.jpg"
    path.parent.mkdir()
    path.write_bytes(encoded(noise(16, 16), "JPEG"))
    with as_ordinary_user(path.parent):
        path.chmod(0)
        assert "no permission" in _reason(path, PhotoUnreadableError)


@pytest.mark.skipif(sys.platform == "win32", reason="has no named pipes of this kind")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jpg")
    assert "no ordinary file" in _reason(tmp_path / "a.jpg", PhotoUnreadableError)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "BMP", "JPEG2000", "AVIF", "GIF"])
@pytest.mark.parametrize("part", [0.5, 0.9])
def test_a_file_that_was_cut_short_is_no_half_photo(kind: str, part: float) -> None:
    data = encoded(noise(300, 200), kind)
    with pytest.raises(PhotoUnreadableError, match="damaged"):
        decoded(data[: int(len(data) * part)])


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9, 0.99])
def test_a_heic_that_was_cut_short_is_no_half_photo(photo_sets: Path, part: float) -> None:
    data = (photo_sets / "odd/pillow_heif/heif_other/arrow.heic").read_bytes()
    with pytest.raises(PhotoUnreadableError, match="cut short"):
        decoded(data[: int(len(data) * part)])


def test_what_phones_append_to_a_heic_is_let_be(photo_sets: Path) -> None:
    data = (photo_sets / "odd/pillow_heif/heif/RGB_8__29x100.heif").read_bytes()
    trailer = b"SEFH\x6b\0\0\0\x01\0\0\0" + bytes(range(200)) + b"SEFT"
    assert np.array_equal(decoded(data).pixels, decoded(data + trailer).pixels)


@pytest.mark.parametrize(
    "raised",
    [
        TypeError("'NoneType' object is not subscriptable"),
        IndexError("index out of range"),
        SyntaxError("not a TIFF file (header b'' not valid)"),
        EOFError(),
        struct.error("unpack requires a buffer of 4 bytes"),
        ZeroDivisionError("division by zero"),
        RecursionError("maximum recursion depth exceeded"),
        AssertionError(),
        OverflowError("int too large"),
        ValueError("bad\nthing\n" * 40),
        OSError("broken data stream when reading image file"),
        OSError(5, "Input/output error"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ],
    ids=lambda raised: type(raised).__name__,
)
def test_whatever_a_decoder_raises_is_one_readable_line(
    raised: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(image: ImageFile.ImageFile) -> None:
        raise raised

    monkeypatch.setattr(ImageFile.ImageFile, "load", stumble)
    with pytest.raises(PhotoUnreadableError) as caught:
        decoded(encoded(noise(16, 16), "PNG"))
    assert 10 < len(caught.value.reason) < 180
    assert "\n" not in caught.value.reason
    assert type(raised).__name__ not in caught.value.reason


def test_want_of_memory_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(decode_module, "plain", stumble)
    with pytest.raises(PhotoTooLargeError, match="memory"):
        decoded(encoded(noise(16, 16), "PNG"))


def test_a_drive_that_went_away_is_a_missing_file() -> None:
    path = Path("/mnt/nas/a.jpg")
    for number in (2, 20, 107, 116):
        error = photo_error(OSError(number, os.strerror(number)), path)
        assert type(error) is PhotoMissingError, os.strerror(number)


def test_errors_travel_between_processes_whole() -> None:
    error = PhotoUnreadableError("the file is damaged", path=Path("a.jpg"))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.reason, again.path) == (type(error), error.reason, error.path)


def test_complaints_of_the_decoders_do_not_leak(tmp_path: Path) -> None:
    """Warnings are errors in this test run: one that leaked would fail it."""
    data = encoded(noise(64, 48), "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x09" + b"\x01\x12" * 9)
    palette = noise(64, 48).quantize(8)
    for picture in (
        data,
        encoded(palette, "PNG", transparency=b"\0\xff"),
        encoded(Image.new("L", (9_500, 9_500)), "PNG"),  # over Pillow's own warning
    ):
        decoded(picture, max_side_px=32)
