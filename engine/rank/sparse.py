"""Sparse merging: the base regions that match best, in proportion, instead of a free merge.

Query adaptive matching (Cao et al. 2016, arXiv 1606.06811) lets any regions add up to the query,
so that clutter may pay for a match. Here the weights of a candidate's regions are those of

    max_z  Σ_k z_k c_k − ‖z‖²/(2s)   subject to  z ≥ 0, Σ_k z_k = 1,

where c_k = cos(q, f_k). The quadratic penalty is the only difference from taking the single best
region (s → ∞): regions that match nearly as well, as the neighbours of a true match do, share
the weight, and every other region has exactly none. The solution is the projection of s·c on the
simplex, "sparsemax" (Martins and Astudillo 2016, arXiv 1602.02068, algorithm 1), in closed form
by one sort. The score is Σ_k z_k c_k, a mean of cosines.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.types import FloatArray

SHARPNESS = 5.0
"""s: a region takes part if its cosine lies within about 1/s of the best. On the cutouts 5 to 10
rank and point alike; below, the focus map grows over the thing's surroundings."""


def weights(cosines: ArrayLike, *, sharpness: float = SHARPNESS) -> FloatArray:
    """The weights z of equally many regions for each of some questions.

    Args:
        cosines: (…, K) of the query with each region, K ≥ 1.
        sharpness: s > 0; infinity = the single best region (the first of several).

    Returns:
        (…, K) float32, z ≥ 0, of sum 1.
    """
    values = np.asarray(cosines, dtype=np.float32)
    if np.isinf(sharpness):
        return np.asarray(
            np.arange(values.shape[-1]) == values.argmax(-1)[..., None], dtype=np.float32
        )
    # Less the largest: the projection does not change, and the numbers stay small.
    scaled = sharpness * (values - values.max(axis=-1, keepdims=True))
    falling = -np.sort(-scaled, axis=-1)
    sums = falling.cumsum(axis=-1)
    ranks = np.arange(1, values.shape[-1] + 1, dtype=np.float32)
    taking_part = (1 + ranks * falling > sums).sum(axis=-1, keepdims=True)
    threshold = (np.take_along_axis(sums, taking_part - 1, axis=-1) - 1) / taking_part
    return np.asarray(np.maximum(scaled - threshold, 0.0), dtype=np.float32)


def merge_many(
    cosines: FloatArray, starts: ArrayLike, *, sharpness: float = SHARPNESS
) -> tuple[FloatArray, FloatArray]:
    """Sparse merging of many candidates, whose numbers of regions may differ.

    Args:
        cosines: (P, ΣK) of each part of the query with each region, candidate after candidate.
        starts: (N + 1,) candidate n owns the columns starts[n] to starts[n + 1].
        sharpness: see `weights`.

    Returns:
        (P, N) scores, Σ_k z_k c_k within [-1, 1] for cosines that are; 0 for a candidate without
        regions. And (P, ΣK) the weights z, each candidate's of sum 1.
    """
    bounds = np.asarray(starts, dtype=np.int64)
    counts = np.diff(bounds)
    scores = np.zeros((len(cosines), len(counts)), dtype=np.float32)
    z = np.zeros_like(cosines, dtype=np.float32)
    for count in np.unique(counts[counts > 0]):
        members = np.flatnonzero(counts == count)
        columns: NDArray[np.int64] = bounds[members][:, None] + np.arange(count)
        own = cosines[:, columns]  # (P, n, K)
        merged = weights(own, sharpness=sharpness)
        scores[:, members] = (merged * own).sum(axis=-1)
        z[:, columns] = merged
    return scores, z
