"""Aggregations by hand and by their invariances."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.config import Aggregation
from engine.features.aggregation import aggregate, crow, gem, mac, rmac, rmac_regions, spoc
from engine.features.grid import rmac_grid
from engine.features.whitening import fit

seeds = st.integers(0, 2**32 - 1)
everyone = st.sampled_from(list(Aggregation))

# Two channels on 1 × 2 cells.
SMALL = np.array([[[1.0, 2.0]], [[4.0, 0.0]]], dtype=np.float32)


def _feature_map(seed: int, *, channels: int = 8, h: int = 5, w: int = 7) -> NDArray[np.float32]:
    values = np.random.default_rng(seed).standard_normal((channels, h, w)) - 0.3
    return np.maximum(values, 0.0).astype(np.float32)


def _unit(*values: float) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = np.array(values) / np.linalg.norm(values)
    return unit


def test_mac_spoc_and_gem_by_hand() -> None:
    assert mac(SMALL) == pytest.approx(_unit(2, 4))
    assert spoc(SMALL) == pytest.approx(_unit(3, 4))
    assert gem(SMALL, p=2.0) == pytest.approx(_unit((5 / 2) ** 0.5, (16 / 2) ** 0.5))


def test_crow_by_hand() -> None:
    # S = (5, 2), its length √29; Q = (1, 1/2), so β = (log 1.5, log 3).
    first, second = math.sqrt(5 / math.sqrt(29)), math.sqrt(2 / math.sqrt(29))
    expected = _unit((first + 2 * second) * math.log(1.5), 4 * first * math.log(3))
    assert crow(SMALL) == pytest.approx(expected)


def test_crow_leaves_out_channels_that_never_fire() -> None:
    with_dead = np.concatenate([SMALL, np.zeros((1, 1, 2), np.float32)])
    assert crow(with_dead) == pytest.approx([*crow(SMALL), 0.0])


def test_the_centre_prior_by_hand() -> None:
    """3 × 5 cells: σ = 3/2/3 = 1/2; a cell at distance d weighs exp(-2 d²)."""
    feature_map = np.zeros((2, 3, 5), dtype=np.float32)
    feature_map[0, 1, 2] = 1.0  # the middle
    feature_map[1, 0, 3] = 1.0  # one up, one to the right: d² = 2
    assert spoc(feature_map, centre_prior=True) == pytest.approx(_unit(1, math.exp(-4)))


def test_rmac_by_hand() -> None:
    """On 1 × 2 cells only level 1 has squares: three, as that overlaps by 50 %, at 0, ½ and 1."""
    left, right = _unit(1, 4), _unit(2, 0)
    assert rmac_regions(SMALL) == pytest.approx(np.array([left, left, right]))
    assert rmac(SMALL) == pytest.approx(_unit(*(2 * left + right)))


def test_rmac_whitens_each_region() -> None:
    feature_map = _feature_map(1)
    whitening = fit(np.random.default_rng(2).random((40, 8)), name="random", dim=3)
    regions = []
    for x0, y0, x1, y1 in rmac_grid(5, 7).tolist():
        region = feature_map[:, y0:y1, x0:x1].max(axis=(1, 2))
        regions.append(whitening.apply(region / np.linalg.norm(region)))
    expected = _unit(*np.sum(regions, axis=0))
    given_whitening = aggregate(feature_map, Aggregation.RMAC, whitening=whitening)
    assert given_whitening == pytest.approx(expected, abs=1e-5)


def test_the_others_are_whitened_last() -> None:
    feature_map = _feature_map(3)
    whitening = fit(np.random.default_rng(2).random((40, 8)), name="random", dim=3)
    for aggregation in set(Aggregation) - {Aggregation.RMAC}:
        plain = aggregate(feature_map, aggregation)
        whitened = aggregate(feature_map, aggregation, whitening=whitening)
        assert whitened == pytest.approx(whitening.apply(plain))


def test_the_five_are_different() -> None:
    found = [aggregate(_feature_map(4), aggregation) for aggregation in Aggregation]
    for index, one in enumerate(found):
        assert all(np.abs(one - other).max() > 1e-3 for other in found[:index])


@given(seeds, everyone)
@settings(max_examples=40, deadline=None)
def test_descriptors_are_units_and_not_negative(seed: int, aggregation: Aggregation) -> None:
    found = aggregate(_feature_map(seed), aggregation)
    assert found.shape == (8,)
    assert found.dtype == np.float32
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-6)
    assert (found >= 0).all()


@given(seeds, everyone, st.floats(0.1, 50.0))
@settings(max_examples=40, deadline=None)
def test_brightness_changes_no_descriptor(
    seed: int, aggregation: Aggregation, factor: float
) -> None:
    feature_map = _feature_map(seed)
    scaled = aggregate((factor * feature_map).astype(np.float32), aggregation, eps=factor * 1e-6)
    assert scaled == pytest.approx(aggregate(feature_map, aggregation), abs=1e-5)


@given(seeds, everyone)
@settings(max_examples=40, deadline=None)
def test_the_order_of_channels_does_not_matter(seed: int, aggregation: Aggregation) -> None:
    feature_map = _feature_map(seed)
    order = np.random.default_rng(seed).permutation(8)
    found = aggregate(feature_map[order], aggregation)
    assert found == pytest.approx(aggregate(feature_map, aggregation)[order], abs=1e-6)


@given(seeds, st.sampled_from([Aggregation.MAC, Aggregation.SPOC, Aggregation.CROW]))
@settings(max_examples=40, deadline=None)
def test_where_a_thing_lies_does_not_matter(seed: int, aggregation: Aggregation) -> None:
    feature_map = _feature_map(seed)
    moved = np.roll(feature_map, (2, 3), axis=(1, 2))
    assert aggregate(moved, aggregation) == pytest.approx(
        aggregate(feature_map, aggregation), abs=1e-5
    )


@pytest.mark.parametrize("aggregation", set(Aggregation) - {Aggregation.GEM})
def test_a_map_of_zeros_is_zero(aggregation: Aggregation) -> None:
    assert not aggregate(np.zeros((4, 3, 3), np.float32), aggregation).any()
