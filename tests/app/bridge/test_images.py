"""Arrays become images with their colours in place."""

import io
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor, QImage

from app.bridge.images import focus_image, image_from_jpeg, image_from_pixels
from engine.errors import PhotoUnreadableError
from engine.types import FocusMap, PixelArray, Size


def rgb(image: QImage, x: int, y: int) -> tuple[int, int, int]:
    colour = image.pixelColor(x, y)
    return colour.red(), colour.green(), colour.blue()


@pytest.mark.parametrize("width", [1, 2, 3, 5, 64])
def test_pixels_keep_their_places_and_colours(width: int) -> None:
    """Qt aligns rows to four bytes, the engine does not."""
    pixels = np.random.default_rng(1).integers(0, 256, (4, width, 3), dtype=np.uint8)
    image = image_from_pixels(pixels)
    assert (image.width(), image.height()) == (width, 4)
    for y in range(4):
        for x in range(width):
            assert rgb(image, x, y) == tuple(int(one) for one in pixels[y, x])


def test_an_image_owns_its_pixels() -> None:
    pixels: PixelArray = np.full((8, 8, 3), 200, np.uint8)
    image = image_from_pixels(pixels)
    pixels[:] = 0
    assert rgb(image, 3, 3) == (200, 200, 200)


def test_rows_of_a_larger_array_are_taken_as_they_are_seen() -> None:
    whole: PixelArray = np.arange(10 * 10 * 3, dtype=np.uint8).reshape(10, 10, 3)
    part = whole[2:8:2, ::-1]
    assert rgb(image_from_pixels(part), 0, 1) == tuple(int(one) for one in whole[4, 9])


def test_a_jpeg_is_read() -> None:
    written = io.BytesIO()
    Image.new("RGB", (30, 20), (250, 10, 10)).save(written, "JPEG", quality=95)
    image = image_from_jpeg(written.getvalue())
    assert (image.width(), image.height()) == (30, 20)
    assert QColor(*rgb(image, 5, 5)).hue() in {0, 359}


@pytest.mark.parametrize("damaged", [b"", b"no picture"])
def test_damaged_bytes_are_an_error_of_the_engine(damaged: bytes) -> None:
    with pytest.raises(PhotoUnreadableError):
        image_from_jpeg(damaged)


def focus(values: list[list[float]]) -> FocusMap:
    return FocusMap(np.array(values, np.float32), exact=False)


def test_a_focus_map_has_the_shape_of_its_photo_and_is_not_enlarged() -> None:
    values = focus([[0, 1], [0, 0]])
    assert focus_image(values, Size(4000, 3000)).size().toTuple() == (384, 288)
    assert focus_image(values, Size(3000, 4000), longest_px=100).size().toTuple() == (75, 100)
    assert focus_image(values, Size(20, 10)).size().toTuple() == (20, 10)
    assert focus_image(values, Size(9000, 3)).size().toTuple() == (384, 1)


def test_what_did_not_match_stays_as_it_is_and_what_did_is_warm() -> None:
    image = focus_image(focus([[0, 0, 1], [0, 0, 0], [0, 0, 0]]), Size(300, 300))
    assert image.pixelColor(20, 280).alpha() == 0
    warm = image.pixelColor(290, 10)
    assert warm.alpha() > 150
    assert warm.red() > warm.blue()


def test_opacity_and_lightness_rise_with_the_match() -> None:
    image = focus_image(focus([[0, 1]]), Size(256, 1))
    alphas = [image.pixelColor(x, 0).alpha() for x in range(256)]
    assert alphas == sorted(alphas)
    assert len(set(alphas)) > 50  # interpolated, not in steps
    lights = [image.pixelColor(x, 0).lightness() for x in range(100, 256)]
    assert lights[-1] > lights[0]


def test_colours_are_premultiplied() -> None:
    image = focus_image(focus([[0, 0.3, 0.6, 1]]), Size(200, 1))
    assert image.format() is QImage.Format.Format_ARGB32_Premultiplied
    raw = np.frombuffer(image.constBits(), np.uint8).reshape(200, 4)
    assert (raw[:, :3] <= raw[:, 3:]).all()


def test_values_out_of_range_are_no_surprise() -> None:
    image = focus_image(focus([[-1, 7]]), Size(50, 50))
    assert image.pixelColor(0, 0).alpha() == 0
    assert image.pixelColor(49, 49) == focus_image(focus([[0, 1]]), Size(50, 50)).pixelColor(49, 49)


def test_a_footprint_has_no_hard_edges_and_stays_as_warm() -> None:
    values = np.zeros((24, 32), np.float32)
    values[8:16, 8:20] = 0.9

    def steepest_and_warmest(*, exact: bool) -> tuple[int, int]:
        image = focus_image(FocusMap(values, exact=exact), Size(320, 240))
        alphas = [image.pixelColor(x, 120).alpha() for x in range(image.width())]
        return max(abs(one - other) for one, other in pairwise(alphas)), max(alphas)

    hard, soft = steepest_and_warmest(exact=True), steepest_and_warmest(exact=False)
    assert soft[0] < hard[0] / 2
    assert soft[1] == pytest.approx(hard[1], abs=2)
