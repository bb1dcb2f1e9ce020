"""Whatever colours a file holds, the pixels are sRGB."""

import io
import struct

import numpy as np
import pytest
from PIL import Image

from tests.engine.media import profiles
from tests.engine.media.pictures import corners, decoded, difference, encoded, noise, png

_MUTED = (180, 90, 60)
_EXACT: dict[str, dict[str, object]] = {
    "PNG": {},
    "TIFF": {},
    "WEBP": {"lossless": True},
    "JPEG": {"quality": 100, "subsampling": 0},
}


def _flat(mode: str, colour: object) -> Image.Image:
    return Image.new(mode, (24, 16), colour)  # type: ignore[arg-type]


def _colour(data: bytes) -> list[int]:
    pixels = decoded(data).pixels
    assert pixels.shape == (16, 24, 3)
    return [int(level) for level in pixels[8, 12]]


def _near(found: list[int], wanted: list[int] | tuple[int, ...], within: int = 2) -> bool:
    return max(abs(f - w) for f, w in zip(found, wanted, strict=True)) <= within


# --- profiles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", _EXACT)
def test_report_37_display_p3_is_not_washed_out(kind: str) -> None:
    levels = profiles.srgb_to_p3(_MUTED)
    assert not _near(levels, _MUTED, 8)
    image = _flat("RGB", tuple(levels))
    data = encoded(image, kind, icc_profile=profiles.display_p3(), **_EXACT[kind])
    assert _near(_colour(data), _MUTED)


def test_report_37_the_thumbnail_is_converted_too() -> None:
    image = _flat("RGB", tuple(profiles.srgb_to_p3(_MUTED)))
    data = encoded(image, "PNG", icc_profile=profiles.display_p3())
    thumbnail = decoded(data, thumbnail_px=24).thumbnail
    assert thumbnail is not None
    assert "icc_profile" not in Image.open(io.BytesIO(thumbnail)).info
    assert _near(_colour(thumbnail), _MUTED, 4)


def test_report_37_cmyk_of_photoshop_is_not_inverted() -> None:
    assert _near(_colour(encoded(_flat("CMYK", (0, 0, 0, 0)), "JPEG")), (255, 255, 255))
    assert _near(_colour(encoded(_flat("CMYK", (0, 0, 0, 255)), "JPEG")), (0, 0, 0))
    assert _near(_colour(encoded(_flat("CMYK", (0, 230, 230, 0)), "JPEG")), (255, 25, 25), 4)
    assert _near(_colour(encoded(_flat("CMYK", (0, 230, 230, 0)), "TIFF")), (255, 25, 25), 4)


def test_report_37_ycck_is_not_inverted() -> None:
    """Adobe stores the inks inverted and turns the first three into YCbCr: here by hand."""
    inks, black = (20, 200, 120), 30
    as_ycc = Image.new("RGB", (24, 16), inks).convert("YCbCr").getpixel((0, 0))
    assert isinstance(as_ycc, tuple)
    stored = [int(v) for v in as_ycc] + [255 - black]
    data = encoded(_flat("CMYK", tuple(255 - v for v in stored)), "JPEG", quality=100)
    transform = data.index(b"Adobe") + 11
    assert data[transform] == 0
    data = data[:transform] + b"\x02" + data[transform + 1 :]
    plain = _flat("CMYK", (*inks, black)).convert("RGB").getpixel((0, 0))
    assert isinstance(plain, tuple)
    assert _near(_colour(data), [int(v) for v in plain], 4)


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_report_37_cmyk_goes_through_its_profile(kind: str) -> None:
    profile = profiles.cmyk_print()
    wanted = profiles.lab_to_srgb(profiles.CYAN_INK_LAB)
    cyan = encoded(_flat("CMYK", (255, 0, 0, 0)), kind, icc_profile=profile)
    paper = encoded(_flat("CMYK", (0, 0, 0, 0)), kind, icc_profile=profile)
    assert _near(_colour(cyan), wanted, 6)
    assert _near(_colour(paper), (255, 255, 255))


def test_report_37_grey_goes_through_its_profile() -> None:
    data = encoded(_flat("L", 128), "PNG", icc_profile=profiles.grey_gamma(1.0))
    assert _near(_colour(data), (188, 188, 188))  # linear 0.5 in the curve of sRGB


def test_a_grey_picture_may_carry_a_colour_profile() -> None:
    data = encoded(_flat("L", 128), "PNG", icc_profile=profiles.display_p3())
    assert _near(_colour(data), (128, 128, 128))


@pytest.mark.parametrize(
    "profile",
    [b"no profile at all", profiles.display_p3()[:150], profiles.grey_gamma(1.0), b"\0" * 200],
    ids=["text", "cut short", "of other channels", "zeros"],
)
def test_a_useless_profile_is_left_aside(profile: bytes) -> None:
    data = encoded(_flat("RGB", _MUTED), "PNG", icc_profile=profile)
    assert _near(_colour(data), _MUTED, 0)


