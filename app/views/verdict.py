"""Whether a search found anything worth the name."""

from engine.requests import SearchAnswer

# PROVISIONAL
_WEAK = {"qam": 0.5, "global": 0.4}


def is_weak(answer: SearchAnswer) -> bool:
    """Whether even the best hit is no good match."""
    return bool(answer.hits) and answer.hits[0].score < _WEAK.get(answer.method, 0.0)
