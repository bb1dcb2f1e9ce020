"""Which hits are likely to be the thing, and whether there are any.

A cosine alone does not say: how high unrelated photos score depends on the query. So a hit is
measured against the middle of the first hits, as the share of the way from there to a perfect
match. Chosen on 60 boxes of cutouts and 60 whole photos of holidays with the standard settings. Of
searches that can find their thing 3 to 7 % (cutouts) and 10 to 15 % (holidays) are told that there
is no good match; of the same ones without their positives, 77 to 87 % and 50 to 65 %. Among likely
hits 85 % and 34 % are right, and 80 % and 77 % of the positives are among them.
"""

import numpy as np

from engine.requests import Cutoff
from engine.types import FloatArray

FIRST_HITS = 100
LEAST_HITS = 12
"""With fewer hits their middle says nothing, and all are shown as they are."""
CERTAIN_COS = 0.75
"""From here on a hit is good even if all others are: an album of one thing."""
BEST_SHARE = 0.27
LIKELY_SHARE = 0.25


def cutoff_of(scores: FloatArray) -> Cutoff | None:
    """Where to cut a ranking off.

    Args:
        scores: (n,) of the ranking, best first.

    Returns:
        None where fewer than `LEAST_HITS` photos say nothing of what is usual.
    """
    first = scores[:FIRST_HITS]
    if len(first) < LEAST_HITS:
        return None
    middle = float(np.median(first))

    def from_here(share: float) -> float:
        return min(CERTAIN_COS, middle + share * (1.0 - middle))

    return Cutoff(score=from_here(LIKELY_SHARE), good=bool(first[0] >= from_here(BEST_SHARE)))
