"""What an evaluation should find, as checked and immutable data, whatever file says it.

Photos are paths relative to the folder of the set, "/" between. Boxes are pixels of the upright
photo, polygons lists of points in the same frame that outline where the thing is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from engine.types import Box

Polygon = tuple[tuple[float, float], ...]


class Protocol(StrEnum):
    """How a ranking is judged."""

    LEAVE_QUERY_OUT = "leave-query-out"
    """Holidays, UKBench and the like: the query's own photo leaves its ranking; average precision
    is the sum over ranks."""
    ORIGINAL = "original"
    """Oxford5k and Paris6k (Philbin et al. 2007, 2008): one figure, trapezoid rule. The photo that
    asks is itself ranked, and its files list it among the positives."""
    REVISITED = "revisited"
    """ROxford5k and RParis6k (Radenović et al. 2018, arXiv 1803.11285): the figures easy, medium
    and hard, trapezoid rule; the photos that ask are not among those that are ranked."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What one figure counts as right, and what leaves the ranking before it is taken."""

    positives: tuple[str, ...]
    junk: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TruthQuery:
    """One question and its answers.

    ``masks``: where the thing is, by photo. ``easy`` and ``hard``: in the revisited protocol,
    the two kinds of positives.
    """

    photo: str
    box: Box | None
    positives: tuple[str, ...]
    junk: tuple[str, ...] = ()
    masks: Mapping[str, tuple[Polygon, ...]] = field(default_factory=dict)
    easy: tuple[str, ...] = ()
    hard: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """A set of photos with questions and answers. ``photos``: what is ranked."""

    name: str
    folder: Path
    photos: tuple[str, ...]
    queries: tuple[TruthQuery, ...]
    protocol: Protocol = Protocol.LEAVE_QUERY_OUT

    @property
    def main(self) -> str:
        """The figure that stands for the whole set."""
        return "medium" if self.protocol is Protocol.REVISITED else str(self.protocol)

    @property
    def keeps_own(self) -> bool:
        """Whether the photo that asks stays in its ranking."""
        return self.protocol is Protocol.ORIGINAL

    def answers(self, query: TruthQuery) -> dict[str, Answers]:
        """The answers of a query for each figure of the protocol, by the figure's name."""
        if self.protocol is not Protocol.REVISITED:
            return {self.main: Answers(query.positives, query.junk)}
        return {
            "easy": Answers(query.easy, query.junk + query.hard),
            "medium": Answers(query.easy + query.hard, query.junk),
            "hard": Answers(query.hard, query.junk + query.easy),
        }
