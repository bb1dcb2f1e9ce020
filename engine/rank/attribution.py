"""Exact attribution: the score of a match, split among the cells of the feature map.

Cao et al. 2016 (arXiv 1606.06811) draw Σ_d z_d · X_d; what follows says more: every cell's part of
the score itself, for whichever pooling and whitening, and the parts add up to the score.
"""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.config import Pooling
from engine.features.pooling import GEM_EPS, GEM_P, as_masks
from engine.features.whitening import Whitening

Float64 = NDArray[np.float64]


def attribution(
    feature_map: ArrayLike,
    regions: ArrayLike,
    z: ArrayLike,
    query: ArrayLike,
    *,
    pooling: Pooling = Pooling.GEM,
    p: float = GEM_P,
    eps: float = GEM_EPS,
    whitening: Whitening | None = None,
) -> Float64:
    """What each cell gives to the score of a merge of pooled regions.

    With g_k the pooled values of region k and f_k = g_k/‖g_k‖ its feature, the score (equation 3)
    is qᵀFz/(‖q‖ ‖Fz‖) = Σ_k z_k/(‖q‖ ‖Fz‖ ‖g_k‖) Σ_c q_c g_kc. Each g_kc is split among the cells
    i of the region, of weight w_ki:

        SUM  g_kc = Σ_i w_ki x_ic, so each cell has its own term;
        MAX  the cell of the maximum has it all; cells that share the maximum share it evenly;
        GEM  by the shares w_ki x_ic^p / Σ_j w_kj x_jc^p of the mean.

    Shares add up to 1, so the parts add up to the score.

    A whitening makes a region u_k = y_k/‖y_k‖ from y_k = P(f_k - μ), and the score is of q and
    the u_k. As qᵀy_k = (Pᵀq)ᵀf_k - (Pᵀq)ᵀμ, the first term is split as above with Pᵀq in the
    place of q; the second belongs to no cell more than to another and is spread over the region
    by w_ki. So the parts still add up, and a cell is warm if it is more like the query than the
    mean is.

    Args:
        feature_map: (C, h, w), any float type.
        regions: (R, 4) x0, y0, x1, y1 in cells, x1 and y1 excluded; or (R, h, w) weights ≥ 0,
            e.g. of `engine.features.fmp.channel_weights`.
        z: (R,) weights of the merge, ≥ 0, of regions of unit length.
        query: the query's feature as it is compared, of any positive length: (C,), or (k,) after
            the whitening.
        pooling, p, eps: of the regions, as in `engine.features.pooling.pool`.
        whitening: of the regions, or None.

    Returns:
        (h, w) float64; negative where a cell speaks against the match. All 0 where Fz is.
    """
    values = np.asarray(feature_map, dtype=np.float64)
    if pooling is Pooling.GEM:
        values = np.maximum(values, eps) ** p
    weights = np.asarray(z, dtype=np.float64)
    q = np.asarray(query, dtype=np.float64)
    back = q if whitening is None else whitening.back(q)
    parts = np.zeros(values.shape[1:])
    merged = np.zeros(len(q))
    for mask, weight in zip(as_masks(regions, shape=parts.shape), weights, strict=True):
        if weight <= 0 or not mask.any():
            continue
        window = _window(mask)
        inside = mask[window]
        split = _split(values[:, *window], inside, pooling, p=p)  # (C, rows, columns)
        pooled = split.sum(axis=(1, 2))
        length = float(np.linalg.norm(pooled))
        if length == 0:
            continue
        compared = pooled / length if whitening is None else whitening.project(pooled / length)
        reach = float(np.linalg.norm(compared))
        if reach == 0:
            continue
        merged += weight / reach * compared
        own = np.tensordot(back / length, split, axes=1)
        if whitening is not None:
            own -= (back @ whitening.mean) * inside / inside.sum()
        parts[window] += weight / reach * own
    total = float(np.linalg.norm(merged) * np.linalg.norm(q))
    return parts / total if total > 0 else np.zeros_like(parts)


def _window(mask: Float64) -> tuple[slice, slice]:
    """The rows and columns outside of which a region has no cell."""
    down, across = np.nonzero(mask)
    return slice(down.min(), down.max() + 1), slice(across.min(), across.max() + 1)


def _split(values: Float64, mask: Float64, pooling: Pooling, *, p: float) -> Float64:
    """(C, rows, columns) the pooled value of each channel, dealt out to the cells.

    ``values``: of the cells; their p-th powers for GEM.
    """
    if pooling is Pooling.MAX:
        inside = np.where(mask > 0, values, -np.inf)
        largest = inside.max(axis=(1, 2), keepdims=True)
        holds = inside == largest
        even = np.where(holds, largest, 0.0) / holds.sum(axis=(1, 2), keepdims=True)
        return cast(Float64, even)
    weighted = values * mask
    if pooling is Pooling.SUM:
        return weighted
    sums = weighted.sum(axis=(1, 2), keepdims=True)
    means = (sums / mask.sum()) ** (1.0 / p)
    return cast(Float64, weighted / sums * means)
