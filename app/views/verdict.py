"""Which hits are likely to be the thing, and whether there are any.

A cosine alone does not say: how high unrelated photos score depends on the query. So a hit is
measured against the middle of the first hits, as the share of the way from there to a perfect
match. Chosen and measured with efficientnet-lite0 on the same queries, 60 boxes of cutouts and 60
whole photos of holidays. Likely hits: 79 % of them are right and 74 % of the positives are among
them (cutouts). No likely hit is said of 5 % of the searches that can find their thing, and of 87 %
of those whose positives are taken away (cutouts; holidays 8 % and 37 %).
"""

from statistics import median

from engine.requests import SearchAnswer

FIRST_HITS = 100
LEAST_HITS = 12
"""With fewer hits their middle says nothing, and all are shown as they are."""
CERTAIN_COS = 0.75
"""From here on a hit is good even if all others are: an album of one thing."""
BEST_SHARE = 0.27
LIKELY_SHARE = 0.2


def likely_hits(answer: SearchAnswer) -> int:
    """How many hits, counted from the best, are likely; 0: not even the best is a good match."""
    scores = [hit.score for hit in answer.hits[:FIRST_HITS]]
    if len(scores) < LEAST_HITS:
        return len(scores)
    middle = median(scores)

    def reaches(score: float, share: float) -> bool:
        return score >= CERTAIN_COS or score - middle >= share * (1.0 - middle)

    if not reaches(scores[0], BEST_SHARE):
        return 0
    return sum(reaches(score, LIKELY_SHARE) for score in scores)
