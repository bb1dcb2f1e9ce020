"""The outline of a match: what lies above half the maximum of a focus map, as polygons."""

from typing import cast

import numpy as np
from contourpy import LineType, contour_generator
from numpy.typing import NDArray

from engine.types import FloatArray, Size

Float64 = NDArray[np.float64]

_LEVEL = 0.5
"""Outlined is what lies above this share of the maximum, as in the found box and the focus IoU."""


def outline(values: FloatArray, size: Size) -> list[Float64]:
    """The borders of the parts of a focus map that lie above half its maximum.

    Values stand at the middles of the cells and are interpolated linearly in between, so the
    outline does not follow the cells' edges; beyond the outermost middles they stay as they are,
    and where the part reaches the border of the photo, the outline runs along it.

    Args:
        values: (rows, columns) ≥ 0, over the whole upright photo.
        size: of the upright photo in pixels.

    Returns:
        Polygons (N, 2) of x, y in pixels of the upright photo, N ≥ 3, closed by going back to the
        first point, largest area first. A polygon inside another is a hole of it (fill by the
        even-odd rule). None where the map is empty.
    """
    if not values.size or not values.max() > 0:
        return []
    # First the border values, at the border; then, at the same place, nothing, which closes it.
    ringed = np.pad(np.pad(values.astype(np.float64), 1, mode="edge"), 1)
    lines = contour_generator(
        x=_positions(values.shape[1], length=size.w),
        y=_positions(values.shape[0], length=size.h),
        z=ringed,
        line_type=LineType.Separate,
    ).lines(_LEVEL * float(values.max()))
    # Interpolation may round a point on the border to beyond it.
    polygons = [
        _without_repeats(np.clip(line, 0.0, [size.w, size.h]))
        for line in cast(list[Float64], lines)
    ]
    found = [polygon for polygon in polygons if len(polygon) >= 3 and _area(polygon) > 0]
    return sorted(found, key=_area, reverse=True)


def _positions(cells: int, *, length: int) -> Float64:
    middles = (np.arange(cells) + 0.5) / cells * length
    return np.concatenate([[0.0, 0.0], middles, [length, length]])


def _without_repeats(line: Float64) -> Float64:
    """A closed line without its last point, which is its first, and without points twice."""
    moved = (line != np.roll(line, -1, axis=0)).any(axis=1)
    kept: Float64 = line[moved]
    return kept


def _area(polygon: Float64) -> float:
    x, y = polygon.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
