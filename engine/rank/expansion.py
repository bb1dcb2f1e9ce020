"""Query expansion and relevance feedback: the query together with what it found.

The paper of query adaptive matching averages the query with the global descriptors of the
re-ranked top 5 and searches again (Cao et al. 2016, arXiv 1606.06811). The weighted form is the
αQE that Revaud et al. use, "Learning with Average Precision" (ICCV 2019, arXiv 1906.07589).
Feedback is Rocchio's ("Relevance feedback in information retrieval", 1971) on the parts that
matched rather than on whole photos: what else a photo shows is not what the searcher pointed at.
"""

import numpy as np

from engine.types import FloatArray

LIKED_SHARE = 0.75
DISLIKED_SHARE = 0.25
"""Rocchio's β and γ beside a query of weight 1, as they are commonly taken: what is wanted says
more than what is not."""


def average(query: FloatArray, found: FloatArray) -> FloatArray:
    """The mean of the query and what it found, at unit length.

    Args:
        query: (…, D) unit.
        found: (k, …, D) unit, for each of the best k hits; k may be 0.
    """
    return _unit(query.astype(np.float64) + found.sum(axis=0, dtype=np.float64))


def alpha_weighted(query: FloatArray, found: FloatArray, *, alpha: float) -> FloatArray:
    """q' = normalise(q + Σ_i max(qᵀd_i, 0)^α d_i): what is closer counts for more.

    Args:
        query: (…, D) unit.
        found: (k, …, D) unit, for each of the best k hits; k may be 0.
        alpha: ≥ 0; at 0 every hit of positive similarity counts alike.
    """
    cosines = (found.astype(np.float64) * query).sum(axis=-1, keepdims=True)
    weights = np.where(cosines > 0, np.maximum(cosines, 0.0) ** alpha, 0.0)
    return _unit(query + (weights * found).sum(axis=0))


def steered(query: FloatArray, liked: FloatArray, disliked: FloatArray) -> FloatArray:
    """q' = normalise(q + β·mean(liked) - γ·mean(disliked)).

    Args:
        query: (P, D) unit rows.
        liked, disliked: (k, P, D) what matched each part in the photos that a searcher pointed
            at, unit rows; k may be 0.
    """
    moved = query.astype(np.float64)
    for examples, share in ((liked, LIKED_SHARE), (disliked, -DISLIKED_SHARE)):
        if len(examples):
            moved = moved + share * examples.mean(axis=0, dtype=np.float64)
    return _unit(moved)


def _unit(vectors: np.ndarray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
