"""Global descriptors of all photos and questions, plain and whitened."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.comparing.extraction import Content, Extraction, HalfArray
from engine.comparing.kept import Arrays
from engine.comparing.material import Material
from engine.config import Aggregation
from engine.errors import SettingsError
from engine.features.aggregation import aggregate, rmac_regions
from engine.features.pooling import unit_rows
from engine.features.whitening import Whitening, WhiteningFit
from engine.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Descriptors:
    """``photos``: (N, D) float32 unit rows of the ranked; ``questions``: (Q, D) of the crops."""

    aggregation: Aggregation
    whitening: Whitening | None
    photos: FloatArray
    questions: FloatArray

    @property
    def name(self) -> str:
        """For the table."""
        return f"{self.aggregation}{'' if self.whitening is None else ', whitened'}"


def describe(
    material: Material, aggregation: Aggregation, whitening: Whitening | None = None
) -> Descriptors:
    """The descriptors of one aggregation.

    Args:
        whitening: one that `learn` has learned for this aggregation.
    """
    extraction = material.extraction

    def table(contents: Sequence[Content]) -> FloatArray:
        rows = [
            describe_one(extraction, content, aggregation, whitening)
            for content in extraction.each(contents, f"{aggregation}")
        ]
        return np.stack(rows)

    questions = [question.crop for question in material.questions]
    return Descriptors(aggregation, whitening, table(material.ranked), table(questions))


def describe_one(
    extraction: Extraction,
    content: Content,
    aggregation: Aggregation,
    whitening: Whitening | None = None,
) -> FloatArray:
    """(D,) float32 of unit length, as `engine.features.aggregation.aggregate` gives it."""
    if whitening is not None and aggregation is Aggregation.RMAC:
        regions = whitening.apply(_whitened_rows(extraction, content, aggregation))
        return unit_rows(regions.sum(axis=0))  # `aggregation.rmac`
    plain: FloatArray = extraction.derived(
        content, f"{aggregation}", lambda feature_map: _aggregated(feature_map, aggregation)
    )["descriptor"]
    return plain if whitening is None else whitening.apply(plain)


def learn(
    extraction: Extraction, contents: Sequence[Content], *, name: str, exponent: float
) -> dict[Aggregation, Whitening]:
    """A whitening for each aggregation, fitted on these photos alone; for R-MAC on regions.

    Raises:
        SettingsError: fewer than two photos that differ.
    """
    learned = {}
    for aggregation in Aggregation:
        fit: WhiteningFit | None = None
        for content in extraction.each(contents, f"whitening, {aggregation}"):
            rows = _whitened_rows(extraction, content, aggregation)
            fit = fit or WhiteningFit(rows.shape[1])
            fit.add(rows)
        if fit is None:
            raise SettingsError("no photo to learn a whitening from could be read")
        learned[aggregation] = fit.finish(name=name, exponent=exponent)
    return learned


def _whitened_rows(
    extraction: Extraction, content: Content, aggregation: Aggregation
) -> FloatArray:
    """(n, D) what this aggregation whitens of a photo."""
    if aggregation is Aggregation.RMAC:
        regions: FloatArray = extraction.derived(content, "rmac-regions", _rmac_regions)["features"]
        return regions
    return describe_one(extraction, content, aggregation)[None]


def _aggregated(feature_map: HalfArray, aggregation: Aggregation) -> Arrays:
    return {"descriptor": aggregate(feature_map, aggregation)}


def _rmac_regions(feature_map: HalfArray) -> Arrays:
    return {"features": rmac_regions(feature_map)}
