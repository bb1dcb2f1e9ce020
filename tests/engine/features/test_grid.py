"""The grid of base regions against R-MAC's own construction and against its promises."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.features.grid import (
    boxes_of,
    every_cell,
    masks_of,
    mean_weights,
    ospp,
    rmac_grid,
    squares,
)

side = st.integers(1, 60)
levels = st.integers(1, 8)


def rmac(h: int, w: int, top_level: int) -> list[tuple[int, int, int, int]]:
    """The squares as R-MAC's authors lay them, by their published procedure: centres on a
    regular grid, 2 to 7 squares along the long side."""
    short, long = min(h, w), max(h, w)
    candidates = [(long - short) / (steps - 1) for steps in range(2, 8)]
    overlaps = [abs((short**2 - short * b) / short**2 - 0.4) for b in candidates]
    more = overlaps.index(min(overlaps)) + 1
    extra_w, extra_h = (more if w > h else 0), (more if h > w else 0)
    found = []
    for level in range(1, top_level + 1):
        length = math.floor(2 * short / (level + 1))
        rows = rmac_starts(h, length, level + extra_h)
        columns = rmac_starts(w, length, level + extra_w)
        found += [(x, y, x + length, y + length) for y in rows for x in columns]
    return found


def rmac_starts(side: int, length: int, count: int) -> list[int]:
    half = math.floor(length / 2 - 1)
    gap = 0 if count == 1 else Fraction(side - length, count - 1)
    return [math.floor(half + i * gap) - half for i in range(count)]


@pytest.mark.parametrize(
    ("h", "w"), [(18, 24), (24, 18), (24, 24), (16, 24), (10, 13), (8, 10), (14, 24), (7, 24)]
)
def test_the_squares_are_those_of_rmac(h: int, w: int) -> None:
    assert [tuple(cell) for cell in ospp(h, w, 3).tolist()] == rmac(h, w, 3)


@given(side, side, levels)
def test_the_grid_of_rmac_is_exact(h: int, w: int, levels: int) -> None:
    """On every map, long panoramas and maps of a few cells included."""
    authors = [cell for cell in rmac(h, w, levels) if cell[2] > cell[0]]
    assert [tuple(cell) for cell in rmac_grid(h, w, levels).tolist()] == authors


def test_the_grid_of_rmac_by_hand() -> None:
    """4 × 3 cells, L = 2. Level 1: side 3, one more square along the long side, 2 at 0 and 1.
    Level 2: side 2, 2 rows at 0 and 1, 3 columns at 0, 1, 2."""
    expected = [[0, 0, 3, 3], [1, 0, 4, 3]]
    expected += [[x, y, x + 2, y + 2] for y in (0, 1) for x in (0, 1, 2)]
    assert rmac_grid(3, 4, 2).tolist() == expected
    turned = rmac_grid(4, 3, 2).tolist()
    assert sorted([y0, x0, y1, x1] for x0, y0, x1, y1 in turned) == sorted(expected)


def test_the_grid_of_rmac_counts_equal_squares_and_leaves_out_empty_ones() -> None:
    # 2 × 2 cells. Levels 2 and 3: side 1, 2 × 2 and then 3 × 3 squares that start at 0, 0, 1.
    assert len(rmac_grid(2, 2, 3)) == 1 + 4 + 9
    assert len(ospp(2, 2, 3)) == 1 + 4
    assert rmac_grid(1, 1, 3).tolist() == [[0, 0, 1, 1]]


def test_the_grid_of_rmac_leaves_gaps_in_a_panorama_and_ours_does_not() -> None:
    assert not masks_of(rmac_grid(4, 60, 1), h=4, w=60).any(axis=0).all()
    assert masks_of(ospp(4, 60, 1), h=4, w=60).any(axis=0).all()


def test_finer_squares_by_hand() -> None:
    """4 × 5 cells. l = 3: side 2, so rows need ceil(2/1.2) = 2 steps and columns ceil(3/1.2) = 3;
    l = 7: side 1, each cell."""
    expected = [[x, y, x + 2, y + 2] for y in (0, 1, 2) for x in (0, 1, 2, 3)]
    assert squares(4, 5, range(3, 4)).tolist() == expected
    assert squares(4, 5, range(7, 8)).tolist() == every_cell(4, 5).tolist()
    assert len(squares(18, 24, range(3, 9))) == 184


@given(side, side, st.integers(1, 8), st.integers(1, 4))
def test_finer_squares_cover_the_map_and_overlap(h: int, w: int, first: int, more: int) -> None:
    cells = squares(h, w, range(first, first + more))
    assert len(np.unique(cells, axis=0)) == len(cells)
    one_level = squares(h, w, range(first, first + 1))
    assert masks_of(one_level, h=h, w=w).any(axis=0).all()
    length = one_level[0, 2] - one_level[0, 0]
    for starts in (np.unique(one_level[:, 0]), np.unique(one_level[:, 1])):
        # 60 % of a side apart at most, each start up to half a cell off its place
        assert (np.diff(starts) <= 0.6 * length + 1).all()
    assert (cells[:, :2] >= 0).all()
    assert (cells[:, 2:] <= [w, h]).all()


def test_every_cell_is_a_region_row_by_row() -> None:
    assert every_cell(2, 2).tolist() == [[0, 0, 1, 1], [1, 0, 2, 1], [0, 1, 1, 2], [1, 1, 2, 2]]


def test_masks_hold_the_cells_of_a_square() -> None:
    mask = masks_of(np.array([[1, 0, 3, 1]], dtype=np.int32), h=2, w=4)
    assert mask.tolist() == [[[False, True, True, False], [False] * 4]]


@pytest.mark.parametrize(("h", "w", "count"), [(18, 24, 20), (24, 18, 20), (24, 24, 14)])
def test_how_many_regions_a_photo_has(h: int, w: int, count: int) -> None:
    assert len(ospp(h, w, 3)) == count


@given(side, side, levels)
def test_regions_are_different_squares_inside_the_map(h: int, w: int, levels: int) -> None:
    cells = ospp(h, w, levels)
    x0, y0, x1, y1 = cells.T
    assert len(np.unique(cells, axis=0)) == len(cells)
    assert np.array_equal(x1 - x0, y1 - y0)
    assert cells.min() >= 0
    assert x1.max() <= w
    assert y1.max() <= h
    assert (x1 > x0).all()


@given(st.integers(2, 40), st.integers(1, 12))
def test_every_cell_of_a_photo_lies_in_a_region_however_long_it_is(short: int, ratio: int) -> None:
    cells = ospp(short, short * ratio, 3)
    assert masks_of(cells, h=short, w=short * ratio).any(axis=0).all()


@given(side, side)
def test_a_photo_on_its_side_has_its_regions_on_their_side(h: int, w: int) -> None:
    upright = {(x0, y0, x1, y1) for x0, y0, x1, y1 in ospp(h, w, 3).tolist()}
    turned = {(x0, y0, x1, y1) for y0, x0, y1, x1 in ospp(w, h, 3).tolist()}
    assert upright == turned


@given(side, side, levels)
def test_weights_are_means_over_exactly_the_cells(h: int, w: int, levels: int) -> None:
    cells = ospp(h, w, levels)
    weights = mean_weights(cells, h=h, w=w)
    assert weights.shape == (len(cells), h * w)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    areas = (cells[:, 2] - cells[:, 0]) * (cells[:, 3] - cells[:, 1])
    assert np.count_nonzero(weights, axis=1).tolist() == areas.tolist()


def test_levels_by_number_are_levels_by_name() -> None:
    assert np.array_equal(ospp(18, 24, 3), ospp(18, 24, (1, 2, 3)))
    alone = [ospp(18, 24, (level,)) for level in (2, 4)]
    assert np.array_equal(ospp(18, 24, (2, 4)), np.concatenate(alone))
    assert [len(found) for found in alone] == [6, 20]


def test_boxes_are_fractions_of_the_photo() -> None:
    cells = np.array([[0, 0, 24, 18], [6, 9, 12, 18]], dtype=np.int32)
    expected = [[0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.5, 1.0]]
    assert boxes_of(cells, h=18, w=24).tolist() == expected


@pytest.mark.parametrize("wrong", [(0, 3, 1), (3, 0, 1), (3, 3, 0)])
def test_an_empty_map_has_no_regions(wrong: tuple[int, int, int]) -> None:
    for scheme in (ospp, rmac_grid, lambda h, w, levels: squares(h, w, range(1, levels + 1))):
        with pytest.raises(ValueError, match="no regions"):
            scheme(*wrong)
