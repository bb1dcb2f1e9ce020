"""Where a match sits: focus maps, the point that they name, and the found box.

The footprint comes from what is stored (weights z and boxes of the base regions), so it costs
nothing and works while the photo is offline. The other maps need the photo's feature map: the sum
of the matched channels, and the parts of `engine.rank.attribution`, made fit for the eye. The
outline of a map is drawn by `engine.rank.outline`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter, generate_binary_structure, label

from engine.types import Box, FloatArray, Size

Float64 = NDArray[np.float64]

FOOTPRINT_CELLS = 32
"""Cells along the longer side of a footprint. Finer maps point no better (measured: .928 at 32,
.933 at 64), because the regions themselves are coarse."""

_SMOOTHING_CELLS = 2.0
"""A cell of a feature map answers for far more than its own pixels, and GeM lets a few cells carry
a match: raw parts are a handful of sharp dots on the thing. A Gaussian of two cells joined them
best (measured on 180 masks: IoU at half maximum .26 raw, .46 at 1, .57 at 1.5, .635 at 2, .64 at
2.5; the found box agrees best at 2)."""

_LEVEL = 0.5
"""The found box holds what lies above this share of the maximum, as the outline and the focus IoU
do."""

_SIDE_BY_SIDE = generate_binary_structure(2, 1)
"""Cells hang together over their sides; label's standard, which it would make anew each time."""


# --- footprint ------------------------------------------------------------------------------


def footprint(z: ArrayLike, boxes: ArrayLike, *, shape: tuple[int, int]) -> FloatArray:
    """Σ_k z_k over the areas of the base regions, by the share of a cell that a region covers.

    The focus map of Cao et al. 2016 (Σ_d z_d · X_d over the channels d), with the areas of squares
    in place of the channels' maps.

    Args:
        z: (R,) weights of the merge, ≥ 0, of regions of unit length.
        boxes: (R, 4) x0, y0, x1, y1 as fractions of the upright photo.
        shape: rows and columns of the map; see `footprint_shape`.

    Returns:
        (rows, columns) float32 in [0, 1], 1 at the maximum; all 0 where z is.
    """
    weights = np.asarray(z, dtype=np.float64)
    taking_part = weights > 0
    corners = np.asarray(boxes, dtype=np.float64).reshape(-1, 4)[taking_part]
    x0, y0, x1, y1 = corners.T
    down = _coverage(y0, y1, cells=shape[0])  # (R, rows)
    across = _coverage(x0, x1, cells=shape[1])  # (R, columns)
    return _normalised((weights[taking_part, None] * down).T @ across)


def footprint_shape(size: Size) -> tuple[int, int]:
    """Rows and columns of a footprint: cells about square, `FOOTPRINT_CELLS` the longer way."""
    longest = max(size.w, size.h)
    rows, columns = (max(1, round(FOOTPRINT_CELLS * n / longest)) for n in (size.h, size.w))
    return rows, columns


def _coverage(first: Float64, last: Float64, *, cells: int) -> Float64:
    """(R, cells) the share of each cell between ``first`` and ``last``, fractions of the whole."""
    edges = np.arange(cells)
    low = np.maximum(first[:, None] * cells, edges)
    high = np.minimum(last[:, None] * cells, edges + 1)
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
    positive = np.maximum(values, 0.0)
    top = float(positive.max(initial=0.0))
    return (positive / top if top > 0 else positive).astype(np.float32)


# --- peak and found box ---------------------------------------------------------------------


def peak(values: FloatArray) -> tuple[float, float] | None:
    """Where a map points: the middle of the connected area where it is largest.

    A footprint is flat over whole regions; its first largest cell would be a corner of one.

    Args:
        values: (rows, columns) in [0, 1].

    Returns:
        x and y as fractions of the photo, or None where the map is empty.
    """
    area = _area_round_maximum(values, level=1.0 - 1e-4)
    if area is None:
        return None
    down, across = area
    rows, columns = values.shape
    return (float(across.mean()) + 0.5) / columns, (float(down.mean()) + 0.5) / rows


def found_box(values: FloatArray, size: Size) -> Box | None:
    """The bounding box of the connected part round the maximum that lies above half of it.

    Args:
        values: (rows, columns) in [0, 1], a footprint or a map of `focus_map_from`, over the
            whole upright photo.
        size: of the upright photo in pixels.

    Returns:
        The box in pixels of the upright photo, or None where the map is empty.
    """
    area = _area_round_maximum(values, level=_LEVEL)
    if area is None:
        return None
    down, across = area
    rows, columns = values.shape
    left, right = across.min() / columns * size.w, (across.max() + 1) / columns * size.w
    top, bottom = down.min() / rows * size.h, (down.max() + 1) / rows * size.h
    return Box(float(left), float(top), float(right - left), float(bottom - top))


def _area_round_maximum(
    values: FloatArray, *, level: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Rows and columns of the cells that hang together with the first largest one and reach
    ``level`` times its value."""
    if not values.size or not values.max() > 0:
        return None
    parts, _ = label(values >= level * values.max(), _SIDE_BY_SIDE)
    down, across = np.nonzero(parts == parts[np.unravel_index(np.argmax(values), values.shape)])
    return down, across
