"""Feature map pooling: regions from channels, their groups and their merges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.config import Clustering, Pooling
from engine.features.fmp import MergeRule, channel_regions, channel_weights
from engine.features.pooling import pool

clusterings = st.sampled_from(list(Clustering))
merges = st.sampled_from(list(MergeRule))
seeds = st.integers(0, 2**32 - 1)


def _feature_map(
    seed: int, *, channels: int = 30, h: int = 4, w: int = 5, fires: float = 0.2
) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    values = rng.random((channels, h, w)) * (rng.random((channels, h, w)) < fires)
    return values.astype(np.float32)


def _unit(*values: float) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = np.array(values) / np.linalg.norm(values)
    return unit


# --- by hand --------------------------------------------------------------------------------

# Channels 0 and 1 fire at the left, 2 and 4 at the right, 3 nowhere.
HAND = np.array(
    [[[2.0, 0, 0]], [[1.0, 3.0, 0]], [[0, 0, 5.0]], [[0, 0, 0]], [[0, 0, 1.0]]], dtype=np.float32
)


@pytest.mark.parametrize("clustering", list(Clustering))
def test_channels_that_fire_together_are_one_region(clustering: Clustering) -> None:
    found = channel_regions(HAND, 2, clustering=clustering)
    assert found.clusters.tolist() == [0, 0, 1, -1, 1]


def test_each_channel_has_a_region_without_clustering() -> None:
    found = channel_regions(HAND, None)
    assert found.clusters.tolist() == [0, 1, 2, -1, 3]
    left, both, right = _unit(2, 1, 0, 0, 0), _unit(2, 4, 0, 0, 0), _unit(0, 0, 5, 0, 1)
    assert found.features == pytest.approx(np.array([left, both, right, right]))


def test_a_union_counts_a_cell_once_and_a_sum_once_for_each_channel() -> None:
    union = channel_regions(HAND, 2, merge=MergeRule.UNION)
    assert union.features[0] == pytest.approx(_unit(2, 4, 0, 0, 0))
    together = channel_regions(HAND, 2, merge=MergeRule.SUM)
    expected = _unit(*(_unit(2, 1, 0, 0, 0) + _unit(2, 4, 0, 0, 0)))
    assert together.features[0] == pytest.approx(expected)


def test_weights_by_hand() -> None:
    clusters = channel_regions(HAND, 2).clusters
    union = channel_weights(HAND, clusters, merge=MergeRule.UNION)
    assert union.tolist() == [[[1, 1, 0]], [[0, 0, 1]]]
    together = channel_weights(HAND, clusters, merge=MergeRule.SUM)
    first, second, third = 1 / 5**0.5, 1 / 20**0.5, 1 / 26**0.5
    expected = np.array([[[first + second, second, 0]], [[0, 0, 2 * third]]])
    assert together == pytest.approx(expected)


# --- promises -------------------------------------------------------------------------------


@given(seeds, st.integers(1, 40), clusterings, merges)
@settings(max_examples=40, deadline=None)
def test_channels_have_regions_exactly_where_they_fire(
    seed: int, k: int, clustering: Clustering, merge: MergeRule
) -> None:
    feature_map = _feature_map(seed, fires=0.08)
    found = channel_regions(feature_map, k, clustering=clustering, merge=merge)
    live = feature_map.any(axis=(1, 2))
    assert ((found.clusters >= 0) == live).all()
    count = len(found.features)
    assert count <= k
    assert np.unique(found.clusters[live]).tolist() == list(range(count))
    assert np.linalg.norm(found.features, axis=1) == pytest.approx(np.ones(count), abs=1e-5)
    if k >= live.sum():
        assert count == live.sum()
    # Numbered by their first channels.
    firsts = [int(np.flatnonzero(found.clusters == group)[0]) for group in range(count)]
    assert firsts == sorted(firsts)


@given(seeds, st.integers(1, 20), clusterings)
@settings(max_examples=30, deadline=None)
def test_merged_features_are_those_of_a_naive_loop(
    seed: int, k: int, clustering: Clustering
) -> None:
    feature_map = _feature_map(seed, channels=20)
    for merge in MergeRule:
        found = channel_regions(feature_map, k, clustering=clustering, merge=merge)
        for group, feature in enumerate(found.features):
            members = np.flatnonzero(found.clusters == group)
            if merge is MergeRule.UNION:
                support = (feature_map[members] > 0).any(axis=0)
                expected = feature_map[:, support].sum(axis=1)
            else:
                expected = np.zeros(len(feature_map))
                for d in members:
                    alone = feature_map[:, feature_map[d] > 0].sum(axis=1)
                    expected += alone / np.linalg.norm(alone)
            assert feature == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)


@given(seeds, st.integers(1, 40), clusterings, merges)
@settings(max_examples=30, deadline=None)
def test_weights_pool_to_the_features(
    seed: int, k: int, clustering: Clustering, merge: MergeRule
) -> None:
    feature_map = _feature_map(seed)
    found = channel_regions(feature_map, k, clustering=clustering, merge=merge)
    weights = channel_weights(feature_map, found.clusters, merge=merge)
    assert weights.shape == (len(found.features), 4, 5)
    assert pool(feature_map, weights, Pooling.SUM) == pytest.approx(found.features, abs=1e-5)


@pytest.mark.parametrize("clustering", list(Clustering))
def test_the_same_photo_and_seed_give_the_same_regions(clustering: Clustering) -> None:
    feature_map = _feature_map(11, channels=120, h=6, w=8)
    first = channel_regions(feature_map, 10, clustering=clustering, seed=3)
    again = channel_regions(feature_map, 10, clustering=clustering, seed=3)
    assert first.clusters.tolist() == again.clusters.tolist()
    assert len(first.features) == 10


@pytest.mark.parametrize("clustering", list(Clustering))
def test_planted_groups_are_found(clustering: Clustering) -> None:
    """Forty channels in four corners of a map, shuffled."""
    rng = np.random.default_rng(5)
    corner = rng.permutation(np.repeat(np.arange(4), 10))
    feature_map = np.zeros((40, 6, 6), dtype=np.float32)
    for channel, place in enumerate(corner):
        y, x = divmod(int(place), 2)
        patch = rng.random((3, 3)) * (rng.random((3, 3)) < 0.8) + 1e-3
        feature_map[channel, 3 * y : 3 * y + 3, 3 * x : 3 * x + 3] = patch
    clusters = channel_regions(feature_map, 4, clustering=clustering).clusters
    assert len(set(zip(corner.tolist(), clusters.tolist(), strict=True))) == 4


# --- degenerate maps: no warning may escape, for a warning fails a test ----------------------


@pytest.mark.parametrize("clustering", list(Clustering))
@pytest.mark.parametrize("k", [1, 2, 3, 5, 50])
def test_flat_maps_and_maps_of_one_cell(clustering: Clustering, k: int) -> None:
    for feature_map in (np.ones((20, 3, 3)), np.ones((20, 1, 1)), np.eye(9).reshape(9, 3, 3)):
        found = channel_regions(feature_map, k, clustering=clustering)
        assert 1 <= len(found.features) <= k
        assert (found.clusters >= 0).all()


@pytest.mark.parametrize("clustering", list(Clustering))
def test_channels_apart_from_each_other(clustering: Clustering) -> None:
    """A disconnected graph: no channel shares a cell with another, and each lies there twice."""
    apart = np.repeat(np.eye(12), 2, axis=0).reshape(24, 3, 4)
    found = channel_regions(apart, 12, clustering=clustering)
    assert found.clusters.tolist() == np.repeat(np.arange(12), 2).tolist()


@pytest.mark.parametrize("clustering", list(Clustering))
def test_a_map_of_zeros_has_no_region(clustering: Clustering) -> None:
    found = channel_regions(np.zeros((7, 2, 3)), 3, clustering=clustering)
    assert found.features.shape == (0, 7)
    assert found.clusters.tolist() == [-1] * 7
    assert channel_weights(np.zeros((7, 2, 3)), found.clusters).shape == (0, 2, 3)


def test_no_regions_are_refused() -> None:
    with pytest.raises(ValueError, match="0 regions"):
        channel_regions(HAND, 0)
