"""Feature map pooling: the channels of a photo show where its base regions lie.

Cao et al. 2016 (arXiv 1606.06811), section 3.2. Region d is the support of channel d,
R_d = {i : x_i^(d) > 0}, its feature f_d = Σ_{i∈R_d} x_i, L2. Per photo the features f_d are
clustered into K groups, and the regions of a group merge into one. A channel that fires nowhere
has no region.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.config import Clustering, Pooling
from engine.features.pooling import pool, unit_rows
from engine.types import FloatArray

ClusterArray = NDArray[np.int32]

_CONNECTED = 1e-6
"""Added to every affinity: channels that share no cell would fall into separate graphs, whose
spectral embedding is not defined."""

_SAME = 1e-4
"""Features that agree in every value to this much are one point to k-means."""


class MergeRule(StrEnum):
    """What the regions of a group merge into. The paper does not say; SUM was measured to be far
    better the fewer groups there are, for the union of many supports is nearly the whole photo."""

    UNION = "union"
    """The union of the supports, then sum-pooled: a cell counts once."""
    SUM = "sum"
    """The sum of the members' unit features: a cell counts once for each channel that fires there,
    by 1/‖f_d‖. It is the merge of programme (6) with equal weights inside a group."""


@dataclass(frozen=True, slots=True, eq=False)
class ChannelRegions:
    """The base regions of one photo.

    ``features``: (K, C) float32, rows of unit length. ``clusters``: (C,) int32, the region of each
    channel, -1 for one that fires nowhere. K is at most what was asked for, and 0 for a map of
    zeros.
    """

    features: FloatArray
    clusters: ClusterArray


def channel_regions(
    feature_map: ArrayLike,
    k: int | None,
    *,
    clustering: Clustering = Clustering.SPECTRAL,
    merge: MergeRule = MergeRule.SUM,
    seed: int = 0,
) -> ChannelRegions:
    """Feature map pooling of one photo.

    Args:
        feature_map: (C, h, w) after a ReLU; values below 0 are outside every support.
        k: number of groups; None, or as many as channels fire, for one region per channel.
        seed: of the k-means; the same map and seed give the same regions.
    """
    if k is not None and k < 1:
        raise ValueError(f"{k} regions")
    values = np.asarray(feature_map, dtype=np.float32)
    supports = (values > 0).reshape(len(values), -1)
    live = np.flatnonzero(supports.any(axis=1))
    clusters = np.full(len(values), -1, dtype=np.int32)
    if not len(live):
        return ChannelRegions(np.zeros((0, len(values)), np.float32), clusters)
    if k is None or k >= len(live):
        clusters[live] = np.arange(len(live))
    else:
        features = unit_rows(_sums(values, supports[live]))
        clusters[live] = _ordered(_labels(features, k, clustering, seed))
    weights = channel_weights(values, clusters, merge=merge)
    return ChannelRegions(pool(values, weights, Pooling.SUM), clusters)


def channel_weights(
    feature_map: ArrayLike, clusters: ClusterArray, *, merge: MergeRule = MergeRule.SUM
) -> NDArray[np.float32]:
    """(K, h, w) the weight of each cell in each region: sum-pooled with them, the map gives the
    features of `channel_regions`, and `engine.rank.attribution` says where a score comes from.

    Args:
        feature_map: (C, h, w), the one that was clustered.
        clusters: (C,) of `channel_regions`.
    """
    values = np.asarray(feature_map, dtype=np.float32)
    supports = (values > 0).reshape(len(values), -1).astype(np.float32)
    members = (clusters[None, :] == np.arange(clusters.max(initial=-1) + 1)[:, None]).astype(
        np.float32
    )
    if merge is MergeRule.UNION:
        weights = (members @ supports > 0).astype(np.float32)
    else:
        lengths = np.linalg.norm(_sums(values, supports), axis=1)
        weights = (members / np.where(lengths > 0, lengths, 1.0)) @ supports
    return np.asarray(weights.reshape(len(members), *values.shape[1:]), dtype=np.float32)


def _sums(values: FloatArray, supports: NDArray[np.generic]) -> FloatArray:
    """(n, C) Σ_{i∈R_d} x_i for the supports (n, h·w): all at once, F = S Xᵀ."""
    product: FloatArray = supports.astype(np.float32) @ values.reshape(len(values), -1).T
    return product


# --- clustering -----------------------------------------------------------------------------


def _labels(features: FloatArray, k: int, clustering: Clustering, seed: int) -> NDArray[np.intp]:
    """(n,) the group of each of n > k features."""
    if clustering is Clustering.SPECTRAL:
        return _spectral(features, k, seed)
    return _kmeans(features, k, seed)


def _spectral(features: FloatArray, k: int, seed: int) -> NDArray[np.intp]:
    # Importing takes a second, which only who clusters should wait for.
    from sklearn.cluster import spectral_clustering

    # The paper names no affinity. Cosines; below 0 there are none after a ReLU but by rounding.
    affinity = np.clip(features @ features.T, 0.0, 1.0).astype(np.float64) + _CONNECTED
    labels: NDArray[np.intp] = spectral_clustering(
        affinity, n_clusters=k, eigen_solver="arpack", assign_labels="cluster_qr", random_state=seed
    )
    return labels


def _kmeans(features: FloatArray, k: int, seed: int) -> NDArray[np.intp]:
    from sklearn.cluster import KMeans

    # Channels with equal supports have equal features. Fewer distinct points than groups would be
    # warned of, so equal ones enter as one point that weighs as much.
    points, which, counts = np.unique(
        np.round(features.astype(np.float64) / _SAME),
        axis=0,
        return_inverse=True,
        return_counts=True,
    )
    if len(points) <= k:
        return np.asarray(which.ravel())
    means = KMeans(n_clusters=k, n_init=1, random_state=seed)
    labels: NDArray[np.intp] = means.fit(points * _SAME, sample_weight=counts).labels_
    return labels[which.ravel()]


def _ordered(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Groups renumbered by their first channel, without empty ones."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[which.ravel()]
