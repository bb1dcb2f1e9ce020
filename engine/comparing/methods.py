"""Rows of one material: every aggregation, every re-ranking of its list, and expansions."""

from collections.abc import Iterator

from engine.comparing.descriptors import Descriptors
from engine.comparing.judging import Judge
from engine.comparing.material import Material
from engine.comparing.rankings import Rankings, by_descriptor, expanded, reranked
from engine.comparing.reranking import Reranking, Scorer
from engine.comparing.table import Row
from engine.config import Expansion
from engine.requests import EvaluateReport


class Methods:
    """Makes rows; features, scores and focus figures that rows have in common come once."""

    def __init__(self, material: Material, *, setting: str = "") -> None:
        """``setting``: the value of a sweep, for the rows."""
        self._material = material
        self._setting = setting
        self._judge = Judge(material)
        self._masked = any(query.masks for query in material.truth.queries)
        self._scorers: dict[str, Scorer] = {}
        self._pointing: dict[str, tuple[float | None, float | None]] = {}

    def aggregated(self, descriptors: Descriptors) -> Row:
        """The row of an aggregation alone."""
        rankings = by_descriptor(self._material, descriptors)
        return self._row(descriptors, rankings, None, Expansion.NONE)

    def reranked(
        self, descriptors: Descriptors, reranking: Reranking, *, expand: bool
    ) -> Iterator[Row]:
        """The row of a re-ranking of an aggregation's list; with ``expand`` also those of both
        expansions after it."""
        if reranking.name not in self._scorers:
            self._scorers[reranking.name] = reranking.over(self._material)
        scorer = self._scorers[reranking.name]
        first = by_descriptor(self._material, descriptors)
        rankings = reranked(first, scorer)
        yield self._row(descriptors, rankings, scorer, Expansion.NONE)
        if expand:
            for kind in (Expansion.AVERAGE, Expansion.ALPHA):
                again = expanded(self._material, descriptors, rankings, kind)
                yield self._row(descriptors, again, scorer, kind)

    def _row(
        self,
        descriptors: Descriptors,
        rankings: Rankings,
        scorer: Scorer | None,
        expansion: Expansion,
    ) -> Row:
        report = self._judge.figures(rankings)
        pointing, iou = (None, None) if scorer is None else self._focus(scorer, rankings)
        kept = 2.0 * descriptors.photos.shape[1]
        aggregation = str(descriptors.aggregation)
        return Row(
            aggregation=aggregation,
            whitened=descriptors.whitening is not None,
            reranking="" if scorer is None else scorer.reranking.name,
            expansion=expansion,
            pooling=f"{aggregation} / {aggregation}"
            if scorer is None
            else scorer.reranking.pooling,
            map=report.map,
            ns=report.ns_score,
            pointing=pointing,
            iou=iou,
            seconds=rankings.seconds,
            bytes_per_photo=kept + (0.0 if scorer is None else scorer.bytes_per_photo),
            protocols={name: figures.map for name, figures in report.protocols.items()},
            setting=self._setting,
        )

    def _focus(self, scorer: Scorer, rankings: Rankings) -> tuple[float | None, float | None]:
        """Found or not, every positive with a mask is judged, so the list does not matter."""
        name = scorer.reranking.name
        if self._masked and name not in self._pointing:
            report: EvaluateReport = self._judge.figures(rankings, scorer.focus)
            self._pointing[name] = report.pointing, report.focus_iou
        return self._pointing.get(name, (None, None))
