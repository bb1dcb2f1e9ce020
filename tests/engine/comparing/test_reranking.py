"""What the default asks with."""

from pathlib import Path

import numpy as np

from engine.comparing.extraction import Content
from engine.comparing.material import Question
from engine.comparing.reranking import default_parts
from engine.features.aggregation import gem
from engine.features.grid import ospp
from engine.types import Size
from tests.engine.comparing.conftest import random_map

_MAPS = {name: random_map(n).astype(np.float16) for n, name in enumerate(["crop", "a", "b"])}


def _content(name: str) -> Content:
    return Content(name, Path(name), Size(1, 1))


def _parts(*scaled: str) -> np.ndarray:
    question = Question(_content("crop"), _content("crop"), tuple(map(_content, scaled)))
    return default_parts(question, lambda content: _MAPS[content.name])


def test_a_box_asks_with_the_mean_of_its_crops() -> None:
    mean = gem(_MAPS["a"]) + gem(_MAPS["b"])
    np.testing.assert_allclose(_parts("a", "b"), [mean / np.linalg.norm(mean)], atol=1e-6)


def test_a_whole_photo_asks_with_its_squares_of_levels_2_and_3() -> None:
    cells = ospp(6, 8, (2, 3))
    parts = _parts()
    assert len(parts) == len(cells) > 1
    for part, cell in zip(parts, cells, strict=True):
        x0, y0, x1, y1 = cell
        np.testing.assert_allclose(part, gem(_MAPS["crop"][:, y0:y1, x0:x1]), atol=1e-5)
