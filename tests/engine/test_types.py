"""Boxes in a photo."""

import math

import pytest

from engine.errors import BoxError
from engine.types import Box, Size

PHOTO = Size(100, 50)


@pytest.mark.parametrize(
    ("box", "inside"),
    [
        (Box(10, 10, 20, 20), Box(10, 10, 20, 20)),
        (Box(-5, -5, 20, 20), Box(0, 0, 15, 15)),
        (Box(90, 40, 1000, 1000), Box(90, 40, 10, 10)),
        (Box(0, 0, 100, 50), Box(0, 0, 100, 50)),
    ],
)
def test_the_part_inside_the_photo_remains(box: Box, inside: Box) -> None:
    assert box.within(PHOTO) == inside


@pytest.mark.parametrize(
    ("box", "said"),
    [
        (Box(10, 10, 0, 5), "area"),
        (Box(10, 10, 5, -1), "area"),
        (Box(100, 0, 5, 5), "outside"),
        (Box(0, 49.5, 5, 5), "outside"),
        (Box(math.nan, 0, 5, 5), "finite"),
        (Box(0, 0, math.nan, 5), "finite"),
        (Box(0, 0, math.inf, 5), "finite"),
    ],
)
def test_a_box_that_holds_nothing_is_refused_with_the_reason(box: Box, said: str) -> None:
    with pytest.raises(BoxError, match=said):
        box.within(PHOTO)
