"""What the network is shown of a query."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.config import FeatureSettings
from engine.errors import BoxError
from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto
from engine.media.facts import MediaFacts
from engine.searching.query import View, decode_query, look, query_pixels, views_of
from engine.types import Box, Picture, PixelArray, Size
from tests.fakes.colour_network import DIM, ColourNetwork
from tests.fakes.inline_pool import InlinePool
from tests.fakes.painted import paint

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
    assert query_pixels(decoded(longest=768), None, View(1), size_px=768).shape == (512, 768, 3)
    assert query_pixels(decoded(longest=1536), None, View(2), size_px=768).shape == (512, 768, 3)


@pytest.mark.parametrize("scale", [0.5, 0.7, 1.0, 1.4, 2.0])
def test_a_box_keeps_its_photos_scale_times_the_querys(scale: float) -> None:
    box = Box(300, 600, 480, 320)
    photo = decoded(longest=round(768 * max(1.0, scale)))
    pixels = query_pixels(photo, box, View(scale), size_px=768)
    assert pixels.shape[1] == pytest.approx(480 * 0.5 * scale, abs=1)
    assert pixels.shape[0] == pytest.approx(320 * 0.5 * scale, abs=1)
    x, y = place(pixels)
    assert x == pytest.approx((300 + 240) / FULL.w, abs=0.01)
    assert y == pytest.approx((600 + 160) / FULL.h, abs=0.01)


def test_a_crop_at_the_photos_scale_is_cut_and_not_resampled() -> None:
    photo = decoded(longest=768)
    pixels = query_pixels(photo, Box(101, 203, 300, 200), View(1), size_px=768)
    np.testing.assert_array_equal(pixels, photo.pixels[102:202, 50:200])


@pytest.mark.parametrize("side", [1, 5, 20, 127])
def test_a_tiny_box_is_enlarged_to_two_cells(side: int) -> None:
    pixels = query_pixels(decoded(longest=768), Box(700, 500, side, side), View(1), size_px=768)
    assert pixels.shape[:2] == (64, 64)


def test_a_narrow_strip_is_not_blown_up() -> None:
    pixels = query_pixels(decoded(longest=768), Box(0, 500, 1536, 4), View(1), size_px=768)
    assert pixels.shape == (2, 768, 3)


@pytest.mark.parametrize(
    "box",
    [Box(1535, 1023, 1, 1), Box(0, 0, 1, 1024), Box(0, 0, 1536, 1024), Box(1530.4, 0, 5.6, 9)],
)
def test_boxes_at_the_border_hold_pixels(box: Box) -> None:
    pixels = query_pixels(decoded(longest=768), box, View(1), size_px=768)
    assert min(pixels.shape[:2]) >= 1
    assert max(pixels.shape[:2]) >= 64
    assert pixels.dtype == np.uint8


def test_a_small_scene_may_be_enlarged_but_not_above_the_librarys_size() -> None:
    small = Size(300, 200)
    facts = MediaFacts(format="PNG", size=small, orientation=1, taken=None, frames=1)
    photo = DecodedPhoto(np.zeros((200, 300, 3), np.uint8), facts, thumbnail=None, identity=None)
    assert query_pixels(photo, None, View(1.5), size_px=768).shape == (300, 450, 3)
    assert query_pixels(photo, None, View(4.0), size_px=768).shape == (512, 768, 3)
    assert query_pixels(photo, None, View(0.5), size_px=768).shape == (100, 150, 3)


def test_a_mirrored_view_is_the_other_way_round() -> None:
    photo = decoded(longest=768)
    plain = query_pixels(photo, None, View(1.0), size_px=768)
    mirrored = query_pixels(photo, None, View(1.0, mirrored=True), size_px=768)
    np.testing.assert_array_equal(mirrored, plain[:, ::-1])


def test_scales_that_are_asked_for_are_taken() -> None:
    for boxed in (True, False):
        assert views_of(boxed=boxed, scales=(0.3, 2.0)) == (View(0.3), View(2.0))
        assert len(views_of(boxed=boxed, scales=None)) == 2


def test_a_box_is_one_part_and_a_scene_is_many() -> None:
    network = ColourNetwork(FeatureSettings(size_px=128))
    pictures = [decoded(longest=64).pixels, decoded(longest=128).pixels]
    descriptor, parts = look(network, pictures, boxed=True)
    assert parts.shape == (1, DIM)
    np.testing.assert_allclose(parts[0], descriptor, atol=1e-6)
    descriptor, parts = look(network, pictures, boxed=False)
    assert len(parts) > 10
    np.testing.assert_allclose(np.linalg.norm(parts, axis=1), 1, atol=1e-5)
    assert np.linalg.norm(descriptor) == pytest.approx(1, abs=1e-5)


# --- decoding -------------------------------------------------------------------------------


@pytest.fixture
def large(tmp_path: Path) -> Picture:
    return Picture(paint(tmp_path / "large.jpg", 1, w=6000, h=4000))


@pytest.mark.parametrize(
    ("box", "scale", "sides"),
    [
        (None, 2.0, [768]),  # as the library's photos are: the same pixels, the same descriptor
        (Box(0, 0, 3000, 2000), 1.0, [1536]),
        (Box(0, 0, 3000, 2000), 2.0, [3072]),
        (Box(100, 100, 200, 200), 1.0, [1536, 1920]),  # 64 of its 200 pixels a side
        (Box(100, 100, 30, 30), 1.0, [1536, 6000]),  # all that there are
    ],
)
def test_as_many_pixels_are_decoded_as_a_crop_needs(
    large: Picture, box: Box | None, scale: float, sides: list[int]
) -> None:
    pool = InlinePool()
    photo = decode_query(large, box, size_px=768, scales=(scale,), pool=pool, ticket=Ticket())
    assert [task.max_side_px for task in pool.tasks] == sides
    pixels = query_pixels(photo, box, View(scale), size_px=768)
    if box is not None:
        wanted = max(768 / 6000 * scale * box.w, 64)
        assert pixels.shape[1] == pytest.approx(wanted, abs=1)


def test_a_box_outside_is_refused_before_anything_is_computed(large: Picture) -> None:
    with pytest.raises(BoxError, match="outside"):
        decode_query(
            large,
            Box(7000, 0, 10, 10),
            size_px=768,
            scales=(1,),
            pool=InlinePool(),
            ticket=Ticket(),
        )
