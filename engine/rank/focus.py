"""Where a match sits: focus maps, the point that they name, and the found box.

The footprint comes from what is stored (weights z and boxes of the base regions), so it costs
nothing and works while the photo is offline. The other maps need the photo's feature map: the sum
of the matched channels, and the parts of `engine.rank.attribution`, made fit for the eye. The
outline of a map is drawn by `engine.rank.outline`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter, generate_binary_structure, label

from engine.types import Box, FloatArray, Size

Float64 = NDArray[np.float64]

FOOTPRINT_CELLS = 32
"""Cells along the longer side of a footprint. Finer maps point no better (measured: .928 at 32,
.933 at 64), because the regions themselves are coarse."""

_SMOOTHING_CELLS = 2.5
"""A cell of a feature map answers for far more than its own pixels, and GeM lets a few cells carry
a match: raw parts are a handful of sharp dots on the thing. A Gaussian joins them (IoU at half
maximum on the 180 masks of the cutouts, the shipped network: .47 at 1.5 cells, .59 at 2, .64 at
2.5, .63 at 3, .57 at 3.5; off the shelf .635 at 2 and .64 at 2.5)."""

_LEVEL = 0.5
"""The found box holds what lies above this share of the maximum, as the outline and the focus IoU
do."""

_SIDE_BY_SIDE = np.zeros((3, 3, 3), dtype=bool)
_SIDE_BY_SIDE[1] = generate_binary_structure(2, 1)
"""Cells of a map hang together over their sides, and never with those of another map."""


# --- footprint ------------------------------------------------------------------------------


def footprint(z: ArrayLike, boxes: ArrayLike, *, shape: tuple[int, int]) -> FloatArray:
    """The footprint of one photo, (rows, columns); see `footprints`.

    Args:
        z: (R,). boxes: (R, 4).
    """
    corners = np.asarray(boxes, dtype=np.float64).reshape(1, -1, 4)
    only: FloatArray = footprints(np.asarray(z)[None], corners, shape=shape)[0]
    return only


def footprints(z: ArrayLike, boxes: ArrayLike, *, shape: tuple[int, int]) -> FloatArray:
    """Σ_k z_k over the areas of the base regions, by the share of a cell that a region covers.

    The focus map of Cao et al. 2016 (Σ_d z_d · X_d over the channels d), with the areas of squares
    in place of the channels' maps.

    Args:
        z: (n, R) weights of each merge, ≥ 0, of regions of unit length.
        boxes: (n, R, 4) x0, y0, x1, y1 as fractions of the upright photos.
        shape: rows and columns of the maps; see `footprint_shape`.

    Returns:
        (n, rows, columns) float32 in [0, 1], 1 at the maximum of each; all 0 where z is.
    """
    weights = np.asarray(z, dtype=np.float64)
    x0, y0, x1, y1 = np.moveaxis(np.asarray(boxes, dtype=np.float64), -1, 0)
    down = _coverage(y0, y1, cells=shape[0])  # (n, R, rows)
    across = _coverage(x0, x1, cells=shape[1])  # (n, R, columns)
    return _normalised(np.swapaxes(weights[..., None] * down, 1, 2) @ across)


def footprint_shape(size: Size) -> tuple[int, int]:
    """Rows and columns of a footprint: cells about square, `FOOTPRINT_CELLS` the longer way."""
    longest = max(size.w, size.h)
    rows, columns = (max(1, round(FOOTPRINT_CELLS * n / longest)) for n in (size.h, size.w))
    return rows, columns


def _coverage(first: Float64, last: Float64, *, cells: int) -> Float64:
    """(…, cells) the share of each cell between ``first`` and ``last``, fractions of the whole."""
    edges = np.arange(cells)
    low = np.maximum(first[..., None] * cells, edges)
    high = np.minimum(last[..., None] * cells, edges + 1)
    covered: Float64 = np.clip(high - low, 0.0, 1.0)
    return covered


# --- maps -----------------------------------------------------------------------------------


def channel_focus(feature_map: ArrayLike, clusters: ArrayLike, z: ArrayLike) -> FloatArray:
    """The focus map of feature map pooling: Σ_d z_{cluster(d)} · X_d (Cao et al. 2016, section 3).

    Args:
        feature_map: (C, h, w) ≥ 0.
        clusters: (C,) the region of each channel, -1 for none
            (`engine.features.fmp.ChannelRegions`).
        z: (K,) weights of the merge, ≥ 0.

    Returns:
        (h, w) float32 in [0, 1], 1 at the maximum; 0 where only ignored channels fire.
    """
    groups = np.asarray(clusters)
    weights = np.append(np.asarray(z, dtype=np.float64), 0.0)[groups]  # -1 takes the 0 at the end
    return _normalised(np.tensordot(weights, np.asarray(feature_map, dtype=np.float64), axes=1))


def focus_map_from(parts: Float64) -> FloatArray:
    """An attribution made fit for the eye: smoothed, without what speaks against, 1 at most.

    ``parts``: (h, w). Returns (h, w) float32 in [0, 1]. Beyond the border the outermost cells go
    on, so that a thing at the edge of a photo loses nothing.
    """
    return _normalised(gaussian_filter(parts, _SMOOTHING_CELLS, mode="nearest"))


def _normalised(values: Float64) -> FloatArray:
    """Maps (…, rows, columns), each without what is negative and 1 at most."""
    positive = np.maximum(values, 0.0)
    top = positive.max(axis=(-2, -1), keepdims=True, initial=0.0)
    return (positive / np.where(top > 0, top, 1.0)).astype(np.float32)


# --- peak and found box ---------------------------------------------------------------------


def peak(values: FloatArray) -> tuple[float, float] | None:
    """Where a map points: the middle of the connected area where it is largest.

    A footprint is flat over whole regions; its first largest cell would be a corner of one.

    Args:
        values: (rows, columns) in [0, 1].

    Returns:
        x and y as fractions of the photo, or None where the map is empty.
    """
    area = _areas_round_maxima(values[None], level=1.0 - 1e-4)[0]
    if not area.any():
        return None
    down, across = np.nonzero(area)
    rows, columns = values.shape
    return (float(across.mean()) + 0.5) / columns, (float(down.mean()) + 0.5) / rows


def found_box(values: FloatArray, size: Size) -> Box | None:
    """The found box of one map (rows, columns); see `found_boxes`."""
    return found_boxes(values[None], [size])[0]


def found_boxes(values: FloatArray, sizes: Sequence[Size]) -> list[Box | None]:
    """The bounding box of the connected part round the maximum that lies above half of it.

    Args:
        values: (n, rows, columns) in [0, 1], footprints or maps of `focus_map_from`, over whole
            upright photos.
        sizes: of the n upright photos in pixels.

    Returns:
        For each map the box in pixels of the upright photo, or None where the map is empty.
    """
    areas = _areas_round_maxima(values, level=_LEVEL)
    tops, bottoms = _extents(np.asarray(areas.any(axis=2)))
    lefts, rights = _extents(np.asarray(areas.any(axis=1)))
    some = np.asarray(areas.any(axis=(1, 2)))
    boxes: list[Box | None] = []
    for place, size in enumerate(sizes):
        left, top = float(lefts[place]) * size.w, float(tops[place]) * size.h
        right, bottom = float(rights[place]) * size.w, float(bottoms[place]) * size.h
        boxes.append(Box(left, top, right - left, bottom - top) if some[place] else None)
    return boxes


def _extents(taken: NDArray[np.bool_]) -> tuple[Float64, Float64]:
    """(n,) where the first and behind the last of the taken cells of each row, as fractions."""
    cells = taken.shape[1]
    return taken.argmax(axis=1) / cells, 1 - taken[:, ::-1].argmax(axis=1) / cells


def _areas_round_maxima(values: FloatArray, *, level: float) -> NDArray[np.bool_]:
    """(n, rows, columns) the cells of each map that hang together with its first largest one and
    reach ``level`` times its value; none in an empty map."""
    if not values.size:
        return np.zeros(values.shape, dtype=bool)
    largest = values.max(axis=(1, 2), keepdims=True)
    parts, _ = label((values >= level * largest) & (largest > 0), _SIDE_BY_SIDE)
    flat = values.reshape(len(values), -1).argmax(axis=1)
    own = parts.reshape(len(values), -1)[np.arange(len(values)), flat]
    area: NDArray[np.bool_] = (parts == own[:, None, None]) & (own > 0)[:, None, None]
    return area
