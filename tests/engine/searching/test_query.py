"""What the network is shown of a query."""

import numpy as np
import pytest
from PIL import Image

from engine.media.decode import DecodedPhoto
from engine.media.facts import MediaFacts
from engine.searching.query import query_pixels
from engine.types import Box, PixelArray, Size

FULL = Size(1536, 1024)


def decoded(*, longest: int) -> DecodedPhoto:
    """A photo whose red and green say where a pixel lies, decoded at some size."""
    x = np.linspace(0, 255, FULL.w)[None, :].repeat(FULL.h, axis=0)
    y = np.linspace(0, 255, FULL.h)[:, None].repeat(FULL.w, axis=1)
    pixels = np.stack([x, y, np.zeros_like(x)], axis=2).round().astype(np.uint8)
    image = Image.fromarray(pixels)
    image.thumbnail((longest, longest))
    facts = MediaFacts(format="PNG", size=FULL, orientation=1, taken=None, frames=1)
    return DecodedPhoto(np.asarray(image), facts, thumbnail=None, identity=None)


def place(pixels: PixelArray) -> tuple[float, float]:
    """Where in the full photo the middle of these pixels comes from, as fractions."""
    return float(pixels[..., 0].mean()) / 255, float(pixels[..., 1].mean()) / 255


def test_a_whole_photo_is_shown_at_the_librarys_size() -> None:
    assert query_pixels(decoded(longest=768), None, size_px=768, scale=1).shape == (512, 768, 3)
    assert query_pixels(decoded(longest=1536), None, size_px=768, scale=2).shape == (512, 768, 3)


@pytest.mark.parametrize("scale", [0.5, 0.7, 1.0, 1.4, 2.0])
def test_a_box_keeps_its_photos_scale_times_the_querys(scale: float) -> None:
    box = Box(300, 600, 480, 240)
    photo = decoded(longest=round(768 * max(1.0, scale)))
    pixels = query_pixels(photo, box, size_px=768, scale=scale)
    assert pixels.shape[1] == pytest.approx(480 * 0.5 * scale, abs=1)
    assert pixels.shape[0] == pytest.approx(240 * 0.5 * scale, abs=1)
    x, y = place(pixels)
    assert x == pytest.approx((300 + 240) / FULL.w, abs=0.01)
    assert y == pytest.approx((600 + 120) / FULL.h, abs=0.01)


def test_a_crop_at_the_photos_scale_is_cut_and_not_resampled() -> None:
    photo = decoded(longest=768)
    pixels = query_pixels(photo, Box(101, 203, 300, 200), size_px=768, scale=1)
    np.testing.assert_array_equal(pixels, photo.pixels[102:202, 50:200])


@pytest.mark.parametrize("side", [1, 5, 20])
def test_a_tiny_box_is_enlarged_to_one_cell(side: int) -> None:
    pixels = query_pixels(decoded(longest=768), Box(700, 500, side, side), size_px=768, scale=1)
    assert 32 <= min(pixels.shape[:2]) <= 64


@pytest.mark.parametrize(
    "box",
    [Box(1535, 1023, 1, 1), Box(0, 0, 1, 1024), Box(0, 0, 1536, 1024), Box(1530.4, 0, 5.6, 9)],
)
def test_boxes_at_the_border_hold_pixels(box: Box) -> None:
    pixels = query_pixels(decoded(longest=768), box, size_px=768, scale=1)
    assert min(pixels.shape[:2]) >= 32
    assert pixels.dtype == np.uint8
