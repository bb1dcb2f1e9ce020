"""Outlines of focus maps, in pixels of the upright photo."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.rank.outline import outline
from engine.types import Size

Float64 = NDArray[np.float64]


def _area(polygon: Float64) -> float:
    x, y = polygon.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def _values(rows: int, columns: int, seed: int) -> NDArray[np.float32]:
    values = np.random.default_rng(seed).random((rows, columns)).astype(np.float32)
    return values + np.float32(0.01)


def _maps() -> st.SearchStrategy[NDArray[np.float32]]:
    return st.builds(_values, st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**32 - 1))


def test_a_spot_is_a_diamond_round_its_middle() -> None:
    values = np.zeros((3, 4), dtype=np.float32)
    values[1, 2] = 1.0
    (found,) = outline(values, Size(400, 300))
    # The middle of the cell is (250, 150); half is reached half-way to the neighbours' middles.
    corners = {tuple(point) for point in found.tolist()}
    assert corners >= {(200.0, 150.0), (300.0, 150.0), (250.0, 100.0), (250.0, 200.0)}
    assert found.min(axis=0).tolist() == [200.0, 100.0]
    assert found.max(axis=0).tolist() == [300.0, 200.0]


def test_an_outline_runs_along_the_border_of_the_photo() -> None:
    (found,) = outline(np.ones((5, 7), dtype=np.float32), Size(640, 480))
    assert _area(found) == pytest.approx(640 * 480)
    assert found.min(axis=0) == pytest.approx([0, 0])
    assert found.max(axis=0) == pytest.approx([640, 480])


def test_one_cell_is_the_whole_photo() -> None:
    (found,) = outline(np.ones((1, 1), dtype=np.float32), Size(60, 40))
    assert _area(found) == pytest.approx(2400)


def test_half_a_photo_is_outlined_between_the_middles() -> None:
    (found,) = outline(np.array([[1.0, 1.0, 0.0, 0.0]], dtype=np.float32), Size(80, 30))
    assert _area(found) == pytest.approx(40 * 30)
    assert found[:, 0].max() == pytest.approx(40)


def test_parts_come_largest_first_and_holes_after_what_holds_them() -> None:
    values = np.zeros((7, 11), dtype=np.float32)
    values[0:5, 0:5] = 1.0
    values[2, 2] = 0.0
    values[5:7, 8:11] = 1.0
    found = outline(values, Size(110, 70))
    areas = [_area(polygon) for polygon in found]
    assert len(found) == 3
    assert areas == sorted(areas, reverse=True)
    ring, part, hole = found
    assert ring.max(axis=0) == pytest.approx([50, 50])
    assert part.min(axis=0) == pytest.approx([80, 50])
    assert hole.mean(axis=0) == pytest.approx([25, 25])


def test_half_of_the_maximum_decides_whatever_the_maximum() -> None:
    values = np.array([[0.2, 0.09], [0.0, 0.0]], dtype=np.float32)
    near = outline(values, Size(20, 20))
    assert len(near) == 1
    assert near[0].max() < 20 * 0.75
    for one, other in zip(near, outline(5 * values, Size(20, 20)), strict=True):
        assert one == pytest.approx(other)


@pytest.mark.parametrize("values", [np.zeros((3, 3)), np.zeros((0, 4))])
def test_an_empty_map_has_no_outline(values: Float64) -> None:
    assert outline(values.astype(np.float32), Size(30, 30)) == []


@given(_maps(), st.integers(1, 4000), st.integers(1, 4000))
@example(_values(4, 5, 374), 1, 125)  # rounds to a little beyond the border
@settings(max_examples=60, deadline=None)
def test_polygons_lie_in_the_photo_and_scale_with_it(
    values: NDArray[np.float32], w: int, h: int
) -> None:
    small, large = outline(values, Size(w, h)), outline(values, Size(3 * w, 3 * h))
    assert small
    for polygon in small:
        assert len(polygon) >= 3
        assert not (polygon == np.roll(polygon, 1, axis=0)).all(axis=1).any()
        assert (polygon >= 0).all()
        assert (polygon <= [w, h]).all()
    assert sum(map(_area, large)) == pytest.approx(9 * sum(map(_area, small)))


@given(_maps())
@settings(max_examples=60, deadline=None)
def test_a_turned_photo_has_a_turned_outline(values: NDArray[np.float32]) -> None:
    """90° clockwise: x' = height - y, y' = x. Points alone: where two of four cells that meet lie
    above, it is open which two points a line joins."""
    upright = outline(values, Size(70, 50))
    turned = outline(np.rot90(values, -1).copy(), Size(50, 70))
    points = {(round(50 - y, 6), round(x, 6)) for polygon in upright for x, y in polygon.tolist()}
    assert points == {(round(x, 6), round(y, 6)) for polygon in turned for x, y in polygon.tolist()}
