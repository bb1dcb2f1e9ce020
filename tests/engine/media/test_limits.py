"""Pictures that are, or claim to be, larger than memory."""

import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from engine.config import DecodeSettings
from engine.errors import PhotoError, PhotoTooLargeError
from engine.media.memory import pixel_limit
from tests.engine.media.pictures import corners, decoded, encoded, png, png_chunk

_SIDE = 65_000


def _patched(data: bytes, at: int, values: bytes) -> bytes:
    return data[:at] + values + data[at + len(values) :]


def _jpeg(**how: object) -> bytes:
    data = encoded(Image.fromarray(corners()), "JPEG", **how)
    frame = data.index(b"\xff\xc2" if how else b"\xff\xc0")
    return _patched(data, frame + 5, struct.pack(">HH", _SIDE, _SIDE))


def _png() -> bytes:
    data = encoded(Image.fromarray(corners()), "PNG")
    header = struct.pack(">II", _SIDE, _SIDE) + data[24:29]
    return data[:8] + png_chunk(b"IHDR", header) + data[33:]


def _gif() -> bytes:
    data = encoded(Image.fromarray(corners()), "GIF")
    return _patched(data, 6, struct.pack("<HH", _SIDE, _SIDE))


def _gif_frame() -> bytes:
    """A small screen with one huge frame."""
    data = encoded(Image.fromarray(corners()), "GIF")
    return _patched(data, data.index(b"\x2c\0\0\0\0") + 5, struct.pack("<HH", _SIDE, _SIDE))


def _bmp() -> bytes:
    data = encoded(Image.fromarray(corners()), "BMP")
    return _patched(data, 18, struct.pack("<ii", _SIDE, _SIDE))


def _tiff(**how: object) -> bytes:
    data = encoded(Image.fromarray(corners()), "TIFF", **how)
    for tag, now in ((256, 48), (257, 32)):
        fields = [struct.pack("<HHII", tag, kind, 1, now) for kind in (3, 4)]
        at = max(data.find(field) for field in fields)
        assert at > 0
        data = _patched(data, at + 8, struct.pack("<I", _SIDE))
    return data


def _webp() -> bytes:
    frames = [Image.fromarray(corners()), Image.fromarray(corners()[::-1].copy())]
    data = encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:])
    assert data[12:16] == b"VP8X"
    return _patched(data, 24, b"\xfe\x3f\0" * 2)  # the format ends at 16,383 pixels


def _jp2() -> bytes:
    data = encoded(Image.fromarray(corners()), "JPEG2000")
    data = _patched(data, data.index(b"ihdr") + 4, struct.pack(">II", _SIDE, _SIDE))
    return _patched(data, data.index(b"\xff\x51") + 6, struct.pack(">II", _SIDE, _SIDE))


def _avif() -> bytes:
    data = encoded(Image.fromarray(corners()), "AVIF")
    return _patched(data, data.index(b"ispe") + 8, struct.pack(">II", _SIDE, _SIDE))


def _psd() -> bytes:
    header = b"8BPS" + struct.pack(">H6xHIIHH", 1, 3, 30_000, 30_000, 8, 3)
    return header + bytes(4) * 3 + b"\0\0" + bytes(100)


_CLAIMS: dict[str, Callable[[], bytes]] = {
    "baseline.jpg": _jpeg,
    "progressive.jpg": lambda: _jpeg(progressive=True),
    "a.png": _png,
    "screen.gif": _gif,
    "frame.gif": _gif_frame,
    "a.bmp": _bmp,
    "raw.tif": _tiff,
    "deflate.tif": lambda: _tiff(compression="tiff_adobe_deflate"),
    "a.webp": _webp,
    "a.jp2": _jp2,
    "a.avif": _avif,
    "a.psd": _psd,
}

