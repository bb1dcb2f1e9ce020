"""The classes, and how the views of each are made."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from installer.training_pictures import groceries, places
from installer.training_pictures.backgrounds import Stock
from installer.training_pictures.lighting import Lamp
from installer.training_pictures.solids import portrait, solid
from installer.training_pictures.things import look, thing
from installer.training_pictures.views import View, close_up, in_scene
from installer.training_pictures.warp import tilted

_POSES = 3


@dataclass(frozen=True, slots=True, eq=False)
class ThingClass:
    """A clip art as a thing; ``source``: its path in the package."""

    name: str
    source: str
    art: Image.Image

    def views(self, stock: Stock, rng: np.random.Generator, count: int) -> Iterator[View]:
        made = thing(self.art, stock.surfaces, rng)

        def pose(chance: np.random.Generator) -> Image.Image:
            return look(made, Lamp.chance(chance), chance)

        for index in range(count):
            yield (in_scene if index % 2 == 0 else close_up)(pose, stock, rng)


@dataclass(frozen=True, slots=True, eq=False)
class SolidClass:
    """A clip art on a rendered body; as rendering is slow, two views share a pose and are told
    apart by background, scale, perspective and light."""

    name: str
    source: str
    art: Image.Image

    def views(self, stock: Stock, rng: np.random.Generator, count: int) -> Iterator[View]:
        model = solid(self.art, stock.surfaces, rng)
        poses = [portrait(model, rng) for _ in range(min(count, _POSES))]
        for index in range(count):
            shown = poses[index % len(poses)]

            def pose(chance: np.random.Generator, shown: Image.Image = shown) -> Image.Image:
                return tilted(shown, chance, yaw_deg=20, pitch_deg=10)

            yield (in_scene if index % 2 == 0 else close_up)(pose, stock, rng)


@dataclass(frozen=True, slots=True, eq=False)
class ProductClass:
    """The photos of a product as they are, then cut out."""

    name: str
    source: str
    folder: Path

    def views(self, stock: Stock, rng: np.random.Generator, count: int) -> Iterator[View]:
        paths = groceries.photos(self.folder)
        for path in paths:
            yield View(groceries.photo(path), None, "photo")

        def pose(chance: np.random.Generator) -> Image.Image:
            return groceries.cut_out(
                groceries.photo(paths[int(chance.integers(len(paths)))]), chance
            )

        for index in range(count if paths else 0):
            yield (in_scene if index % 3 else close_up)(pose, stock, rng)


@dataclass(frozen=True, slots=True, eq=False)
class PlaceClass:
    """A composed place, or with ``pictures`` a room rendered from several standpoints."""

    name: str
    source: str
    pictures: Callable[[], Sequence[Image.Image]] | None = None

    def views(self, stock: Stock, rng: np.random.Generator, count: int) -> Iterator[View]:
        if self.pictures is not None:
            rooms = self.pictures()
            for index in range(count):
                yield places.from_picture(rooms[index % len(rooms)], rng)
            return
        place = places.composed(stock, rng)
        for _ in range(count):
            yield places.again(place, rng)


Class = ThingClass | SolidClass | ProductClass | PlaceClass


def chance(seed: int, name: str) -> np.random.Generator:
    """The chance of one class alone: what is made before does not matter."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])
