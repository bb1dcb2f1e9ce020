"""Exact attribution: parts that add up to the score, for each pooling, shape and whitening."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.config import Pooling
from engine.features.fmp import MergeRule, channel_regions, channel_weights
from engine.features.grid import every_cell, ospp
from engine.features.head import Head
from engine.features.pooling import pool
from engine.features.whitening import Whitening, fit
from engine.rank.attribution import attribution
from engine.rank.qam import match

C = 12
seeds = st.integers(0, 2**32 - 1)
sides = st.integers(1, 9)
poolings = st.sampled_from(list(Pooling))


def _feature_map(seed: int, *, h: int, w: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    values = np.maximum(rng.standard_normal((C, h, w)) - 0.5, 0.0)
    return np.minimum(values, 1.0).astype(np.float32)  # capped, so that maxima are shared


def _query(seed: int, dim: int = C) -> NDArray[np.float64]:
    return np.random.default_rng([seed, 1]).standard_normal(dim)


def _whitening(seed: int, *, exponent: float, dim: int) -> Whitening:
    rows = np.abs(np.random.default_rng([seed, 2]).standard_normal((60, C)))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return fit(rows, name="random", exponent=exponent, dim=dim)


# --- the sum --------------------------------------------------------------------------------


@given(seeds, sides, sides, st.integers(1, 4), poolings)
@settings(max_examples=60, deadline=None)
def test_parts_add_up_to_the_score(
    seed: int, h: int, w: int, levels: int, pooling: Pooling
) -> None:
    feature_map, cells, query = _feature_map(seed, h=h, w=w), ospp(h, w, levels), _query(seed)
    merge = match(query, pool(feature_map, cells, pooling))
    parts = attribution(feature_map, cells, merge.z, query, pooling=pooling)
    assert parts.shape == (h, w)
    assert parts.sum() == pytest.approx(merge.score, abs=1e-6)


@given(seeds, poolings, st.sampled_from([0.0, 0.25, 0.5]), st.integers(1, C))
@settings(max_examples=60, deadline=None)
def test_parts_of_whitened_regions_add_up_to_the_score(
    seed: int, pooling: Pooling, exponent: float, dim: int
) -> None:
    feature_map, cells = _feature_map(seed, h=5, w=7), ospp(5, 7, 3)
    whitening, query = _whitening(seed, exponent=exponent, dim=dim), _query(seed, dim)
    merge = match(query, whitening.apply(pool(feature_map, cells, pooling)))
    parts = attribution(
        feature_map, cells, merge.z, query, pooling=pooling, head=Head(whitening=whitening)
    )
    assert parts.sum() == pytest.approx(merge.score, abs=1e-5)


@given(seeds, poolings)
@settings(max_examples=20, deadline=None)
def test_parts_of_centred_regions_add_up_to_the_score(seed: int, pooling: Pooling) -> None:
    feature_map, cells, query = _feature_map(seed, h=4, w=4), every_cell(4, 4), _query(seed)
    centring = Whitening.centring(np.full(C, 0.2), name="mean", count=9)
    merge = match(query, centring.apply(pool(feature_map, cells, pooling)))
    parts = attribution(
        feature_map, cells, merge.z, query, pooling=pooling, head=Head(whitening=centring)
    )
    assert parts.sum() == pytest.approx(merge.score, abs=1e-6)


@given(seeds, st.integers(1, C), st.sampled_from(list(MergeRule)))
@settings(max_examples=40, deadline=None)
def test_parts_of_channel_regions_add_up_to_the_score(
    seed: int, k: int, merging: MergeRule
) -> None:
    feature_map, query = _feature_map(seed, h=5, w=6), _query(seed)
    regions = channel_regions(feature_map, k, merge=merging)
    weights = channel_weights(feature_map, regions.clusters, merge=merging)
    merge = match(query, regions.features)
    parts = attribution(feature_map, weights, merge.z, query, pooling=Pooling.SUM)
    assert parts.sum() == pytest.approx(merge.score, abs=1e-5)


# --- the shares -----------------------------------------------------------------------------


def test_a_maximum_belongs_to_its_cells() -> None:
    feature_map = np.array([[[4.0, 1.0, 0.0]], [[0.0, 3.0, 3.0]]], dtype=np.float32)
    parts = attribution(feature_map, [[0, 0, 3, 1]], [1.0], [4.0, 3.0], pooling=Pooling.MAX)
    # g = (4, 3), ‖g‖ = 5, ‖q‖ = 5: 16/25 for the first channel, 9/25 for the second, halved
    assert parts == pytest.approx(np.array([[16.0, 4.5, 4.5]]) / 25)


def test_a_maximum_outside_of_a_mask_counts_for_nothing() -> None:
    feature_map = np.array([[[1.0, 9.0], [2.0, 1.0]]], dtype=np.float32)
    corner = np.array([[[1, 0], [1, 1]]])  # all but the 9
    parts = attribution(feature_map, corner, [1.0], [1.0], pooling=Pooling.MAX)
    assert parts.tolist() == [[0.0, 0.0], [1.0, 0.0]]


def test_sum_pooling_is_its_own_attribution() -> None:
    """a_i = (Σ_{k: i∈R_k} z_k/‖f_k‖) qᵀx_i / ‖Fz‖, with unit regions f_k/‖f_k‖."""
    feature_map = _feature_map(3, h=4, w=5)
    cells = np.array([[0, 0, 3, 4], [2, 1, 5, 4]])
    z = np.array([0.7, 0.4])
    query = np.abs(_query(4))
    query /= np.linalg.norm(query)
    sums = np.array([feature_map[:, b:d, a:c].sum(axis=(1, 2)) for a, b, c, d in cells])
    lengths = np.linalg.norm(sums, axis=1)
    merged = np.linalg.norm((z / lengths) @ sums)
    expected = np.zeros((4, 5))
    for (a, b, c, d), weight in zip(cells, z / lengths, strict=True):
        expected[b:d, a:c] += weight * np.einsum("c,cyx->yx", query, feature_map[:, b:d, a:c])
    parts = attribution(feature_map, cells, z, query, pooling=Pooling.SUM)
    assert parts == pytest.approx(expected / merged, rel=1e-5)


def test_sum_pooling_is_the_case_of_exponent_one() -> None:
    feature_map, cells = _feature_map(5, h=4, w=5) + np.float32(0.1), ospp(4, 5, 2)
    z, query = np.arange(1.0, len(cells) + 1), _query(6)
    sums = attribution(feature_map, cells, z, query, pooling=Pooling.SUM)
    means = attribution(feature_map, cells, z, query, pooling=Pooling.GEM, p=1.0, eps=1e-9)
    assert means == pytest.approx(sums, rel=1e-6)


def test_what_is_like_the_mean_is_cold() -> None:
    """One cell holds the mean's own direction, the other the query's."""
    feature_map = np.array([[[1.0, 0.0]], [[0.0, 1.0]]], dtype=np.float32)
    centring = Whitening.centring([0.9, 0.1], name="mean", count=2)
    query = centring.apply([0.0, 1.0])
    head = Head(whitening=centring)
    cold, warm = attribution(
        feature_map, [[0, 0, 2, 1]], [1.0], query, pooling=Pooling.SUM, head=head
    )[0]
    assert cold < 0 < warm


@pytest.mark.parametrize("pooling", list(Pooling))
def test_squares_and_their_masks_are_the_same(pooling: Pooling) -> None:
    feature_map, z, query = _feature_map(7, h=2, w=3), [0.5, 0.2], _query(8)
    masks = np.array([[[1, 1, 0], [1, 1, 0]], [[0, 0, 1], [0, 0, 0]]])
    cells = [[0, 0, 2, 2], [2, 0, 3, 1]]
    parts = attribution(feature_map, cells, z, query, pooling=pooling)
    assert attribution(feature_map, masks, z, query, pooling=pooling) == pytest.approx(parts)
    assert parts[1, 2] == 0.0


def test_parts_do_not_depend_on_the_scale_of_z_or_query() -> None:
    feature_map, cells, query = _feature_map(1, h=6, w=8), ospp(6, 8, 3), _query(2)
    z = match(query, pool(feature_map, cells, Pooling.GEM)).z
    parts = attribution(feature_map, cells, z, query)
    assert attribution(feature_map, cells, 7.0 * z, 3.0 * query) == pytest.approx(parts)


@pytest.mark.parametrize("pooling", list(Pooling))
def test_nothing_gives_nothing(pooling: Pooling) -> None:
    empty, cells = np.zeros((C, 2, 3), np.float32), ospp(2, 3, 1)
    assert not attribution(_feature_map(1, h=2, w=3), cells, [0.0] * len(cells), _query(1)).any()
    if pooling is not Pooling.GEM:  # which counts a zero as eps
        assert not attribution(empty, cells, [1.0] * len(cells), _query(1), pooling=pooling).any()
    no_cell = np.zeros((1, 2, 3))
    assert not attribution(empty, no_cell, [1.0], _query(1), pooling=pooling).any()
