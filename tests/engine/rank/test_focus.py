"""Footprints, focus maps, peaks and found boxes."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.features.grid import boxes_of, ospp
from engine.rank.attribution import attribution
from engine.rank.focus import (
    channel_focus,
    focus_map_from,
    footprint,
    footprint_shape,
    found_box,
    peak,
)
from engine.rank.qam import match
from engine.types import Size

P, EPS = 3.0, 1e-6


def _pooled(feature_map: NDArray[np.float32], cells: NDArray[np.int32]) -> NDArray[np.float64]:
    """GeM-pooled unit features of regions, written out plainly."""
    rows = []
    for x0, y0, x1, y1 in cells:
        inside = np.maximum(feature_map[:, y0:y1, x0:x1].astype(np.float64), EPS)
        mean = (inside**P).mean(axis=(1, 2)) ** (1 / P)
        rows.append(mean / np.linalg.norm(mean))
    return np.array(rows)


def _feature_map(seed: int, *, h: int, w: int, channels: int = 40) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    values = np.maximum(rng.standard_normal((channels, h, w)) - 1.0, 0.0)
    return values.astype(np.float32)


# --- footprint ------------------------------------------------------------------------------


def test_footprint_covers_a_region_and_nothing_else() -> None:
    values = footprint([2.0], [[0.25, 0.0, 0.75, 0.5]], shape=(4, 8))
    expected = np.zeros((4, 8))
    expected[:2, 2:6] = 1.0
    assert values == pytest.approx(expected)
    assert values.dtype == np.float32


def test_footprint_adds_weights_where_regions_overlap() -> None:
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.5, 0.0, 1.0, 1.0]]
    assert footprint([1.0, 3.0], boxes, shape=(1, 2)) == pytest.approx(np.array([[0.25, 1.0]]))


def test_footprint_gives_a_cell_the_share_that_is_covered() -> None:
    values = footprint([1.0], [[0.125, 0.0, 1.0, 1.0]], shape=(1, 4))
    assert values == pytest.approx(np.array([[0.5, 1.0, 1.0, 1.0]]))


@pytest.mark.parametrize(("z", "boxes"), [([0.0], [[0.0, 0.0, 1.0, 1.0]]), ([], [])])
def test_footprint_of_nothing_is_empty(z: list[float], boxes: list[list[float]]) -> None:
    assert not footprint(z, boxes, shape=(3, 5)).any()


@pytest.mark.parametrize(
    ("size", "shape"),
    [(Size(4000, 3000), (24, 32)), (Size(3000, 4000), (32, 24)), (Size(9000, 100), (1, 32))],
)
def test_footprint_shape_follows_the_photo(size: Size, shape: tuple[int, int]) -> None:
    assert footprint_shape(size) == shape


# --- maps -----------------------------------------------------------------------------------


def test_a_thing_in_the_map_is_pointed_at_and_boxed() -> None:
    """A patch that looks like the query lies in cells 10..12 × 4..6 of a cluttered map."""
    feature_map = _feature_map(5, h=12, w=16)
    thing = np.abs(np.random.default_rng(6).standard_normal(len(feature_map))) * 3
    feature_map[:, 4:7, 10:13] += thing[:, None, None].astype(np.float32)
    cells = ospp(12, 16, 3)
    merge = match(thing, _pooled(feature_map, cells))
    values = focus_map_from(attribution(feature_map, cells, merge.z, thing, p=P, eps=EPS))
    assert values.max() == 1.0
    assert values.min() >= 0.0
    pointed = peak(values)
    assert pointed == pytest.approx((11.5 / 16, 5.5 / 12), abs=0.04)
    box = found_box(values, Size(1600, 1200))
    assert box is not None
    assert box.x <= 1000
    assert box.x + box.w >= 1300
    assert box.y <= 400
    assert box.y + box.h >= 700
    assert box.w <= 700
    # The stored regions alone know it more roughly.
    rough = peak(footprint(merge.z, boxes_of(cells, h=12, w=16), shape=(24, 32)))
    assert rough == pytest.approx((11.5 / 16, 5.5 / 12), abs=0.15)


def test_a_map_without_a_match_is_empty() -> None:
    feature_map, cells = _feature_map(7, h=3, w=4), ospp(3, 4, 2)
    parts = attribution(feature_map, cells, np.zeros(len(cells)), np.ones(40), p=P, eps=EPS)
    assert not parts.any()
    assert not focus_map_from(parts).any()
    assert found_box(focus_map_from(parts), Size(400, 300)) is None
    assert peak(focus_map_from(parts)) is None


def test_channels_that_matched_are_drawn_by_the_weight_of_their_region() -> None:
    feature_map = np.zeros((4, 1, 3), dtype=np.float32)
    feature_map[0, 0, 0] = 2.0  # region 1
    feature_map[1, 0, 1] = 3.0  # region 0
    feature_map[2, 0, 2] = 9.0  # no region: ignored
    feature_map[3, 0, :2] = 1.0  # region 1
    values = channel_focus(feature_map, [1, 0, -1, 1], [1.0, 2.0])
    # 2·2 + 2·1, 1·3 + 2·1, 0, over the largest
    assert values == pytest.approx(np.array([[6.0, 5.0, 0.0]]) / 6.0)
    assert values.dtype == np.float32


def test_channels_of_no_weight_draw_nothing() -> None:
    assert not channel_focus(np.ones((2, 2, 2), np.float32), [0, -1], [0.0]).any()
    assert not channel_focus(np.ones((2, 2, 2), np.float32), [-1, -1], []).any()


def test_what_speaks_against_the_match_is_not_warm() -> None:
    assert not focus_map_from(np.full((4, 4), -1.0)).any()


# --- peak and found box ---------------------------------------------------------------------


def test_peak_of_a_plateau_is_its_middle() -> None:
    values = np.zeros((4, 8), dtype=np.float32)
    values[1:3, 2:6] = 1.0
    assert peak(values) == pytest.approx((0.5, 0.5))


def test_peak_stays_in_one_of_two_equal_plateaus() -> None:
    values = np.array([[1.0, 0.0, 0.0, 1.0]], dtype=np.float32)
    assert peak(values) == pytest.approx((0.125, 0.5))


def test_found_box_takes_the_part_round_the_maximum_above_half() -> None:
    values = np.array(
        [[0.0, 0.6, 0.0, 0.9], [0.0, 1.0, 0.4, 0.0], [0.0, 0.5, 0.0, 0.0]], dtype=np.float32
    )
    box = found_box(values, Size(400, 300))
    assert box is not None
    assert box.xywh == pytest.approx((100.0, 0.0, 100.0, 300.0))


def test_found_box_of_a_full_map_is_the_photo() -> None:
    box = found_box(np.ones((5, 7), dtype=np.float32), Size(640, 480))
    assert box is not None
    assert box.xywh == pytest.approx((0.0, 0.0, 640.0, 480.0))
