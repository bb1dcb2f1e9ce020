"""Descriptors and learned whitenings against the library's functions."""

from pathlib import Path

import numpy as np
import pytest

from engine.comparing.descriptors import describe, learn
from engine.comparing.material import gather
from engine.config import Aggregation
from engine.errors import SettingsError
from engine.evaluation.groundtruth import GroundTruth
from engine.features.aggregation import aggregate, rmac_regions
from engine.features.whitening import fit
from tests.engine.comparing.conftest import Extractions
from tests.engine.searching.conftest import BLUE_AND_YELLOW, BLUE_PLACES, paint_scene


@pytest.mark.parametrize("aggregation", Aggregation)
def test_whitened_descriptors_are_the_librarys(
    aggregation: Aggregation, scenes: GroundTruth, tmp_path: Path, extractions: Extractions
) -> None:
    extraction = extractions()
    material = gather(scenes, extraction)
    strangers = [
        paint_scene(
            tmp_path / f"{n}.png", seed=70 + n, thing=BLUE_AND_YELLOW, at=BLUE_PLACES[n % 2]
        )
        for n in range(6)
    ]
    contents = list(extraction.photos(strangers)[0].values())
    learned = learn(extraction, contents, name="strangers", exponent=0.25)[aggregation]
    maps = [extraction.map_of(content) for content in contents]
    if aggregation is Aggregation.RMAC:
        rows = np.concatenate([rmac_regions(one) for one in maps])
    else:
        rows = np.stack([aggregate(one, aggregation) for one in maps])
    expected = fit(rows, name="strangers", exponent=0.25)
    assert (learned.count, learned.exponent) == (len(rows), 0.25)
    np.testing.assert_allclose(learned.variances, expected.variances, rtol=1e-6)
    found = describe(material, aggregation, learned)
    ranked = [extraction.map_of(content) for content in material.ranked]
    asked = [extraction.map_of(question.crop) for question in material.questions]
    for table, own in ((found.photos, ranked), (found.questions, asked)):
        right = np.stack([aggregate(one, aggregation, whitening=learned) for one in own])
        np.testing.assert_allclose(table, right, atol=1e-5)


def test_nothing_to_learn_from(extractions: Extractions) -> None:
    with pytest.raises(SettingsError, match="no photo to learn"):
        learn(extractions(), [], name="none", exponent=0.5)
