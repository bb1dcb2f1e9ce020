"""Pooling: one feature for each region of a feature map, whatever the region's shape.

Regions are squares in cells, as `engine.features.grid` lays them, or masks: weights of every cell,
as feature map pooling makes them (`engine.features.fmp`). Both are sums over cells, done as one
product with a matrix of weights. An integral image would be quicker for many squares, but its
differences of running sums lose the small channels to rounding.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.config import Pooling
from engine.features.grid import masks_of
from engine.types import FloatArray

GEM_P = 3.0
GEM_EPS = 1e-6


def pool(
    feature_map: ArrayLike,
    regions: ArrayLike,
    pooling: Pooling,
    *,
    p: float = GEM_P,
    eps: float = GEM_EPS,
    unit: bool = True,
) -> FloatArray:
    """The pooled features of regions, each of unit length.

    Over the cells i of region k, with weight w_ki (1 inside a square), per channel c:

        SUM  Σ_i w_ki x_ic                        (Cao et al. 2016, equation 1)
        MAX  max_{i: w_ki > 0} x_ic               (Tolias et al. 2016, equation 2)
        GEM  (Σ_i w_ki max(x_ic, ε)^p / Σ_i w_ki)^{1/p}   (Radenović et al. 2018, equation 3)

    and then L2 over the channels.

    Args:
        feature_map: (C, h, w), any float type.
        regions: (R, 4) x0, y0, x1, y1 in cells, x1 and y1 excluded; or (R, h, w) weights ≥ 0.
        p, eps: for GEM alone; p > 0, eps > 0.
        unit: whether to do the L2. Without it SUM is divided by Σ_i w_ki.

    Returns:
        (R, C) float32; a row is 0 where the region is empty or all its values are 0.

    Raises:
        ValueError: regions of another shape.
    """
    values = np.asarray(feature_map, dtype=np.float32)
    if pooling is Pooling.MAX:
        return _finished(_maxima(values, np.asarray(regions)), unit=unit)
    masks = as_masks(regions, shape=values.shape[1:])
    flat = values.reshape(len(values), -1)
    weights = masks.reshape(len(masks), flat.shape[1])
    if not unit:
        # Else sums do for means: what they are divided by goes with L2.
        sums = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(sums > 0, sums, 1.0)
    if pooling is Pooling.SUM:
        return _finished(weights.astype(np.float32) @ flat.T, unit=unit)
    # In double precision: ε^p of a large p is no number of single precision, nor are x^p.
    powers = np.maximum(flat, eps, dtype=np.float64) ** p
    return _finished((weights @ powers.T) ** (1.0 / p), unit=unit)


def as_masks(regions: ArrayLike, *, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """(R, h, w) the weight of each cell of a map of ``shape`` (h, w) in each region.

    Raises:
        ValueError: ``regions`` are neither (R, 4) cells nor (R, h, w) weights.
    """
    h, w = shape
    given = np.asarray(regions)
    if given.ndim == 2 and given.shape[1] == 4:
        return masks_of(given.astype(np.int32), h=h, w=w).astype(np.float64)
    if given.ndim == 3 and given.shape[1:] == (h, w):
        return given.astype(np.float64)
    raise ValueError(f"regions of shape {given.shape} on a map of {h} × {w} cells")


def unit_rows(rows: NDArray[np.floating]) -> FloatArray:
    """Rows (…, D) brought to unit length as float32; rows of zeros stay."""
    # By their largest value first: squares of a tiny row would vanish.
    scale = np.abs(rows).max(axis=-1, keepdims=True, initial=0.0).astype(np.float64)
    scaled = rows / np.where(scale > 0, scale, 1.0)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return np.asarray(scaled / np.where(length > 0, length, 1.0), dtype=np.float32)


def _finished(rows: NDArray[np.floating], *, unit: bool) -> FloatArray:
    return unit_rows(rows) if unit else rows.astype(np.float32)


def _maxima(values: FloatArray, regions: NDArray[np.generic]) -> FloatArray:
    found = np.zeros((len(regions), len(values)), dtype=np.float32)
    if regions.ndim == 2 and regions.shape[1] == 4:  # slices: no copy of the map
        for row, (x0, y0, x1, y1) in enumerate(regions.tolist()):
            found[row] = values[:, y0:y1, x0:x1].max(axis=(1, 2))
        return found
    flat = values.reshape(len(values), -1)
    masks = as_masks(regions, shape=values.shape[1:]).reshape(len(regions), flat.shape[1])
    for row, mask in enumerate(masks > 0):
        if mask.any():
            found[row] = flat[:, mask].max(axis=1)
    return found
