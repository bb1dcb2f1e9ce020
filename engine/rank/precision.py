"""Average precision, exactly: of a ranking, and of scores."""

import numpy as np
from numpy.typing import NDArray

Relevance = NDArray[np.bool_]
Scores = NDArray[np.floating]


def average_precision(relevant: Relevance, positives: int) -> float:
    """AP = Σ_k P_k Δr_k (Revaud et al. 2019, arXiv 1906.07589, equations 2 to 4).

    P_k is the precision among the first k, and recall grows by 1/N_q at each positive.

    Args:
        relevant: (N,) whether the photo at each place of the ranking is a positive; the query's
            own photo and its junk have left.
        positives: N_q ≥ 1, how many there are, also where the ranking lacks some.
    """
    ranks = np.flatnonzero(relevant) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / positives)


def average_precision_by_trapezoids(relevant: Relevance, positives: int) -> float:
    """AP as the area under the curve of precision over recall, by the trapezoid rule.

    Each positive adds 1/N_q times the mean of the precision just before it and at it, where the
    precision before the first rank is 1. So does the programme that comes with Oxford5k (Philbin
    et al. 2007) and the one of its revised form (Radenović et al. 2018, arXiv 1803.11285).

    Args:
        relevant: (N,) as for `average_precision`.
        positives: N_q ≥ 1, how many there are, also where the ranking lacks some.
    """
    before = np.flatnonzero(relevant)  # how many photos lie before each positive
    found = np.arange(len(before))  # and how many of them are positives
    precision_before = np.where(before > 0, found / np.maximum(before, 1), 1.0)
    precision_at = (found + 1) / (before + 1)
    return float((precision_before + precision_at).sum() / 2 / positives)


def average_precision_of_scores(scores: Scores, relevant: Relevance) -> float | None:
    """AP of the ranking that the scores make, what the quantised losses approximate (Revaud et al.
    2019, arXiv 1906.07589, equation 2). Equal scores rank in the order in which they stand.

    Args:
        scores: (N,) similarities to a query.
        relevant: (N,) whether each is a positive.

    Returns:
        0…1; None without a positive: then there is no average precision.
    """
    positives = int(relevant.sum())
    if not positives:
        return None
    return average_precision(relevant[np.argsort(-scores, kind="stable")], positives)
