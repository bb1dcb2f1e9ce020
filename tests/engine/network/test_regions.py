"""The grid of base regions against R-MAC's own construction and against its promises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.network.regions import boxes_of, ospp, pooling_weights

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
    half = max(math.floor(length / 2 - 1), 0)
    gap = 0 if count == 1 else (side - length) / (count - 1)
    # A nudge far below one cell: the published floats lose a cell to rounding.
    return [math.floor(half + i * gap + 1e-9) - half for i in range(count)]


@pytest.mark.parametrize(
    ("h", "w"), [(18, 24), (24, 18), (24, 24), (16, 24), (10, 13), (8, 10), (14, 24), (7, 24)]
)
def test_the_squares_are_those_of_rmac(h: int, w: int) -> None:
    assert [tuple(cell) for cell in ospp(h, w, 3).tolist()] == rmac(h, w, 3)


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
    weights = pooling_weights(short, short * ratio, 3)
    assert (weights[1:].sum(axis=0) > 0).all()


@given(side, side)
def test_a_photo_on_its_side_has_its_regions_on_their_side(h: int, w: int) -> None:
    upright = {(x0, y0, x1, y1) for x0, y0, x1, y1 in ospp(h, w, 3).tolist()}
    turned = {(x0, y0, x1, y1) for y0, x0, y1, x1 in ospp(w, h, 3).tolist()}
    assert upright == turned


@given(side, side, levels)
def test_weights_are_means_over_exactly_the_cells(h: int, w: int, levels: int) -> None:
    weights = pooling_weights(h, w, levels)
    cells = ospp(h, w, levels)
    assert weights.shape == (1 + len(cells), h * w)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    areas = (cells[:, 2] - cells[:, 0]) * (cells[:, 3] - cells[:, 1])
    assert np.count_nonzero(weights, axis=1).tolist() == [h * w, *areas.tolist()]


def test_boxes_are_fractions_of_the_photo() -> None:
    cells = np.array([[0, 0, 24, 18], [6, 9, 12, 18]], dtype=np.int32)
    expected = [[0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.5, 1.0]]
    assert boxes_of(cells, h=18, w=24).tolist() == expected


@pytest.mark.parametrize("wrong", [(0, 3, 1), (3, 0, 1), (3, 3, 0)])
def test_an_empty_map_has_no_regions(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="no regions"):
        ospp(*wrong)
