"""The re-rankings of the table: each what is asked with, which regions, and how they merge."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.comparing.channels import ChannelMap, match_channels, region_lengths
from engine.comparing.extraction import Content, HalfArray
from engine.comparing.kept import Arrays
from engine.comparing.matching import Matching, match
from engine.comparing.material import Material, Question
from engine.comparing.regions import (
    ChannelGroups,
    Regions,
    fine_squares,
    pyramid,
    query_parts,
)
from engine.config import Aggregation, Clustering, Pooling
from engine.features.aggregation import aggregate, gem
from engine.features.pooling import unit_rows
from engine.rank.focus import channel_focus
from engine.types import FloatArray

Rows = NDArray[np.int64]
Asks = Callable[[Question, Callable[[Content], HalfArray]], FloatArray]


@dataclass(frozen=True, slots=True)
class Reranking:
    """``name``: for the table. ``asks``: makes the (P, C) parts that a question is asked with.
    ``asked_pooling``: of those, for people. ``regions`` None: every channel's own."""

    name: str
    matching: Matching
    regions: Regions | None
    asks: Asks
    asked_pooling: str

    @property
    def pooling(self) -> str:
        """Of both sides, the query's first."""
        mine = Pooling.SUM if self.regions is None else self.regions.pooling
        return f"{self.asked_pooling} / {mine}"

    def over(self, material: Material) -> "Scorer":
        """It, at work."""
        if self.regions is None:
            return _ChannelScorer(self, material)
        return _RegionScorer(self, material, self.regions)


class Scorer(ABC):
    """A re-ranking over one material. Scores of a query and a photo are computed once."""

    def __init__(self, reranking: Reranking, material: Material) -> None:
        self.reranking = reranking
        self._material = material
        self._known: dict[int, dict[int, float]] = {}
        self._seconds: list[float] = []

    @property
    def seconds(self) -> float:
        """Mean time of matching a query with the first list that it was given."""
        return float(np.mean(self._seconds)) if self._seconds else 0.0

    def scores(self, number: int, rows: Rows) -> NDArray[np.float64]:
        """Scores of the photos in ``rows`` for the query of this number."""
        material = self._material
        material.extraction.ticket.update(self.reranking.name, number, len(material.questions))
        known = self._known.get(number)
        new = np.array([row for row in rows.tolist() if known is None or row not in known], int)
        if len(new):
            match_now = self._prepared(self._parts(number), new)
            begun = time.perf_counter()
            scores = match_now()
            if known is None:
                self._seconds.append(time.perf_counter() - begun)
            self._known.setdefault(number, {}).update(
                zip(new.tolist(), scores.tolist(), strict=True)
            )
        return np.array([self._known[number][row] for row in rows.tolist()])

    def _parts(self, number: int) -> FloatArray:
        question = self._material.questions[number]
        return self.reranking.asks(question, self._material.extraction.map_of)

    @property
    @abstractmethod
    def bytes_per_photo(self) -> float:
        """Of the features that it matches, as float16."""

    @abstractmethod
    def focus(self, number: int, row: int) -> FloatArray:
        """(h, w) in [0, 1]: where this photo matches this query."""

    @abstractmethod
    def _prepared(self, parts: FloatArray, rows: Rows) -> Callable[[], NDArray[np.float64]]:
        """What gives the scores, with all at hand that is there before anybody asks."""


class _RegionScorer(Scorer):
    def __init__(self, reranking: Reranking, material: Material, regions: Regions) -> None:
        super().__init__(reranking, material)
        self._regions = regions
        extraction = material.extraction
        self._tables = [
            extraction.derived(content, regions.key, regions.of)["features"]
            for content in extraction.each(material.ranked, reranking.name)
        ]

    @property
    def bytes_per_photo(self) -> float:
        return float(np.mean([table.nbytes for table in self._tables]))

    def focus(self, number: int, row: int) -> FloatArray:
        parts, table = self._parts(number), self._tables[row]
        _, weights = match(self.reranking.matching, parts, table, [0, len(table)])
        extraction, content = self._material.extraction, self._material.ranked[row]
        kept = extraction.derived(content, self._regions.key, self._regions.of)
        feature_map = extraction.map_of(content)
        maps = [
            self._regions.focus(feature_map, kept, z, part)
            for part, z in zip(parts, weights, strict=True)
        ]
        return np.asarray(np.mean(maps, axis=0), dtype=np.float32)

    def _prepared(self, parts: FloatArray, rows: Rows) -> Callable[[], NDArray[np.float64]]:
        tables = [self._tables[row] for row in rows.tolist()]
        ticket = self._material.extraction.ticket

        def scores() -> NDArray[np.float64]:
            starts = np.cumsum([0, *map(len, tables)])
            regions = np.concatenate(tables)
            return match(self.reranking.matching, parts, regions, starts, ticket=ticket)[0]

        return scores


