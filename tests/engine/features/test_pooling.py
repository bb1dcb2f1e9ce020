"""Regional pooling against naive loops and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.config import Pooling
from engine.features.grid import masks_of, ospp
from engine.features.pooling import pool, unit_rows

poolings = st.sampled_from(list(Pooling))
sides = st.integers(1, 8)
seeds = st.integers(0, 2**32 - 1)


def _feature_map(seed: int, *, h: int, w: int) -> NDArray[np.float32]:
    values = np.random.default_rng(seed).standard_normal((6, h, w)) - 0.3
    return np.maximum(values, 0.0).astype(np.float32)


def _naive(
    feature_map: NDArray[np.float32], cells: NDArray[np.int32], pooling: Pooling, p: float
) -> NDArray[np.float64]:
    rows = []
    for x0, y0, x1, y1 in cells.tolist():
        row = []
        for channel in feature_map:
            seen = [float(channel[y, x]) for y in range(y0, y1) for x in range(x0, x1)]
            if pooling is Pooling.SUM:
                row.append(sum(seen))
            elif pooling is Pooling.MAX:
                row.append(max(seen))
            else:
                row.append((sum(max(v, 1e-6) ** p for v in seen) / len(seen)) ** (1 / p))
        length = sum(v**2 for v in row) ** 0.5
        rows.append([v / length if length > 0 else 0.0 for v in row])
    return np.array(rows)


@given(seeds, sides, sides, poolings, st.sampled_from([1.0, 3.0, 7.0]))
@settings(max_examples=60, deadline=None)
def test_features_are_those_of_a_naive_loop(
    seed: int, h: int, w: int, pooling: Pooling, p: float
) -> None:
    feature_map, cells = _feature_map(seed, h=h, w=w), ospp(h, w, 3)
    pooled = pool(feature_map, cells, pooling, p=p)
    assert pooled.dtype == np.float32
    assert pooled == pytest.approx(_naive(feature_map, cells, pooling, p), abs=1e-5)


@given(seeds, poolings)
@settings(max_examples=30, deadline=None)
def test_squares_and_their_masks_are_the_same(seed: int, pooling: Pooling) -> None:
    feature_map, cells = _feature_map(seed, h=5, w=6), ospp(5, 6, 3)
    masks = masks_of(cells, h=5, w=6)
    assert pool(feature_map, masks, pooling) == pytest.approx(
        pool(feature_map, cells, pooling), abs=1e-6
    )


def test_weights_by_hand() -> None:
    feature_map = np.array([[[1.0, 2.0]], [[3.0, 0.5]]], dtype=np.float32)
    weights = np.array([[[1.0, 3.0]]])
    sums = np.array([1 + 6, 3 + 1.5])
    assert pool(feature_map, weights, Pooling.SUM)[0] == pytest.approx(sums / np.linalg.norm(sums))
    means = np.array([(1 + 3 * 4) / 4, (9 + 3 * 0.25) / 4]) ** 0.5
    gem = pool(feature_map, weights, Pooling.GEM, p=2.0)[0]
    assert gem == pytest.approx(means / np.linalg.norm(means))
    largest = pool(feature_map, weights, Pooling.MAX)[0]
    assert largest == pytest.approx(np.array([2, 3]) / 13**0.5)


@given(seeds, poolings, st.floats(0.1, 50.0))
@settings(max_examples=30, deadline=None)
def test_brightness_changes_no_feature(seed: int, pooling: Pooling, factor: float) -> None:
    feature_map, cells = _feature_map(seed, h=4, w=5), ospp(4, 5, 2)
    scaled = pool((factor * feature_map).astype(np.float32), cells, pooling, eps=factor * 1e-6)
    assert scaled == pytest.approx(pool(feature_map, cells, pooling), abs=1e-5)


@given(seeds, poolings)
@settings(max_examples=30, deadline=None)
def test_a_mirrored_map_has_the_mirrored_regions(seed: int, pooling: Pooling) -> None:
    feature_map, cells = _feature_map(seed, h=4, w=7), ospp(4, 7, 3)
    mirrored = cells.copy()
    mirrored[:, 0], mirrored[:, 2] = 7 - cells[:, 2], 7 - cells[:, 0]
    pooled = pool(feature_map[:, :, ::-1], mirrored, pooling)
    assert pooled == pytest.approx(pool(feature_map, cells, pooling), abs=1e-6)


@pytest.mark.parametrize("pooling", list(Pooling))
def test_small_channels_beside_large_ones_are_kept(pooling: Pooling) -> None:
    """What an integral image in single precision would lose."""
    feature_map = np.zeros((2, 40, 40), dtype=np.float32)
    feature_map[0] = 1.0
    feature_map[1, :, :39] = 3000.0
    feature_map[1, 39, 39] = 2e-3
    (row,) = pool(feature_map, [[39, 39, 40, 40]], pooling)
    assert row[1] == pytest.approx(2e-3, rel=1e-5)


def test_half_precision_maps_do_not_overflow() -> None:
    feature_map = np.full((1, 100, 100), 60.0, dtype=np.float16)
    for pooling in Pooling:
        assert pool(feature_map, [[0, 0, 100, 100]], pooling).tolist() == [[1.0]]


@pytest.mark.parametrize("p", [1.0, 20.0])
def test_any_exponent_is_a_number(p: float) -> None:
    feature_map = np.array([[[500.0]], [[0.0]]], dtype=np.float32)
    assert pool(feature_map, [[0, 0, 1, 1]], Pooling.GEM, p=p)[0] == pytest.approx([1, 0], abs=1e-6)


@pytest.mark.parametrize("pooling", [Pooling.SUM, Pooling.MAX])
def test_a_region_of_nothing_is_zero(pooling: Pooling) -> None:
    empty = pool(np.zeros((3, 2, 2), np.float32), [[0, 0, 2, 2]], pooling)
    assert empty.tolist() == [[0.0, 0.0, 0.0]]
    no_cell = np.zeros((1, 2, 2))
    assert not pool(np.ones((3, 2, 2), np.float32), no_cell, pooling).any()


def test_no_regions_have_no_features() -> None:
    for pooling in Pooling:
        assert pool(np.ones((3, 2, 2)), np.zeros((0, 4), np.int32), pooling).shape == (0, 3)


@pytest.mark.parametrize("pooling", list(Pooling))
def test_regions_of_another_map_are_refused(pooling: Pooling) -> None:
    with pytest.raises(ValueError, match="regions of shape"):
        pool(np.ones((3, 2, 2)), np.ones((1, 2, 3)), pooling)


def test_unit_rows_of_tiny_values() -> None:
    rows = unit_rows(np.array([[3e-30, 4e-30], [0.0, 0.0]], dtype=np.float32))
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0]]))
