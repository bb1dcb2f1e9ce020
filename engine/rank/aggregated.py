"""Which cells a global cosine is made of, for every aggregation of a whole photo."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.config import Aggregation, Pooling
from engine.features.aggregation import RMAC_LEVELS, crow_weights
from engine.features.grid import rmac_grid
from engine.rank.attribution import attribution

Float64 = NDArray[np.float64]

_POOLED = {
    Aggregation.MAC: Pooling.MAX,
    Aggregation.SPOC: Pooling.SUM,
    Aggregation.GEM: Pooling.GEM,
}


def global_attribution(
    feature_map: ArrayLike, aggregation: Aggregation, query: ArrayLike, *, p: float, eps: float
) -> Float64:
    """What each cell gives to the cosine of a query with an aggregated feature map.

    MAC, SPoC and GeM are one region that is the whole map. R-MAC is the merge of its max-pooled
    regions with weights of 1. CroW weighs the channels after summing: with β these weights and f
    the weighted sum, qᵀ(β∘f) = (q∘β)ᵀf, whose parts are those of sum pooling.

    Args:
        feature_map: (C, h, w). query: (C,) of any positive length. p, eps: of GEM.

    Returns:
        (h, w) float64, whose sum is the cosine.
    """
    h, w = np.shape(feature_map)[1:]
    whole = np.array([[0, 0, w, h]])
    if aggregation is Aggregation.RMAC:
        regions = rmac_grid(h, w, RMAC_LEVELS)
        weights = np.ones(len(regions))
        return attribution(feature_map, regions, weights, query, pooling=Pooling.MAX)
    if aggregation is Aggregation.CROW:
        return _crow(feature_map, np.asarray(query, dtype=np.float64))
    pooling = _POOLED[aggregation]
    return attribution(feature_map, whole, [1.0], query, pooling=pooling, p=p, eps=eps)


def _crow(feature_map: ArrayLike, query: Float64) -> Float64:
    values = np.maximum(np.asarray(feature_map, dtype=np.float64), 0.0)
    spatial, channel = crow_weights(values)
    terms = np.tensordot(query * channel, values, axes=1) * spatial
    length = np.linalg.norm(np.tensordot(values, spatial, axes=2) * channel)
    total = float(length * np.linalg.norm(query))
    return np.asarray(terms / total if total > 0 else np.zeros_like(terms), dtype=np.float64)
