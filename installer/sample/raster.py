"""Which triangle covers which pixel: a z-buffer, vectorised over tiles of pixels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from installer.sample.mesh import FloatArray, IntArray

NOTHING = -1
_PAIRS_AT_ONCE = 1 << 20  # fragments that are evaluated in one go: bounds the memory


@dataclass(frozen=True, slots=True)
class Coverage:
    """``face`` (rows, columns): index of the nearest triangle or NOTHING; ``near`` (rows, columns):
    its nearness, larger is nearer, -inf where nothing is."""

    face: IntArray
    near: FloatArray


@dataclass(frozen=True, slots=True)
class _Planes:
    """Linear functions of the pixel, a x + b y + c: barycentrics 0 and 1 and the nearness of each
    triangle (F, 3 functions, 3 coefficients). ``corner`` (F, 3, 2) pixels; ``low`` and ``high``
    (F, 2) the first and last pixel column and row; ``face`` (F,) which triangle it is."""

    coefficients: NDArray[np.float64]
    corner: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    face: NDArray[np.int64]


def _planes(
    xy: NDArray[np.float64], near: NDArray[np.float64], faces: IntArray, shape: tuple[int, int]
) -> _Planes:
    corner = xy[faces]  # (F, 3, 2)
    ab, ac = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    a, b, c = corner[:, 0], corner[:, 1], corner[:, 2]
    # pixel centres lie at + 0.5
    low = np.ceil(np.maximum(np.minimum(np.minimum(a, b), c) - 0.5, 0)).astype(np.int64)
    size = np.array([shape[1], shape[0]])
    high = np.floor(np.minimum(np.maximum(np.maximum(a, b), c) - 0.5, size - 1)).astype(np.int64)
    met = (low[:, 0] <= high[:, 0]) & (low[:, 1] <= high[:, 1])
    kept = np.flatnonzero((np.abs(area) > 1e-9) & met)
    corner, area, ab, ac = corner[kept], area[kept], ab[kept], ac[kept]
    origin = corner[:, 0]
    # barycentric of the 2nd and 3rd corner
    second = np.stack([ac[:, 1], -ac[:, 0]], axis=1) / area[:, None]
    third = np.stack([-ab[:, 1], ab[:, 0]], axis=1) / area[:, None]
    value = near[faces[kept]]
    rise = (value[:, 1] - value[:, 0])[:, None] * second + (value[:, 2] - value[:, 0])[
        :, None
    ] * third
    slopes = np.stack([second, third, rise], axis=1)  # (F, 3, 2)
    constant = -(slopes * origin[:, None, :]).sum(axis=2)
    constant[:, 2] += value[:, 0]
    coefficients = np.concatenate([slopes, constant[..., None]], axis=2)
    return _Planes(coefficients, corner, low[kept], high[kept], kept)


def rasterise(
    xy: NDArray[np.float64],
    near: NDArray[np.float64],
    faces: IntArray,
    shape: tuple[int, int],
    *,
    tile: int = 8,
) -> Coverage:
    """The nearest triangle of each pixel.

    ``xy`` (V, 2) pixels, ``near`` (V,) a nearness that is linear on the screen (1/w of a
    perspective view, the height towards the viewer of a parallel one), ``faces`` (F, 3).
    """
    rows, columns = (-(-side // tile) * tile for side in shape)
    nearest = np.full(rows * columns, -np.inf, dtype=np.float32)
    winner = np.full(rows * columns, NOTHING, dtype=np.int32)
    planes = _planes(xy, near, faces, shape)
    triangle, tile_x, tile_y = _tiles(planes, tile)
    step = max(_PAIRS_AT_ONCE // (tile * tile), 1)
    for start in range(0, len(triangle), step):
        part = slice(start, start + step)
        where, depth, which = _fragments(
            planes, triangle[part], tile_x[part], tile_y[part], tile, columns
        )
        np.maximum.at(nearest, where, depth)
        wins = depth >= nearest[where]
        winner[where[wins]] = planes.face[which[wins]]
    cut = (slice(shape[0]), slice(shape[1]))
    return Coverage(
        winner.reshape(rows, columns)[cut].copy(), nearest.reshape(rows, columns)[cut].copy()
    )


def _tiles(
    planes: _Planes, tile: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All (triangle, tile column, tile row) that meet: row by row of tiles, between the leftmost
    and the rightmost point of the triangle in that row."""
    first, last = planes.low // tile, planes.high // tile
    triangle, step = _ranges(last[:, 1] - first[:, 1] + 1)
    tile_y = first[triangle, 1] + step
    top, bottom = tile_y * tile - 0.5, (tile_y + 1) * tile + 0.5
    left = np.full(len(triangle), np.inf)
    right = np.full(len(triangle), -np.inf)
    corner = planes.corner[triangle]  # (n, 3, 2)
    for here, there in ((0, 1), (1, 2), (2, 0)):
        a, b = corner[:, here], corner[:, there]
        rise = b[:, 1] - a[:, 1]
        meets = (np.minimum(a[:, 1], b[:, 1]) <= bottom) & (np.maximum(a[:, 1], b[:, 1]) >= top)
        steep = np.where(np.abs(rise) < 1e-9, 1e-9, rise)
        for height in (top, bottom):
            share = np.clip((height - a[:, 1]) / steep, 0, 1)
            x = a[:, 0] + share * (b[:, 0] - a[:, 0])
            left = np.where(meets, np.minimum(left, x), left)
            right = np.where(meets, np.maximum(right, x), right)
        level = meets & (np.abs(rise) < 1e-6)
        left = np.where(level, np.minimum(left, np.minimum(a[:, 0], b[:, 0])), left)
        right = np.where(level, np.maximum(right, np.maximum(a[:, 0], b[:, 0])), right)
    bounded = np.isfinite(left)
    triangle, tile_y, left, right = (each[bounded] for each in (triangle, tile_y, left, right))
    low = np.maximum(np.floor((left - 1) / tile).astype(np.int64), first[triangle, 0])
    high = np.minimum(np.floor((right + 1) / tile).astype(np.int64), last[triangle, 0])
    row, step = _ranges(np.maximum(high - low + 1, 0))
    return triangle[row], low[row] + step, tile_y[row]


