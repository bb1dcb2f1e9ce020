"""The arithmetic of a box on a photo: no Qt, no state.

Two frames: *photo* pixels (of the upright photo) and *view* pixels (device independent, of the
widget). Boxes are photo pixels, whole numbers, always inside the photo.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

from engine.types import Box, Size

SMALLEST_BOX_PX = 4
"""Shortest side of a box in photo pixels (or the photo's own side, if that is shorter)."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a photo lies in a view: ``view = photo * scale + (x, y)``."""

    scale: float
    x: float
    y: float

    def to_view(self, x_px: float, y_px: float) -> tuple[float, float]:
        """A point of the photo, in view pixels."""
        return x_px * self.scale + self.x, y_px * self.scale + self.y

    def to_photo(self, x: float, y: float) -> tuple[float, float]:
        """A point of the view, in photo pixels; may lie outside the photo."""
        return (x - self.x) / self.scale, (y - self.y) / self.scale

    def box_to_view(self, box: Box) -> tuple[float, float, float, float]:
        """A box as left, top, width and height in view pixels."""
        left, top = self.to_view(box.x, box.y)
        return left, top, box.w * self.scale, box.h * self.scale


@dataclass(frozen=True, slots=True)
class Zoom:
    """``factor`` 1: the whole photo fits. ``x``, ``y``: the photo's point, as fractions, that is
    held in the middle of the view as far as the photo reaches."""

    factor: float = 1.0
    x: float = 0.5
    y: float = 0.5


FITTED = Zoom()
LARGEST_ZOOM = 16.0


def place(
    photo: Size, view: tuple[float, float], *, margin: float = 0, zoom: Zoom = FITTED
) -> Placement:
    """Put a photo into a view of this width and height.

    A photo that is smaller than the view is enlarged up to twice, so that an icon does not become
    a wall of pixels.
    """
    width, height = max(view[0] - 2 * margin, 1.0), max(view[1] - 2 * margin, 1.0)
    fitted = min(width / photo.w, height / photo.h, 2.0)
    scale = fitted * zoom.factor
    return Placement(
        scale,
        _offset(photo.w * scale, view[0], margin=margin, held=zoom.x),
        _offset(photo.h * scale, view[1], margin=margin, held=zoom.y),
    )


def _offset(length: float, room: float, *, margin: float, held: float) -> float:
    if length <= room - 2 * margin:
        return (room - length) / 2
    return min(max(room / 2 - held * length, room - margin - length), margin)


def zoomed(
    zoom: Zoom, factor: float, *, at: tuple[float, float], photo: Size, view: tuple[float, float]
) -> Zoom:
    """Zoom by ``factor`` and keep the photo's point under ``at`` (view pixels) where it is."""
    before = place(photo, view, zoom=zoom)
    point_x, point_y = before.to_photo(*at)
    wanted = min(max(zoom.factor * factor, 1.0), LARGEST_ZOOM)
    scale = before.scale * wanted / zoom.factor
    middle_x = (point_x + (view[0] / 2 - at[0]) / scale) / photo.w
    middle_y = (point_y + (view[1] / 2 - at[1]) / scale) / photo.h
    return Zoom(wanted, min(max(middle_x, 0.0), 1.0), min(max(middle_y, 0.0), 1.0))


class Handle(Enum):
    """What a box can be pulled by: (horizontal, vertical) edges, -1 low, 1 high, 0 neither."""

    TOP_LEFT = (-1, -1)
    TOP = (0, -1)
    TOP_RIGHT = (1, -1)
    RIGHT = (1, 0)
    BOTTOM_RIGHT = (1, 1)
    BOTTOM = (0, 1)
    BOTTOM_LEFT = (-1, 1)
    LEFT = (-1, 0)
    INSIDE = (0, 0)


HANDLES = tuple(handle for handle in Handle if handle is not Handle.INSIDE)


def handle_points(
    rect: tuple[float, float, float, float],
) -> Mapping[Handle, tuple[float, float]]:
    """Where the eight handles of a rectangle (left, top, width, height) sit."""
    left, top, width, height = rect
    return MappingProxyType(
        {
            handle: (left + width * (h + 1) / 2, top + height * (v + 1) / 2)
            for handle in HANDLES
            for h, v in (handle.value,)
        }
    )


def grabbed(
    rect: tuple[float, float, float, float], at: tuple[float, float], *, reach: float
) -> Handle | None:
    """What of a rectangle lies under ``at``: the nearest handle or edge within ``reach``, its
    inside, or nothing. In one too small for its handles the inside keeps its middle third."""
    left, top, width, height = rect
    x, y = at
    inside = left <= x <= left + width and top <= y <= top + height
    third_x, third_y = width / 3, height / 3
    in_middle = (
        left + third_x <= x <= left + 2 * third_x and top + third_y <= y <= top + 2 * third_y
    )
    if in_middle:
        return Handle.INSIDE
    distances = {
        handle: max(abs(x - px), abs(y - py)) for handle, (px, py) in handle_points(rect).items()
    }
    nearest = min(distances, key=distances.__getitem__)
    if distances[nearest] <= reach:
        return nearest
    return _edge(rect, at, reach=reach) or (Handle.INSIDE if inside else None)


def _edge(
    rect: tuple[float, float, float, float], at: tuple[float, float], *, reach: float
) -> Handle | None:
    left, top, width, height = rect
    x, y = at
    if left <= x <= left + width:
        if abs(y - top) <= reach:
            return Handle.TOP
        if abs(y - top - height) <= reach:
            return Handle.BOTTOM
    if top <= y <= top + height:
        if abs(x - left) <= reach:
            return Handle.LEFT
        if abs(x - left - width) <= reach:
            return Handle.RIGHT
    return None


def drawn(start: tuple[float, float], end: tuple[float, float], photo: Size) -> Box | None:
    """The box between two points of a drag, in photo pixels; None if it is no box yet."""
    left, right = _span(start[0], end[0], photo.w)
    top, bottom = _span(start[1], end[1], photo.h)
    if right - left < _least(photo.w) or bottom - top < _least(photo.h):
        return None
    return Box(left, top, right - left, bottom - top)


def _span(one: float, other: float, length: int) -> tuple[int, int]:
    low, high = sorted((one, other))
    return round(min(max(low, 0), length)), round(min(max(high, 0), length))


def moved(box: Box, by: tuple[float, float], photo: Size) -> Box:
    """The box moved by photo pixels, as far as the photo reaches."""
    return replace(
        box,
        x=min(max(round(box.x + by[0]), 0), photo.w - box.w),
        y=min(max(round(box.y + by[1]), 0), photo.h - box.h),
    )


def resized(box: Box, handle: Handle, by: tuple[float, float], photo: Size) -> Box:
    """The box with the edges of ``handle`` moved by photo pixels. Edges never cross."""
    across, down = handle.value
    x, w = _pulled(box.x, box.w, across, by[0], photo.w)
    y, h = _pulled(box.y, box.h, down, by[1], photo.h)
    return Box(x, y, w, h)


def _pulled(low: float, length: float, edge: int, by: float, limit: int) -> tuple[float, float]:
    high = low + length
    if edge < 0:
        low = min(max(round(low + by), 0), high - _least(limit))
    elif edge > 0:
        high = max(min(round(high + by), limit), low + _least(limit))
    return low, high - low


def middle(photo: Size) -> Box:
    """A box in the middle of a photo, half as wide and high: where the keyboard starts."""
    width, height = max(photo.w // 2, _least(photo.w)), max(photo.h // 2, _least(photo.h))
    return Box((photo.w - width) // 2, (photo.h - height) // 2, width, height)


def fitting(box: Box, photo: Size) -> Box:
    """A box from elsewhere as whole pixels inside the photo.

    Raises:
        BoxError: it has no part inside.
    """
    inside = box.within(photo)
    left, top = math.floor(inside.x), math.floor(inside.y)
    right, bottom = math.ceil(inside.x + inside.w), math.ceil(inside.y + inside.h)
    return Box(left, top, right - left, bottom - top)


def _least(length: int) -> int:
    return min(SMALLEST_BOX_PX, length)
