"""Base regions: which parts of a photo get a feature of their own, and where they lie."""

import math
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.types import FloatArray

CellArray = NDArray[np.int32]
Square = tuple[int, int, int, int]
Levels: TypeAlias = "int | tuple[int, ...]"

_OVERLAP = 0.4
_RMAC_STEPS = 7
"""R-MAC tries 2 to 7 squares of level 1 along the long side."""


# --- schemes --------------------------------------------------------------------------------


def ospp(h: int, w: int, levels: Levels) -> CellArray:
    """Squares of an overlapped spatial pyramid on a feature map of ``h`` × ``w`` cells.

    The sampling of R-MAC (Tolias et al. 2016, section 3.2), which Cao et al. 2016, section 3.2,
    take over: at each level l squares of side 2·min(w, h)/(l + 1), l of them along the short
    side and l + m along the long one, where m is chosen once so that neighbours of level 1
    overlap by as close to 40 % as can be. A map of 24 × 18 cells has 20 regions at l = 1, 2, 3.

    ``levels``: the levels l ≥ 1, or their number L for 1..L.

    Where it departs from `rmac_grid` on purpose: R-MAC tries up to 7 squares along the long side,
    here as many as the photo needs, so that a long panorama is covered as well; squares that a
    small map makes equal are given once; and no square is smaller than one cell.

    Returns:
        (R, 4) x0, y0, x1, y1 in cells, x1 and y1 excluded; coarse to fine, row by row. R ≥ 1.

    Raises:
        ValueError: the map or the pyramid is empty.
    """
    chosen = range(1, levels + 1) if isinstance(levels, int) else levels
    _check_map(h, w, min(chosen, default=0))
    short, long = min(h, w), max(h, w)
    needed = math.ceil((long - short) / (short * (1 - _OVERLAP))) + 2
    more = _more_along_the_long_side(short, long, most=max(_RMAC_STEPS, needed))
    return _array(dict.fromkeys(_pyramid(h, w, chosen, more=more, smallest=1)))


def rmac_grid(h: int, w: int, levels: int = 3) -> CellArray:
    """The regions of R-MAC exactly as its authors lay them (Tolias et al. 2016, section 3.2).

    At most 7 squares of level 1 along the long side, so that a map longer than 7 times its short
    side is not covered; squares that a small map makes equal are all there, because each
    adds to the sum of R-MAC; levels whose squares would have no cell are left out.

    Returns:
        (R, 4) x0, y0, x1, y1 in cells, x1 and y1 excluded; coarse to fine, row by row. R ≥ 1.

    Raises:
        ValueError: the map or the pyramid is empty.
    """
    _check_map(h, w, levels)
    more = _more_along_the_long_side(min(h, w), max(h, w), most=_RMAC_STEPS)
    return _array(_pyramid(h, w, range(1, levels + 1), more=more, smallest=0))


def squares(h: int, w: int, levels: range) -> CellArray:
    """Finer squares: side 2·min(w, h)/(l + 1) for each l of ``levels``, e.g. range(3, 9).

    In both directions as few squares as lie over the whole map with neighbours that overlap by
    40 % or more, evenly spread to the nearest cell. Unlike R-MAC's, their number along a side
    follows from that side alone. A map of 24 × 18 cells has 184 at range(3, 9).

    Returns:
        (R, 4) x0, y0, x1, y1 in cells, x1 and y1 excluded; coarse to fine, row by row, squares
        that two levels share given once. R ≥ 1.

    Raises:
        ValueError: the map is empty, or no level is given, or one below 1.
    """
    _check_map(h, w, min(levels, default=0))
    found: dict[Square, None] = {}
    for level in levels:
        side = max(2 * min(h, w) // (level + 1), 1)
        lefts = _spread(w, side)
        found.update(
            ((left, top, left + side, top + side), None)
            for top in _spread(h, side)
            for left in lefts
        )
    return _array(found)


def every_cell(h: int, w: int) -> CellArray:
    """Each position of the map as a region of its own: (h·w, 4), row by row."""
    _check_map(h, w, 1)
    return _array((x, y, x + 1, y + 1) for y in range(h) for x in range(w))


def _check_map(h: int, w: int, levels: int) -> None:
    if h < 1 or w < 1 or levels < 1:
        raise ValueError(f"no regions for {levels} levels on a map of {h} × {w} cells")


def _array(found: Iterable[Square]) -> CellArray:
    return np.array(list(found), dtype=np.int32)


# --- geometry -------------------------------------------------------------------------------


def _pyramid(h: int, w: int, levels: Iterable[int], *, more: int, smallest: int) -> list[Square]:
    found = []
    for level in levels:
        side = max(2 * min(h, w) // (level + 1), smallest)
        if side == 0:
            continue
        tops = _starts(h, side, level + (more if h > w else 0))
        lefts = _starts(w, side, level + (more if w > h else 0))
        found += [(left, top, left + side, top + side) for top in tops for left in lefts]
    return found


def _more_along_the_long_side(short: int, long: int, *, most: int) -> int:
    if short == long:
        return 0
    apart = (long - short) / np.arange(1, most)
    # The authors' expression, of which even the rounding counts: on maps such as 18 × 10 two
    # numbers of squares come equally near to 40 %.
    overlap = (short**2 - short * apart) / short**2
    return int(np.argmin(np.abs(overlap - _OVERLAP))) + 1


def _starts(length: int, side: int, count: int) -> list[int]:
    # In whole numbers: a rounding error below a whole number would move a square by one cell.
    if count == 1:
        return [0]
    return [i * (length - side) // (count - 1) for i in range(count)]


def _spread(length: int, side: int) -> list[int]:
    # ceil((length - side) / (0.6 side)) steps, in whole numbers for the same reason.
    steps = -(-5 * (length - side) // (3 * side))
    if steps == 0:
        return [0]
    return [round(i * (length - side) / steps) for i in range(steps + 1)]


# --- weights and boxes ----------------------------------------------------------------------


def masks_of(cells: CellArray, *, h: int, w: int) -> NDArray[np.bool_]:
    """(R, h, w) which cells of the map lie in each region."""
    x0, y0, x1, y1 = (edge[:, None] for edge in np.asarray(cells).T)
    down = (np.arange(h) >= y0) & (np.arange(h) < y1)
    across = (np.arange(w) >= x0) & (np.arange(w) < x1)
    inside: NDArray[np.bool_] = down[:, :, None] & across[:, None, :]
    return inside


def mean_weights(cells: CellArray, *, h: int, w: int) -> FloatArray:
    """(R, h·w) what each cell contributes to the mean over each region: one matrix product pools
    a photo and all its regions."""
    masks = masks_of(cells, h=h, w=w)
    flat = masks.reshape(len(masks), h * w).astype(np.float32)
    flat /= flat.sum(axis=1, keepdims=True)
    return flat


def boxes_of(cells: CellArray, *, h: int, w: int) -> FloatArray:
    """(R, 4) x0, y0, x1, y1 as fractions of the upright photo, for cells of a map of h × w."""
    return np.asarray(cells / np.array([w, h, w, h]), dtype=np.float32)