def _ranges(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index i counts[i] times, and beside it 0 … counts[i] - 1."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)


def _fragments(
    planes: _Planes,
    triangle: NDArray[np.int64],
    tile_x: NDArray[np.int64],
    tile_y: NDArray[np.int64],
    tile: int,
    columns: int,
) -> tuple[NDArray[np.int64], FloatArray, NDArray[np.int64]]:
    """Pixel index, nearness and triangle of each covered pixel of the given tiles."""
    a, b, c = np.moveaxis(planes.coefficients[triangle], 2, 0)  # each (n, 3)
    corner = a * (tile_x[:, None] * tile + 0.5) + b * (tile_y[:, None] * tile + 0.5) + c
    a, b, corner = (part.astype(np.float32)[:, :, None, None] for part in (a, b, corner))
    steps = np.arange(tile, dtype=np.float32)
    value = corner[:, :2] + a[:, :2] * steps + b[:, :2] * steps[:, None]  # (n, 2, tile, tile)
    second, third = value[:, 0], value[:, 1]
    inside = (second >= -1e-6) & (third >= -1e-6) & (second + third <= 1 + 1e-6)
    pair, row, column = np.nonzero(inside)
    depth = (
        corner[pair, 2, 0, 0]
        + a[pair, 2, 0, 0] * column.astype(np.float32)
        + b[pair, 2, 0, 0] * row.astype(np.float32)
    )
    where = (tile_y[pair] * tile + row) * columns + tile_x[pair] * tile + column
    return where, depth, triangle[pair]
