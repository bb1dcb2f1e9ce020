"""Matching of all channels' regions against the plain way: all of them in one table."""

import numpy as np
import pytest

from engine.comparing.channels import ChannelMap, match_channels, region_lengths
from engine.features.aggregation import spoc
from engine.features.fmp import channel_regions
from engine.rank.qam import match
from tests.engine.comparing.conftest import random_map


def _channel_map(values: np.ndarray) -> ChannelMap:
    return ChannelMap.of(values, region_lengths(values))


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_all_regions_at_once(seed: int) -> None:
    """300 channels, so that several rounds are needed."""
    query = spoc(random_map(seed + 50, channels=300))
    maps = [random_map(seed + n, channels=300) for n in range(5)]
    scores, weights = match_channels(query, [_channel_map(one) for one in maps])
    for one, score, z in zip(maps, scores, weights, strict=True):
        regions = channel_regions(one, None)
        plain = match(query, regions.features)
        assert score == pytest.approx(plain.score, abs=1e-4)
        assert z.shape == (300,)
        assert not z[regions.clusters < 0].any()
        merged = z[regions.clusters >= 0] @ regions.features
        assert merged @ query / np.linalg.norm(merged) == pytest.approx(score, abs=1e-5)


def test_several_rounds_are_needed_by_these_maps() -> None:
    """Else the test above would not tell."""
    query = spoc(random_map(50, channels=300))
    one = _channel_map(random_map(0, channels=300))
    best = np.argsort(-one.agreement(query), kind="stable")[:64]
    first = match(query, one.features(best)).score
    assert match_channels(query, [one])[0][0] > first + 1e-3


def test_a_map_of_zeros_scores_0_beside_others() -> None:
    values = random_map(1)
    query = spoc(values)
    blank = _channel_map(np.zeros_like(values))
    scores, weights = match_channels(query, [blank, _channel_map(values)])
    assert scores[0] == 0.0
    assert not weights[0].any()
    assert scores[1] == pytest.approx(match(query, channel_regions(values, None).features).score)


def test_a_query_that_no_region_agrees_with_scores_0() -> None:
    values = np.zeros((3, 2, 2), np.float32)
    values[0] = 1.0
    scores, _ = match_channels(np.array([0, 0, 1], np.float32), [_channel_map(values)])
    assert scores.tolist() == [0.0]


def test_lengths_are_those_of_the_regions_features() -> None:
    values = random_map(3)
    supports = (values > 0).reshape(40, -1).astype(float)
    sums = supports @ values.reshape(40, -1).T
    np.testing.assert_allclose(region_lengths(values), np.linalg.norm(sums, axis=1), rtol=1e-5)
