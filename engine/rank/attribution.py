"""Exact attribution: the score of a match, split among the cells of the feature map.

Cao et al. 2016 (arXiv 1606.06811) draw Σ_d z_d · X_d; what follows says more: every cell's part of
the score itself, for whichever pooling and whitening, and the parts add up to the score.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.config import Pooling
from engine.features.head import Head
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
    head: Head | None = None,
) -> Float64:
    """What each cell gives to the score of a merge of pooled regions.

    With g_k the pooled values of region k and f_k = g_k/‖g_k‖ its feature, the score (equation 3)
    is qᵀFz/(‖q‖ ‖Fz‖) = Σ_k z_k/(‖q‖ ‖Fz‖ ‖g_k‖) Σ_c q_c g_kc. Each g_kc is split among the cells
    i of the region, of weight w_ki:

        SUM  g_kc = Σ_i w_ki x_ic, so each cell has its own term;
        MAX  the cell of the maximum has it all; cells that share the maximum share it evenly;
        GEM  by the shares w_ki x_ic^p / Σ_j w_kj x_jc^p of the mean.

    Shares add up to 1, so the parts add up to the score.

    A head makes a region u_k = y_k/‖y_k‖ from some y_k, for a whitening y_k = P(f_k - μ), and the
    score is of q and the u_k. As qᵀy_k = (Pᵀq)ᵀf_k - (Pᵀq)ᵀμ, the first term is split as above
    with Pᵀq in the place of q; the second belongs to no cell more than to another and is spread
    over the region by w_ki. So the parts still add up, and a cell is warm if it is more like the
    query than the mean is. A linear layer before it is the same once more, for the lengths that
    this region has (`engine.features.head.Head.back`).

    Args:
        feature_map: (C, h, w), any float type.
        regions: (R, 4) x0, y0, x1, y1 in cells, x1 and y1 excluded; or (R, h, w) weights ≥ 0,
            e.g. of `engine.features.fmp.channel_weights`.
        z: (R,) weights of the merge, ≥ 0, of regions of unit length.
        query: the query's feature as it is compared, of any positive length: (C,), or (k,) after
            the head.
        pooling, p, eps: of the regions, as in `engine.features.pooling.pool`.
        head: of the regions, or None: nothing but L2.

    Returns:
        (h, w) float64; negative where a cell speaks against the match. All 0 where Fz is.
    """
    values = _pooled_values(feature_map, pooling, p=p, eps=eps)
    weights = np.asarray(z, dtype=np.float64)
    q = np.asarray(query, dtype=np.float64)
    parts = np.zeros(values.shape[1:])
    merged = np.zeros(len(q))
    for mask, weight in zip(as_masks(regions, shape=parts.shape), weights, strict=True):
        seen = _seen(values, mask, pooling, p, head or Head()) if weight > 0 else None
        if seen is not None:
            merged += weight * seen.feature
            parts[seen.window] += weight * seen.split_between(q)
    total = float(np.linalg.norm(merged) * np.linalg.norm(q))
    return parts / total if total > 0 else np.zeros_like(parts)


def mean_attribution(
    feature_map: ArrayLike,
    regions: ArrayLike,
    z: ArrayLike,
    queries: ArrayLike,
    *,
    pooling: Pooling = Pooling.GEM,
    p: float = GEM_P,
    eps: float = GEM_EPS,
    centre: ArrayLike | None = None,
    head: Head | None = None,
) -> Float64:
    """What each cell gives to a weighted mean of cosines, the score of `engine.rank.sparse`.

    The score of a query with parts q_1..q_P is (1/P) Σ_p Σ_k z_pk q_pᵀf_k = Σ_k v_kᵀf_k with
    v_k = (1/P) Σ_p z_pk q_p: each region's own term is split among its cells as `attribution`
    does it, so these parts add up to the score as well.

    Args:
        z: (P, R) weights, ≥ 0; queries: (P, C) unit rows, centred already if a centre is given.
        centre: (C,) subtracted from every region, which is then brought to unit length again;
            only of networks without a head.
        The rest as in `attribution`.

    Returns:
        (h, w) float64.
    """
    values = _pooled_values(feature_map, pooling, p=p, eps=eps)
    asked = np.asarray(z, dtype=np.float64).T @ np.asarray(queries, dtype=np.float64)  # (R, C)
    asked /= len(np.asarray(queries))
    if centre is not None:
        head = Head(whitening=Whitening.centring(centre, name="", count=0))
    parts = np.zeros(values.shape[1:])
    for mask, q in zip(as_masks(regions, shape=parts.shape), asked, strict=True):
        seen = _seen(values, mask, pooling, p, head or Head()) if q.any() else None
        if seen is not None:
            parts[seen.window] += seen.split_between(q)
    return parts


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A region: its ``feature`` as it is compared, at unit length, and how the ``pooled`` values
    (C,) ``split`` (C, rows, columns) lie among the ``weights`` in its ``window``. ``reach``: the
    length of what the head makes of them."""

    feature: Float64
    window: tuple[slice, slice]
    weights: Float64
    split: Float64
    pooled: Float64
    head: Head
    reach: float

    def split_between(self, query: Float64) -> Float64:
        """(rows, columns) each cell's part of the product of the query and the feature."""
        back, constant = self.head.back(query, self.pooled)
        own = cast(Float64, np.tensordot(back, self.split, axes=1))
        own += constant * self.weights / self.weights.sum()
        return own / self.reach


def _pooled_values(feature_map: ArrayLike, pooling: Pooling, *, p: float, eps: float) -> Float64:
    """(C, h, w) what is summed or compared in a region."""
    values = np.asarray(feature_map, dtype=np.float64)
    return np.maximum(values, eps) ** p if pooling is Pooling.GEM else values


def _seen(values: Float64, mask: Float64, pooling: Pooling, p: float, head: Head) -> _Seen | None:
    """A region of the map, or None if it has no feature."""
    if not mask.any():
        return None
    window = _window(mask)
    inside = mask[window]
    split = _split(values[:, *window], inside, pooling, p=p)
    pooled = split.sum(axis=(1, 2))
    if not pooled.any():
        return None
    compared = head.project(pooled)
    reach = float(np.linalg.norm(compared))
    if reach == 0:
        return None
    feature = np.asarray(compared / reach, dtype=np.float64)
    return _Seen(feature, window, inside, split, pooled, head, reach)


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
        return cast(Float64, weighted / mask.sum())
    sums = weighted.sum(axis=(1, 2), keepdims=True)
    means = (sums / mask.sum()) ** (1.0 / p)
    return cast(Float64, weighted / sums * means)
