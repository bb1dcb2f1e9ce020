"""Base regions: which parts of a photo get a feature of their own, and where they lie."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.types import FloatArray

CellArray = NDArray[np.int32]

_OVERLAP = 0.4


def ospp(h: int, w: int, levels: int) -> CellArray:
    """Squares of an overlapped spatial pyramid on a feature map of ``h`` × ``w`` cells.

    The sampling of R-MAC (Tolias et al. 2016, section 3.2), which Cao et al. 2016, section 3.2,
    take over: at level l = 1..L squares of side 2·min(w, h)/(l + 1), l of them along the short
    side and l + m along the long one, where m is chosen once so that neighbours of level 1
    overlap by as close to 40 % as can be. A map of 24 × 18 cells has 20 regions at L = 3.

    R-MAC tries up to 7 squares along the long side; here as many as the photo needs, so that a
    long panorama is covered as well. Squares that a small map makes equal are given once.

    Returns:
        (R, 4) x0, y0, x1, y1 in cells, x1 and y1 excluded; coarse to fine, row by row. R ≥ 1.
    """
    if h < 1 or w < 1 or levels < 1:
        raise ValueError(f"no regions for {levels} levels on a map of {h} × {w} cells")
    short, long = min(h, w), max(h, w)
    more = _more_along_the_long_side(short, long)
    cells: dict[tuple[int, int, int, int], None] = {}
    for level in range(1, levels + 1):
        side = max(2 * short // (level + 1), 1)
        for top in _starts(h, side, level + (more if h > w else 0)):
            for left in _starts(w, side, level + (more if w > h else 0)):
                cells[left, top, left + side, top + side] = None
    return np.array(list(cells), dtype=np.int32)


def _more_along_the_long_side(short: int, long: int) -> int:
    if short == long:
        return 0
    most = max(7, math.ceil((long - short) / (short * (1 - _OVERLAP))) + 2)
    steps = np.arange(2, most + 1)
    overlap = 1 - (long - short) / (steps - 1) / short
    return int(np.argmin(np.abs(overlap - _OVERLAP))) + 1


def _starts(length: int, side: int, count: int) -> list[int]:
    # In whole numbers: a rounding error below a whole number would move a square by one cell.
    if count == 1:
        return [0]
    return [i * (length - side) // (count - 1) for i in range(count)]


@lru_cache(maxsize=256)
def pooling_weights(h: int, w: int, levels: int) -> FloatArray:
    """(1 + R, h·w) what each cell contributes to a mean: row 0 over the whole map, then over each
    region of `ospp`. One matrix product pools a photo and all its regions."""
    cells = ospp(h, w, levels)
    weights = np.zeros((1 + len(cells), h, w), dtype=np.float32)
    weights[0] = 1 / (h * w)
    for row, (x0, y0, x1, y1) in enumerate(cells.tolist(), start=1):
        weights[row, y0:y1, x0:x1] = 1 / ((x1 - x0) * (y1 - y0))
    flat = weights.reshape(len(weights), h * w)
    flat.setflags(write=False)
    return flat


def boxes_of(cells: CellArray, *, h: int, w: int) -> FloatArray:
    """(R, 4) x0, y0, x1, y1 as fractions of the upright photo, for cells of a map of h × w."""
    return np.asarray(cells / np.array([w, h, w, h]), dtype=np.float32)
