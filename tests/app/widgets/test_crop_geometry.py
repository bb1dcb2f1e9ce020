"""The arithmetic of boxes: always whole pixels inside the photo."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.widgets.crop_geometry import (
    FITTED,
    HANDLES,
    LARGEST_ZOOM,
    SMALLEST_BOX_PX,
    Handle,
    Zoom,
    drawn,
    fitting,
    grabbed,
    handle_points,
    middle,
    moved,
    place,
    resized,
    zoomed,
)
from engine.errors import BoxError
from engine.types import Box, Size

PHOTO = Size(400, 300)

sizes = st.builds(Size, st.integers(1, 9000), st.integers(1, 9000))
steps = st.tuples(st.floats(-9999, 9999), st.floats(-9999, 9999))


def boxes_in(photo: Size, draw: st.DrawFn) -> Box:
    least_w, least_h = min(SMALLEST_BOX_PX, photo.w), min(SMALLEST_BOX_PX, photo.h)
    w = draw(st.integers(least_w, photo.w))
    h = draw(st.integers(least_h, photo.h))
    return Box(draw(st.integers(0, photo.w - w)), draw(st.integers(0, photo.h - h)), w, h)


@st.composite
def boxed_photos(draw: st.DrawFn) -> tuple[Size, Box]:
    photo = draw(sizes)
    return photo, boxes_in(photo, draw)


def assert_sound(box: Box, photo: Size) -> None:
    assert all(float(value).is_integer() for value in (box.x, box.y, box.w, box.h))
    assert box.x >= 0
    assert box.y >= 0
    assert box.x + box.w <= photo.w
    assert box.y + box.h <= photo.h
    assert box.w >= min(SMALLEST_BOX_PX, photo.w)
    assert box.h >= min(SMALLEST_BOX_PX, photo.h)


@given(case=boxed_photos(), by=steps)
def test_a_moved_box_keeps_its_size_and_stays_inside(
    case: tuple[Size, Box], by: tuple[float, float]
) -> None:
    photo, box = case
    result = moved(box, by, photo)
    assert_sound(result, photo)
    assert (result.w, result.h) == (box.w, box.h)


@given(case=boxed_photos(), by=steps, handle=st.sampled_from(HANDLES))
def test_a_resized_box_stays_inside_and_its_other_edges_stay_where_they_are(
    case: tuple[Size, Box], by: tuple[float, float], handle: Handle
) -> None:
    photo, box = case
    result = resized(box, handle, by, photo)
    assert_sound(result, photo)
    across, down = handle.value
    if across >= 0:
        assert result.x == box.x
    if across <= 0:
        assert result.x + result.w == box.x + box.w
    if down >= 0:
        assert result.y == box.y
    if down <= 0:
        assert result.y + result.h == box.y + box.h


@given(photo=sizes, start=steps, end=steps)
def test_a_drawn_box_is_sound_whatever_way_it_is_drawn(
    photo: Size, start: tuple[float, float], end: tuple[float, float]
) -> None:
    box = drawn(start, end, photo)
    assert box == drawn(end, start, photo)
    if box is not None:
        assert_sound(box, photo)


@given(photo=sizes)
def test_the_keyboard_starts_with_a_sound_box(photo: Size) -> None:
    assert_sound(middle(photo), photo)


def test_a_short_drag_draws_nothing() -> None:
    assert drawn((10, 10), (12, 12), PHOTO) is None
    assert drawn((10, 10), (10 + SMALLEST_BOX_PX, 10 + SMALLEST_BOX_PX), PHOTO) is not None


def test_a_box_from_elsewhere_becomes_whole_pixels_that_cover_it() -> None:
    assert fitting(Box(10.4, 20.6, 30.2, 40.9), PHOTO) == Box(10, 20, 31, 42)
    assert fitting(Box(-5, -5, 500, 500), PHOTO) == Box(0, 0, 400, 300)
    with pytest.raises(BoxError):
        fitting(Box(500, 10, 20, 20), PHOTO)


@given(
    photo=sizes,
    view=st.tuples(st.integers(50, 4000), st.integers(50, 4000)),
    at=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_photo_and_view_coordinates_are_each_others_inverse(
    photo: Size, view: tuple[int, int], at: tuple[float, float]
) -> None:
    placement = place(photo, view, margin=16)
    x, y = at[0] * photo.w, at[1] * photo.h
    back = placement.to_photo(*placement.to_view(x, y))
    assert back == pytest.approx((x, y), abs=1e-6 * max(photo.w, photo.h))


@given(photo=sizes, view=st.tuples(st.integers(50, 4000), st.integers(50, 4000)))
def test_a_fitted_photo_lies_whole_in_the_middle(photo: Size, view: tuple[int, int]) -> None:
    placement = place(photo, view, margin=16)
    left, top, width, height = placement.box_to_view(Box(0, 0, photo.w, photo.h))
    assert left >= 16 - 1e-6
    assert top >= 16 - 1e-6
    assert left + width / 2 == pytest.approx(view[0] / 2)
    assert top + height / 2 == pytest.approx(view[1] / 2)
    assert placement.scale <= 2


def test_zooming_keeps_what_is_under_the_pointer() -> None:
    view, at = (800.0, 600.0), (500.0, 330.0)
    before = place(PHOTO, view).to_photo(*at)
    zoom = FITTED
    for _ in range(6):
        zoom = zoomed(zoom, 1.3, at=at, photo=PHOTO, view=view)
    after = place(PHOTO, view, zoom=zoom).to_photo(*at)
    assert after == pytest.approx(before, abs=0.5)


def test_zoom_ends_at_the_whole_photo_and_at_its_limit() -> None:
    inwards = zoomed(FITTED, 1e6, at=(1, 1), photo=PHOTO, view=(800, 600))
    assert inwards.factor == LARGEST_ZOOM
    assert zoomed(inwards, 1e-6, at=(1, 1), photo=PHOTO, view=(800, 600)).factor == 1


def test_a_zoomed_photo_leaves_no_empty_edge() -> None:
    placement = place(PHOTO, (800, 600), zoom=Zoom(4, 0, 0))
    left, top, width, height = placement.box_to_view(Box(0, 0, 400, 300))
    assert (left, top) == (0, 0)
    assert left + width >= 800
    assert top + height >= 600


RECT = (100.0, 100.0, 200.0, 120.0)


@pytest.mark.parametrize("handle", HANDLES)
def test_every_handle_can_be_grabbed(handle: Handle) -> None:
    x, y = handle_points(RECT)[handle]
    assert grabbed(RECT, (x + 5, y - 5), reach=9) is handle


def test_edges_inside_and_outside() -> None:
    assert grabbed(RECT, (160, 97), reach=9) is Handle.TOP
    assert grabbed(RECT, (303, 190), reach=9) is Handle.RIGHT
    assert grabbed(RECT, (200, 160), reach=9) is Handle.INSIDE
    assert grabbed(RECT, (400, 160), reach=9) is None


def test_a_tiny_rectangle_can_still_be_moved() -> None:
    assert grabbed((100, 100, 12, 12), (106, 106), reach=9) is Handle.INSIDE


def test_no_rectangle_has_two_handles_at_one_place() -> None:
    points = list(handle_points(RECT).values())
    assert len(set(points)) == len(HANDLES) == 8
    assert min(
        math.dist(one, other) for n, one in enumerate(points) for other in points[n + 1 :]
    ) == pytest.approx(60)
