"""Wood, cloth, plaster, tiles and their like as flat pictures, from the sample album's patterns."""

import colorsys
from collections.abc import Callable

import numpy as np
from PIL import Image

from installer.sample import patterns
from installer.sample.mesh import FloatArray
from installer.sample.model import Material
from installer.sample.patterns import clouds
from installer.sample.texture import Texture, encoded

SURFACE_PX = 384

_WOODS = (
    ("#d3a570", "#94653a"),
    ("#e8c592", "#b98a55"),
    ("#9a6a42", "#5a3820"),
    ("#c9bba6", "#8d7f6c"),
)


def colour(rng: np.random.Generator, *, pale: bool = False) -> str:
    """A code such as "#c8b4a0"; mostly muted, as walls, cloths and boxes are."""
    lightness = rng.uniform(0.6, 0.95) if pale else rng.uniform(0.2, 0.85)
    saturation = rng.beta(1.2, 2.5) if pale else rng.beta(1.3, 2.6)
    red, green, blue = colorsys.hls_to_rgb(rng.random(), lightness, saturation)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def surface(rng: np.random.Generator) -> Image.Image:
    """One square RGB picture, SURFACE_PX wide."""
    kind = _KINDS[int(rng.integers(len(_KINDS)))]
    picture = kind(rng, int(rng.integers(1, 1_000_000)))
    small = Image.fromarray((np.clip(encoded(picture), 0, 1) * 255).astype(np.uint8))
    return small.resize((SURFACE_PX, SURFACE_PX), Image.Resampling.BOX)


def surfaces(rng: np.random.Generator, count: int) -> list[Image.Image]:
    made = [surface(rng) for _ in range(count)]
    for cached in _CACHED:  # each holds its materials, several megabytes apiece
        cached.cache_clear()
    return made


_CACHED = (
    patterns.wood, patterns.planks, patterns.parquet, patterns.plaster, patterns.cloth,
    patterns.checked, patterns.striped, patterns.tiles, patterns.bricks, patterns.ground,
)  # fmt: skip


def _picture(material: Material) -> FloatArray:
    assert isinstance(material.colour, Texture)
    return material.colour.levels[0]


def _timber(rng: np.random.Generator, seed: int) -> FloatArray:
    light, dark = _WOODS[int(rng.integers(len(_WOODS)))]
    if rng.random() < 0.3:
        return _picture(patterns.parquet(light, dark, seed=seed))
    if rng.random() < 0.4:
        return _picture(patterns.wood(light, dark, seed=seed))
    return _picture(patterns.planks(light, dark, count=int(rng.integers(3, 9)), seed=seed))


def _plaster(rng: np.random.Generator, seed: int) -> FloatArray:
    return _picture(patterns.plaster(colour(rng, pale=True), colour(rng, pale=True), seed=seed))


def _cloth(rng: np.random.Generator, seed: int) -> FloatArray:
    threads = int(rng.integers(40, 140))
    return _picture(patterns.cloth(colour(rng), colour(rng), seed=seed, threads=threads))


def _checked(rng: np.random.Generator, seed: int) -> FloatArray:
    cells = int(rng.integers(3, 14))
    return _picture(patterns.checked(colour(rng, pale=True), colour(rng), cells=cells, seed=seed))


def _striped(rng: np.random.Generator, seed: int) -> FloatArray:
    codes = tuple(colour(rng) for _ in range(int(rng.integers(2, 5))))
    return _picture(patterns.striped(codes, seed=seed))


def _tiles(rng: np.random.Generator, seed: int) -> FloatArray:
    across, down = (int(each) for each in rng.integers(3, 9, 2))
    codes = colour(rng), colour(rng), colour(rng, pale=True)
    if rng.random() < 0.3:
        return _picture(patterns.bricks(*codes, seed=seed))
    return _picture(patterns.tiles(*codes, across=across, down=down, seed=seed))


def _ground(rng: np.random.Generator, seed: int) -> FloatArray:
    return _picture(patterns.ground(colour(rng), colour(rng), seed=seed))


def _marbled(rng: np.random.Generator, seed: int) -> FloatArray:
    """Noise of several scales in two colours: stone, paper, carpet."""
    share = clouds((384, 384), (int(rng.integers(2, 40)),) * 2, seed=seed, octaves=5)
    return patterns.mixed(colour(rng), colour(rng), 0.5 + share * rng.uniform(0.2, 1.2))


_KINDS: tuple[Callable[[np.random.Generator, int], FloatArray], ...] = (
    _timber, _timber, _plaster, _cloth, _checked, _striped, _tiles, _ground, _marbled,
)  # fmt: skip
