"""Which cells a global cosine is made of, for every aggregation of a whole photo."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.config import Aggregation, Pooling
from engine.features.aggregation import RMAC_LEVELS, crow_weights
from engine.features.grid import rmac_grid
from engine.features.head import Head
from engine.rank.attribution import attribution

Float64 = NDArray[np.float64]

_POOLED = {
    Aggregation.MAC: Pooling.MAX,
    Aggregation.SPOC: Pooling.SUM,
    Aggregation.GEM: Pooling.GEM,
}


def global_attribution(
    feature_map: ArrayLike,
    aggregation: Aggregation,
    query: ArrayLike,
    *,
    p: float,
    eps: float,
    head: Head | None = None,
) -> Float64:
    """What each cell gives to the cosine of a query with an aggregated feature map.

    MAC, SPoC and GeM are one region that is the whole map. R-MAC is the merge of its max-pooled
    regions with weights of 1. CroW weighs the channels after summing: with β these weights and f
    the weighted sum, qᵀ(β∘f) = (q∘β)ᵀf, whose parts are those of sum pooling. A head is taken
    into account as `attribution` does it.

    Args:
        feature_map: (C, h, w). query: as it is compared, of any positive length. p, eps: of
            GEM. head: of the network, without a linear layer unless the aggregation is GEM.

    Returns:
        (h, w) float64, whose sum is the cosine.
    """
    h, w = np.shape(feature_map)[1:]
    whole = np.array([[0, 0, w, h]])
    if aggregation is Aggregation.RMAC:
        regions = rmac_grid(h, w, RMAC_LEVELS)
        weights = np.ones(len(regions))
        return attribution(feature_map, regions, weights, query, pooling=Pooling.MAX, head=head)
    if aggregation is Aggregation.CROW:
        return _crow(feature_map, np.asarray(query, dtype=np.float64), head)
    pooling = _POOLED[aggregation]
    return attribution(feature_map, whole, [1.0], query, pooling=pooling, p=p, eps=eps, head=head)


def _crow(feature_map: ArrayLike, query: Float64, head: Head | None) -> Float64:
    values = np.maximum(np.asarray(feature_map, dtype=np.float64), 0.0)
    spatial, channel = crow_weights(values)
    pooled = np.tensordot(values, spatial, axes=2) * channel
    length = float(np.linalg.norm(pooled))
    if length == 0:
        return np.zeros(values.shape[1:])
    whitening = None if head is None else head.whitening
    back = query if whitening is None else whitening.back(query)
    parts = np.tensordot(back * channel, values, axes=1) * spatial / length
    reach = 1.0
    if whitening is not None:
        # What belongs to no cell more than to another is spread over all.
        parts = parts - back @ whitening.mean / parts.size
        reach = float(np.linalg.norm(whitening.project(pooled / length)))
    total = reach * float(np.linalg.norm(query))
    return np.asarray(parts / total if total > 0 else np.zeros_like(parts), dtype=np.float64)
