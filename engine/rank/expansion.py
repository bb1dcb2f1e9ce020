"""Query expansion: the query and what it found, searched for again.

The paper of query adaptive matching averages the query with the global descriptors of the
re-ranked top 5 and searches again (Cao et al. 2016, arXiv 1606.06811). The weighted form is the
αQE that Revaud et al. use, "Learning with Average Precision" (ICCV 2019, arXiv 1906.07589).
"""

import numpy as np

from engine.types import FloatArray


def average(query: FloatArray, found: FloatArray) -> FloatArray:
    """The mean of the query and what it found, at unit length.

    Args:
        query: (D,) unit.
        found: (k, D) unit global descriptors of the best hits; k may be 0.
    """
    return _unit(query.astype(np.float64) + found.sum(axis=0, dtype=np.float64))


def alpha_weighted(query: FloatArray, found: FloatArray, *, alpha: float) -> FloatArray:
    """q' = normalise(q + Σ_i max(qᵀd_i, 0)^α d_i): what is closer counts for more.

    Args:
        query: (D,) unit.
        found: (k, D) unit global descriptors of the best hits; k may be 0.
        alpha: ≥ 0; at 0 every hit of positive similarity counts alike.
    """
    cosines = found.astype(np.float64) @ query.astype(np.float64)
    weights = np.where(cosines > 0, np.maximum(cosines, 0.0) ** alpha, 0.0)
    return _unit(query + weights @ found)


def _unit(vector: np.ndarray) -> FloatArray:
    length = float(np.linalg.norm(vector))
    return (vector / length if length > 0 else vector).astype(np.float32)
