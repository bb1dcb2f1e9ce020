"""Aggregation: one descriptor for a whole feature map, as the papers that Refocal follows did it.

All take one feature map (C, h, w) after a ReLU and give a unit vector (C,) float32; a map of
zeros gives zeros. The whitening of the papers comes after (`engine.features.whitening`), but for
R-MAC, which whitens each region.
"""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.config import Aggregation, Pooling
from engine.features.grid import CellArray, rmac_grid
from engine.features.pooling import GEM_EPS, GEM_P, pool, unit_rows
from engine.features.whitening import Whitening
from engine.types import FloatArray

RMAC_LEVELS = 3


def aggregate(
    feature_map: ArrayLike,
    aggregation: Aggregation,
    *,
    p: float = GEM_P,
    eps: float = GEM_EPS,
    whitening: Whitening | None = None,
) -> FloatArray:
    """The descriptor of a feature map.

    Args:
        feature_map: (C, h, w).
        p, eps: of GEM.
        whitening: learned from regions for RMAC, which whitens each of them and then adds up;
            from descriptors for the others, which are whitened last.

    Returns:
        (C,) float32 of unit length; (k,) where the whitening keeps k axes.
    """
    if aggregation is Aggregation.RMAC:
        return rmac(feature_map, whitening=whitening)
    if aggregation is Aggregation.MAC:
        found = mac(feature_map)
    elif aggregation is Aggregation.SPOC:
        found = spoc(feature_map)
    elif aggregation is Aggregation.CROW:
        found = crow(feature_map)
    else:
        found = gem(feature_map, p=p, eps=eps)
    return found if whitening is None else whitening.apply(found)


def mac(feature_map: ArrayLike) -> FloatArray:
    """Maximum activations of convolutions: max_i x_ic (Tolias et al. 2016, equation 1)."""
    return _pooled_whole(feature_map, Pooling.MAX)


def spoc(feature_map: ArrayLike, *, centre_prior: bool = False) -> FloatArray:
    """Sum-pooled convolutions: Σ_i α_i x_ic (Babenko & Lempitsky 2015, equations 1 and 3).

    ``centre_prior``: α is a Gaussian round the middle whose σ is a third of the way from there to
    the nearest border. Without, α = 1: equation (1) of Cao et al. 2016.
    """
    values = np.asarray(feature_map, dtype=np.float32)
    if not centre_prior:
        return _pooled_whole(values, Pooling.SUM)
    h, w = values.shape[1:]
    sigma = min(h, w) / 2 / 3
    y, x = np.arange(h) + 0.5 - h / 2, np.arange(w) + 0.5 - w / 2
    prior = np.exp(-(y[:, None] ** 2 + x**2) / (2 * sigma**2))
    return cast(FloatArray, pool(values, prior[None], Pooling.SUM)[0])


def crow(feature_map: ArrayLike) -> FloatArray:
    """Cross-dimensional weighting (Kalantidis et al. 2016, section 3).

    Sum pooling with spatial weights α_i = (S_i / (Σ_j S_j²)^{1/2})^{1/2}, where S_i = Σ_c x_ic
    (equation 2 with a = b = 2), then times the channel weights β_c = log(Σ_k Q_k / Q_c), where
    Q_c is the share of cells that channel c fires in; β_c = 0 for one that never does. Values
    below 0 count as 0.
    """
    values = np.maximum(np.asarray(feature_map, dtype=np.float64), 0.0)
    spatial, channel = crow_weights(values)
    return unit_rows(np.tensordot(values, spatial, axes=2) * channel)


def crow_weights(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Spatial weights α (h, w) and channel weights β (C,) of `crow` for a map (C, h, w) ≥ 0."""
    total = values.sum(axis=0)
    length = np.linalg.norm(total)
    spatial = np.sqrt(total / length) if length > 0 else total
    fires = (values > 0).mean(axis=(1, 2))
    channel = np.zeros_like(fires)
    live = fires > 0
    channel[live] = np.log(fires.sum() / fires[live])
    return spatial, channel


def rmac(
    feature_map: ArrayLike, *, levels: int = RMAC_LEVELS, whitening: Whitening | None = None
) -> FloatArray:
    """Regional maximum activations (Tolias et al. 2016, section 3.2).

    Per region max, L2, whitening, L2; then the sum over the regions of `rmac_grid`, L2. (Some
    later programs add the whole map as one more region; the authors' does not.)

    Args:
        whitening: learned from regions (`rmac_regions`), or None for none.
    """
    regions = rmac_regions(feature_map, levels=levels)
    if whitening is not None:
        regions = whitening.apply(regions)
    return unit_rows(regions.sum(axis=0))


def rmac_regions(feature_map: ArrayLike, *, levels: int = RMAC_LEVELS) -> FloatArray:
    """(R, C) what `rmac` adds up: the regions of `rmac_grid`, max-pooled, of unit length."""
    h, w = np.shape(feature_map)[1:]
    return pool(feature_map, rmac_grid(h, w, levels), Pooling.MAX)


def gem(feature_map: ArrayLike, *, p: float = GEM_P, eps: float = GEM_EPS) -> FloatArray:
    """Generalised mean: (1/(h·w) Σ_i max(x_ic, ε)^p)^{1/p} (Revaud et al. 2019, section 3.1)."""
    return _pooled_whole(feature_map, Pooling.GEM, p=p, eps=eps)


def _pooled_whole(
    feature_map: ArrayLike, pooling: Pooling, *, p: float = GEM_P, eps: float = GEM_EPS
) -> FloatArray:
    h, w = np.shape(feature_map)[1:]
    return cast(FloatArray, pool(feature_map, _whole(h, w), pooling, p=p, eps=eps)[0])


def _whole(h: int, w: int) -> CellArray:
    return np.array([[0, 0, w, h]], dtype=np.int32)