_MEASURE = """
import json, resource, sys
from pathlib import Path
from engine.errors import PhotoError
from engine.media.decode import decode
from engine.types import Picture
for path in sys.argv[1:]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for side in (768, None):
        try:
            decode(Picture(path=Path(path)), max_side_px=side, max_pixels=200_000_000)
            said = "decoded"
        except PhotoError as error:
            said = error.reason
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(json.dumps([Path(path).name, grown / 1024, said]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is measured by getrusage")
def test_report_12_a_claim_of_65000_by_65000_pixels_costs_no_memory(tmp_path: Path) -> None:
    for name, make in _CLAIMS.items():
        (tmp_path / name).write_bytes(make())
    files = sorted(str(path) for path in tmp_path.iterdir())
    command = [sys.executable, "-W", "error", "-c", _MEASURE, *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 2 * len(files)
    assert [line for line in lines if line[1] > 24] == []
    assert [line for line in lines if line[2] == "decoded"] == []


@pytest.mark.parametrize("name", _CLAIMS)
def test_report_12_each_claim_gets_a_readable_reason(name: str) -> None:
    with pytest.raises(PhotoError) as caught:
        decoded(_CLAIMS[name](), max_side_px=768)
    assert "\n" not in caught.value.reason
    assert "Error" not in caught.value.reason


def test_report_12_the_limit_is_checked_before_the_pixels_are_read() -> None:
    """Nothing but a header: were a pixel read, the reason would be another."""
    header = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", b"")
    with pytest.raises(PhotoTooLargeError, match="20,000 × 20,000 pixels"):
        decoded(data)


def test_report_12_the_limit_follows_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def limit(bytes_free: int, workers: int = 1) -> int:
        memory = psutil.virtual_memory()._replace(available=bytes_free)
        monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
        return pixel_limit(DecodeSettings(workers=workers, max_pixels=200_000_000))

    assert limit(64 * 1024**3) == 200_000_000
    assert limit(1024**3) == 1024**3 // 48
    assert limit(1024**3, workers=4) == 1024**3 // 48 // 4
    assert limit(0) == 0


def test_report_13_a_huge_jpeg_is_decoded_at_a_fraction() -> None:
    image = Image.new("RGB", (24_000, 1_000), (90, 120, 150))
    image.paste((200, 40, 40), (12_000, 0, 24_000, 1_000))
    photo = decoded(encoded(image, "JPEG"), max_side_px=768, max_pixels=4_000_000)
    assert photo.facts.size.w == 24_000
    assert photo.pixels.shape == (32, 768, 3)
    assert np.abs(photo.pixels[16, 100].astype(int) - (90, 120, 150)).max() < 4
    assert np.abs(photo.pixels[16, 700].astype(int) - (200, 40, 40)).max() < 4


def test_report_13_what_has_no_reduced_decode_is_skipped_with_the_reason() -> None:
    image = Image.new("RGB", (3_000, 2_000))
    for kind, how in (("PNG", {}), ("WEBP", {}), ("TIFF", {}), ("JPEG", {"progressive": True})):
        with pytest.raises(PhotoTooLargeError, match="larger than the limit of 4 megapixels"):
            decoded(encoded(image, kind, **how), max_side_px=768, max_pixels=4_000_000)


def test_report_13_a_jpeg_at_full_size_is_bound_by_the_limit() -> None:
    data = encoded(Image.new("RGB", (3_000, 2_000)), "JPEG")
    with pytest.raises(PhotoTooLargeError):
        decoded(data, max_pixels=4_000_000)
    assert decoded(data, max_pixels=6_000_000).pixels.shape == (2_000, 3_000, 3)


def test_report_13_the_guard_of_the_library_stays_on() -> None:
    before = Image.MAX_IMAGE_PIXELS
    decoded(encoded(Image.new("L", (12_000, 9_000)), "JPEG"), max_side_px=64, max_pixels=9_000_000)
    assert before == Image.MAX_IMAGE_PIXELS
    assert before is not None
    assert before < 100_000_000


def test_a_flat_picture_of_few_bytes_is_no_bomb() -> None:
    """White paper compresses a thousandfold; that alone is no reason."""
    rows = (b"\0" + b"\xff" * 500) * 4_000
    photo = decoded(png(4_000, 4_000, bits=1, colour=0, rows=rows), max_side_px=100)
    assert photo.pixels.min() == 255
    jpeg = encoded(Image.new("L", (5_000, 5_000), 255), "JPEG")
    assert decoded(jpeg, max_side_px=100).pixels.min() == 255


def test_a_text_that_unpacks_for_ever_is_refused() -> None:
    bomb = zlib.compress(bytes(80 * 1024**2), 9)
    data = encoded(Image.fromarray(corners()), "PNG")
    chunk = png_chunk(b"zTXt", b"Comment\0\0" + bomb)
    behind_header = data.index(b"IDAT") - 4
    with pytest.raises(PhotoError):
        decoded(data[:behind_header] + chunk + data[behind_header:])
