"""The outline of a mask as polygons."""

import numpy as np
from numpy.typing import NDArray

from installer.sample.mesh import FloatArray

Polygon = list[list[int]]

_AROUND = ((1, 0), (0, 1), (-1, 0), (0, -1))  # right, down, left, up, as (x, y)
_SMALLEST_PX = 60.0  # crumbs that an object in front leaves over


def polygons(mask: NDArray[np.bool_], *, tolerance_px: float = 1.5) -> list[Polygon]:
    """Outer borders of the mask's connected pieces, largest first, in pixels; holes are filled.

    ``tolerance_px``: how far the simplified line may lie from the border.
    """
    found = []
    for loop in _loops(mask):
        area = _area(loop)
        if area >= _SMALLEST_PX:
            found.append((area, _simplified(loop, tolerance_px)))
    found.sort(key=lambda pair: -pair[0])
    return [line.astype(int).tolist() for _, line in found if len(line) >= 3]


def _loops(mask: NDArray[np.bool_]) -> list[FloatArray]:
    """Closed paths along the pixels' edges, the mask on the right hand: outer borders run
    clockwise on the screen, borders of holes the other way."""
    framed = np.pad(mask, 1)
    inside = framed[1:-1, 1:-1]
    starts: dict[tuple[int, int], list[int]] = {}
    for way, (outside, shift) in enumerate(
        (
            (framed[:-2, 1:-1], (0, 0)),  # the upper edge, walked to the right
            (framed[1:-1, 2:], (1, 0)),  # the right edge, downwards
            (framed[2:, 1:-1], (1, 1)),  # the lower edge, to the left
            (framed[1:-1, :-2], (0, 1)),  # the left edge, upwards
        )
    ):
        for y, x in np.argwhere(inside & ~outside):
            starts.setdefault((int(x) + shift[0], int(y) + shift[1]), []).append(way)
    loops = []
    while starts:
        first = next(iter(starts))
        here, way = first, starts[first][0]
        path = []
        while here in starts and way in starts[here]:
            starts[here].remove(way)
            if not starts[here]:
                del starts[here]
            path.append(here)
            here = (here[0] + _AROUND[way][0], here[1] + _AROUND[way][1])
            # where two pixels touch at a corner only, stay with this one: turn right first
            turns = ((way + 1) % 4, way, (way + 3) % 4)
            way = next((turn for turn in turns if turn in starts.get(here, ())), way)
        loops.append(np.array(path, dtype=np.float32))
    return loops


def _area(loop: FloatArray) -> float:
    """Positive for outer borders."""
    x, y = loop.astype(np.float64).T
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def _simplified(loop: FloatArray, tolerance_px: float) -> FloatArray:
    """Ramer, Douglas and Peucker's line simplification of a closed path."""
    far = int(np.argmax(((loop - loop[0]) ** 2).sum(axis=1)))
    closed = np.concatenate([loop, loop[:1]])
    kept = {0, far}
    spans = [(0, far), (far, len(loop))]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        chord = closed[last] - closed[first]
        away = closed[first + 1 : last] - closed[first]
        length = float(np.hypot(*chord))
        if length > 0:
            distance = np.abs(away[:, 0] * chord[1] - away[:, 1] * chord[0]) / length
        else:
            distance = np.hypot(away[:, 0], away[:, 1])
        worst = int(np.argmax(distance))
        if distance[worst] > tolerance_px:
            middle = first + 1 + worst
            kept.add(middle)
            spans += [(first, middle), (middle, last)]
    return loop[sorted(kept)]
