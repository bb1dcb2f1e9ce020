"""From the sources to the folder of classes."""

import json
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from PIL import Image

from installer.training_pictures import groceries, write
from installer.training_pictures.backgrounds import Stock, resized
from installer.training_pictures.classes import (
    Class,
    PlaceClass,
    ProductClass,
    SolidClass,
    ThingClass,
    chance,
)
from installer.training_pictures.lighting import Lamp
from installer.training_pictures.rooms import BACKDROPS, PLACES, rendered
from installer.training_pictures.solids import portrait, solid
from installer.training_pictures.sources import clip_arts, distinct_arts, products
from installer.training_pictures.surfaces import surfaces
from installer.training_pictures.things import look, thing

_SPRITE_PX = 200
_SHELVES = 40
_ROOM_VERSIONS = 3
_PLACE_VERSIONS = 4
_PACKAGE = "Debian's package openclipart-png"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """How many classes of each kind, and views of each; and what they share: ``backdrops`` rooms
    rendered to stand behind things (like ``rooms``, at most 28), ``surfaces``, and ``sprites`` of
    clip arts that are no class."""

    things: int = 900
    solids: int = 300
    places: int = 250
    rooms: int = 28
    views: int = 6
    seed: int = 1
    backdrops: int = len(BACKDROPS)
    surfaces: int = 120
    sprites: int = 500


@dataclass(frozen=True, slots=True)
class Made:
    classes: int
    pictures: int


def compose(openclipart: Path, grocery: Path, out: Path, plan: Plan) -> Made:
    """Fills ``out`` with a folder for each class, TRUTH and SOURCES.

    What helps to go on after an interruption lies in ``<out>.cache`` beside it; a complete class is
    not made again. The same sources, plan and versions of numpy and Pillow give the same pictures.
    Raises ValueError where ``out`` was made by another plan or too few clip arts are there.
    """
    notes = out.with_name(out.name + ".cache")
    notes.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    _same_plan(notes / "plan.json", plan)
    arts, spare = _arts(openclipart, plan)
    goods = products(grocery)
    stock = _stock(spare, goods, notes, plan)
    every: list[Class] = [*arts, *_products(goods), *_places(notes, plan)]
    for index, each in enumerate(every):
        if write.finished(out, notes, each.name):
            continue
        rng = chance(plan.seed, each.name)
        views = each.views(stock, rng, plan.views)
        write.written(out, notes, each.name, views, source=each.source, rng=rng)
        if index % 100 == 0:
            _log.info("%d of %d classes", index, len(every))
    licence = grocery / "LICENSE"
    write.sources(
        out,
        package=_PACKAGE,
        groceries_licence=licence.read_text(encoding="utf-8") if licence.is_file() else "MIT",
        arts=[each.source for each in arts],
    )
    return Made(len(every), write.truth(out, notes, [each.name for each in every]))


def _same_plan(path: Path, plan: Plan) -> None:
    said = json.dumps(asdict(plan))
    if not path.exists():
        path.write_text(said, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != said:
        raise ValueError(f"{path.parent} belongs to another plan: choose an empty folder")


def _arts(folder: Path, plan: Plan) -> tuple[list[ThingClass | SolidClass], list[Image.Image]]:
    """The clip arts that become classes, and others that become clutter, all unlike each other."""
    paths = clip_arts(folder)
    order = np.random.default_rng(plan.seed).permutation(len(paths))
    classes = plan.things + plan.solids
    chosen = distinct_arts([paths[index] for index in order])
    found = list(islice(chosen, classes + plan.sprites))
    if len(found) <= classes:
        raise ValueError(f"{folder}: {len(found)} clip arts are fit, {classes + 1} are needed")
    named: list[ThingClass | SolidClass] = []
    for index, (path, art) in enumerate(found[:classes]):
        flat = index < plan.things
        name = f"{'thing' if flat else 'solid'}-{index + 1:04d}-{_plain(path.stem)}"
        kind = ThingClass if flat else SolidClass
        named.append(kind(name, path.relative_to(folder).as_posix(), art))
    return named, [art for _, art in found[classes:]]


def _plain(stem: str) -> str:
    """A file's name in letters and digits that every file system takes."""
    return re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-").lower()


def _products(folders: Sequence[Path]) -> list[ProductClass]:
    return [
        ProductClass(f"product-{each.name}", f"GroceryStoreDataset/{each.name}", each)
        for each in folders
    ]


def _places(notes: Path, plan: Plan) -> Iterator[PlaceClass]:
    for index in range(plan.places):
        yield PlaceClass(f"place-{index + 1:04d}", "composed by Refocal")
    for shot in PLACES[: plan.rooms]:
        pictures = partial(
            rendered, shot, _PLACE_VERSIONS, furnished=True, folder=notes / "rooms", seed=plan.seed
        )
        yield PlaceClass(f"room-{shot.name}", "rendered by Refocal", pictures)


def _stock(spare: Sequence[Image.Image], goods: Sequence[Path], notes: Path, plan: Plan) -> Stock:
    rng = np.random.default_rng([plan.seed, 7])
    stuffs = surfaces(rng, plan.surfaces)
    sprites = [
        resized(_sprite(art, stuffs, rng, rounded=index % 5 == 0), _SPRITE_PX)
        for index, art in enumerate(spare)
    ]
    behind = [
        picture
        for shot in BACKDROPS[: plan.backdrops]
        for picture in rendered(
            shot, _ROOM_VERSIONS, furnished=False, folder=notes / "rooms", seed=plan.seed
        )
    ]
    photos = [path for folder in goods for path in groceries.photos(folder)]
    chosen = rng.choice(len(photos), min(_SHELVES, len(photos)), replace=False) if photos else ()
    shelves = [groceries.photo(photos[int(index)]) for index in sorted(chosen)]
    return Stock(stuffs, behind, sprites, shelves)


def _sprite(
    art: Image.Image, stuffs: Sequence[Image.Image], rng: np.random.Generator, *, rounded: bool
) -> Image.Image:
    if rounded:
        return portrait(solid(art, stuffs, rng), rng)
    return look(thing(art, stuffs, rng), Lamp.chance(rng), rng)