def test_transparent_pixels_are_converted_as_well() -> None:
    levels = profiles.srgb_to_p3(_MUTED)
    data = encoded(_flat("RGBA", (*levels, 255)), "PNG", icc_profile=profiles.display_p3())
    assert _near(_colour(data), _MUTED)


# --- modes ------------------------------------------------------------------------------------


def _palette(transparency: bytes | None) -> bytes:
    image = _flat("RGB", _MUTED).quantize(4)
    return encoded(image, "PNG", **({"transparency": transparency} if transparency else {}))


def _deep_grey(level: int) -> bytes:
    return encoded(Image.fromarray(np.full((16, 24), level, np.uint16)), "PNG")


def _deep_rgb(levels: tuple[int, ...]) -> bytes:
    colour = {3: 2, 4: 6}[len(levels)]
    row = b"\0" + struct.pack(f">{len(levels)}H", *levels) * 24
    return png(24, 16, bits=16, colour=colour, rows=row * 16)


def _tiff(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    return encoded(Image.fromarray(values), "TIFF")


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        pytest.param(encoded(_flat("1", 1), "PNG"), (255, 255, 255), id="1 bit"),
        pytest.param(encoded(_flat("L", 77), "PNG"), (77, 77, 77), id="grey"),
        pytest.param(encoded(_flat("LA", (0, 51)), "PNG"), (204, 204, 204), id="grey + alpha"),
        pytest.param(encoded(_flat("RGBA", (255, 0, 0, 0)), "PNG"), (255, 255, 255), id="clear"),
        pytest.param(encoded(_flat("RGBA", (255, 0, 0, 51)), "PNG"), (255, 204, 204), id="alpha"),
        pytest.param(encoded(_flat("RGBA", (255, 0, 0, 51)), "WEBP"), (255, 204, 204), id="webp"),
        pytest.param(encoded(_flat("L", 7), "PNG", transparency=7), (255, 255, 255), id="grey key"),
        pytest.param(
            encoded(_flat("RGB", _MUTED), "PNG", transparency=_MUTED), (255, 255, 255), id="key"
        ),
        pytest.param(_palette(None), _MUTED, id="palette"),
        pytest.param(_palette(b"\0\0\0\0"), (255, 255, 255), id="palette + alpha"),
        pytest.param(_deep_grey(0x8080), (128, 128, 128), id="16 bit grey"),
        pytest.param(_deep_grey(65_535), (255, 255, 255), id="16 bit white"),
        pytest.param(_deep_rgb((0xFFFF, 0x8080, 0x0101)), (255, 128, 1), id="16 bit RGB"),
        pytest.param(_deep_rgb((0xFFFF, 0, 0, 0x3333)), (255, 204, 204), id="16 bit RGBA"),
        pytest.param(encoded(_flat("CMYK", (0, 0, 0, 128)), "TIFF"), (127,) * 3, id="CMYK"),
        pytest.param(_tiff(np.full((16, 24), 0.5, np.float32)), (128,) * 3, id="float to 1"),
        pytest.param(_tiff(np.full((16, 24), 100, np.float32)), (100,) * 3, id="float to 255"),
        pytest.param(_tiff(np.full((16, 24), 200, np.int32)), (200,) * 3, id="32 bit to 255"),
        pytest.param(_tiff(np.full((16, 24), 32_896, np.int32)), (128,) * 3, id="32 bit to 65535"),
        pytest.param(_tiff(np.full((16, 24), 9e6, np.float32)), (255,) * 3, id="float, bright"),
        pytest.param(_tiff(np.full((16, 24), np.nan, np.float32)), (0,) * 3, id="no numbers"),
        pytest.param(encoded(_flat("RGB", _MUTED).convert("LAB"), "TIFF"), _MUTED, id="Lab"),
    ],
)
def test_every_mode_becomes_srgb(data: bytes, wanted: tuple[int, int, int]) -> None:
    assert _near(_colour(data), wanted, 3)


def test_edges_of_transparency_do_not_bleed_when_reduced() -> None:
    """Hidden colours under clear pixels must not shine through."""
    pixels = np.zeros((64, 64, 4), np.uint8)
    pixels[..., 1] = 255  # green, where it cannot be seen
    pixels[:, ::2] = (255, 255, 255, 255)
    photo = decoded(encoded(Image.fromarray(pixels), "PNG"), max_side_px=16)
    assert photo.pixels.min() >= 253


def test_reduction_averages_rather_than_picks() -> None:
    stripes = np.zeros((512, 512, 3), np.uint8)
    stripes[:, ::2] = 255
    photo = decoded(encoded(Image.fromarray(stripes), "PNG"), max_side_px=64)
    assert np.abs(photo.pixels.astype(int) - 128).max() <= 3


def test_a_reduced_jpeg_looks_like_the_whole_one() -> None:
    image = noise(3200, 2400)
    small = decoded(encoded(image, "JPEG", quality=95), max_side_px=320)
    same = decoded(encoded(image, "PNG"), max_side_px=320)
    assert difference(small.pixels, same.pixels) < 2


def test_corners_keep_their_colours() -> None:
    assert np.array_equal(decoded(encoded(Image.fromarray(corners()), "PNG")).pixels, corners())