class _ChannelScorer(Scorer):
    @property
    def bytes_per_photo(self) -> float:
        contents = self._material.ranked
        live = [np.count_nonzero(self._lengths(content)) for content in contents]
        return 2.0 * len(self._lengths(contents[0])) * float(np.mean(live))

    def focus(self, number: int, row: int) -> FloatArray:
        content = self._material.ranked[row]
        _, (z,) = match_channels(self._parts(number)[0], [self._channels(content)])
        return channel_focus(self._material.extraction.map_of(content), np.arange(len(z)), z)

    def _prepared(self, parts: FloatArray, rows: Rows) -> Callable[[], NDArray[np.float64]]:
        maps = [self._channels(self._material.ranked[row]) for row in rows.tolist()]
        ticket = self._material.extraction.ticket
        return lambda: match_channels(parts[0], maps, ticket=ticket)[0]

    def _channels(self, content: Content) -> ChannelMap:
        feature_map = self._material.extraction.map_of(content)
        return ChannelMap.of(feature_map, self._lengths(content))

    def _lengths(self, content: Content) -> FloatArray:
        kept = self._material.extraction.derived(content, "fmp-lengths", _lengths_of)
        lengths: FloatArray = kept["lengths"]
        return lengths


def _lengths_of(feature_map: HalfArray) -> Arrays:
    return {"lengths": region_lengths(feature_map)}


# --- what is asked with ---------------------------------------------------------------------


def asks_with(aggregation: Aggregation) -> Asks:
    """The aggregated crop as the one part."""

    def asks(question: Question, map_of: Callable[[Content], HalfArray]) -> FloatArray:
        return aggregate(map_of(question.crop), aggregation)[None]

    return asks


def default_parts(question: Question, map_of: Callable[[Content], HalfArray]) -> FloatArray:
    """A box: the mean of its crops' GeM descriptors, as one part. A whole photo: its parts."""
    if not question.scaled:
        return query_parts(map_of(question.crop))
    found = np.stack([gem(map_of(content)) for content in question.scaled])
    return unit_rows(found.mean(axis=0, keepdims=True))


# --- the re-rankings ------------------------------------------------------------------------


def groups(k: int | None, clustering: Clustering = Clustering.SPECTRAL) -> Reranking:
    """QAM on feature map pooling."""
    regions = None if k is None else ChannelGroups(k, clustering)
    how = "no clustering" if k is None else f"K = {k}, {clustering}"
    asks = asks_with(Aggregation.SPOC)
    return Reranking(f"QAM (FMP, {how})", Matching.QAM, regions, asks, "sum")


def of_pyramid(matching: Matching, pooling: Pooling) -> Reranking:
    """QAM or the best region of the pyramid, max-pooled with an R-MAC query or GeM-pooled with a
    GeM query."""
    asks, how = (
        (asks_with(Aggregation.RMAC), "r-mac")
        if pooling is Pooling.MAX
        else (asks_with(Aggregation.GEM), "gem")
    )
    name = f"{matching} (OSPP, {pooling})"
    return Reranking(name, matching, pyramid(pooling), asks, how)


def default() -> Reranking:
    """Sparse merging of fine squares."""
    return Reranking("the default", Matching.SPARSE, fine_squares(), default_parts, "gem, parts")


def of_the_table() -> Sequence[Reranking]:
    """All that every aggregation's list is re-ranked by."""
    spectral = groups(25)
    return (
        spectral,
        groups(25, Clustering.KMEANS),
        Reranking(
            "best region (FMP, K = 25, spectral)",
            Matching.BEST,
            spectral.regions,
            spectral.asks,
            spectral.asked_pooling,
        ),
        of_pyramid(Matching.QAM, Pooling.MAX),
        of_pyramid(Matching.BEST, Pooling.MAX),
        of_pyramid(Matching.QAM, Pooling.GEM),
        of_pyramid(Matching.BEST, Pooling.GEM),
        default(),
    )
