"""gt.json: what an evaluation should find, as checked and immutable data.

    {"name", "protocol": "leave-query-out", "photos": [...],
     "queries": [{"photo", "box": [x, y, w, h] | null, "positives": [...], "junk": [...],
                  "masks": {photo: [polygon, ...]}}]}

Photos are paths relative to the folder. ``photos`` is the database; the query's own photo and its
junk leave its ranking; positives are what must be found. Boxes are pixels of the upright photo,
polygons lists of [x, y] in the same frame that outline where the thing is. ``box``, ``junk`` and
``masks`` may be left out.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from engine.errors import GroundTruthError
from engine.types import Box

FILE = "gt.json"
PROTOCOL = "leave-query-out"

Polygon = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class TruthQuery:
    """One question and its answers; see the module. ``masks``: where the thing is, by photo."""

    photo: str
    box: Box | None
    positives: tuple[str, ...]
    junk: tuple[str, ...] = ()
    masks: Mapping[str, tuple[Polygon, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """A set of photos with questions and answers."""

    name: str
    folder: Path
    photos: tuple[str, ...]
    queries: tuple[TruthQuery, ...]


def read(folder: Path) -> GroundTruth:
    """The ground truth of a folder.

    Raises:
        GroundTruthError: gt.json is missing, or does not say what an evaluation needs.
    """
    path = folder / FILE
    if not path.is_file():  # neither a folder nor a pipe, which nobody may ever fill
        raise GroundTruthError(f"there is no {FILE} in {folder}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise GroundTruthError(f"{path} cannot be read: {error}") from error
    try:
        return _truth(content, folder)
    except GroundTruthError as error:
        raise GroundTruthError(f"{path}: {error.reason}") from None


def _truth(content: object, folder: Path) -> GroundTruth:
    table = _object(content, "the whole")
    protocol = table.get("protocol", PROTOCOL)
    _demand(protocol == PROTOCOL, f"the protocol must be {PROTOCOL}, not {protocol!r}")
    photos = _names(table.get("photos"), "photos")
    queries = _list(table.get("queries"), "queries")
    _demand(bool(photos) and bool(queries), "it needs photos and queries")
    known = frozenset(photos)
    return GroundTruth(
        name=str(table.get("name", folder.name)),
        folder=folder,
        photos=photos,
        queries=tuple(_query(one, f"query {n}", known) for n, one in enumerate(queries)),
    )


def _query(content: object, where: str, known: frozenset[str]) -> TruthQuery:
    table = _object(content, where)
    (photo,) = _names([table.get("photo")], f"{where}: photo")
    positives = _names(table.get("positives"), f"{where}: positives")
    junk = _names(table.get("junk") or [], f"{where}: junk")
    masks = _object(table.get("masks") or {}, f"{where}: masks")
    for kind, names in (("positives", positives), ("junk", junk), ("masks", masks)):
        for name in names:
            _demand(name in known, f"{where}: {kind} has {name!r}, which is not in photos")
    return TruthQuery(
        photo=photo,
        box=_box(table.get("box"), where),
        positives=positives,
        junk=junk,
        masks={name: _polygons(mask, f"{where}: mask of {name}") for name, mask in masks.items()},
    )


def _names(content: object, where: str) -> tuple[str, ...]:
    names = []
    for name in _list(content, where):
        if not isinstance(name, str) or not name:
            raise GroundTruthError(f"{where}: {name!r} is no name of a photo")
        path = PurePosixPath(name)
        inside = not path.is_absolute() and ".." not in path.parts
        _demand(inside, f"{where}: {name!r} leads out of the folder")
        names.append(name)
    _demand(len(set(names)) == len(names), f"{where} has a name twice")
    return tuple(names)


def _box(content: object, where: str) -> Box | None:
    if content is None:
        return None
    box = Box(*_numbers(content, 4, f"{where}: box"))
    _demand(box.w > 0 and box.h > 0, f"{where}: the box has no area")
    return box


def _polygons(content: object, where: str) -> tuple[Polygon, ...]:
    polygons = []
    for polygon in _list(content, where):
        points = [_numbers(point, 2, where) for point in _list(polygon, where)]
        _demand(len(points) >= 3, f"{where}: a polygon needs three points or more")
        polygons.append(tuple((x, y) for x, y in points))
    return tuple(polygons)


def _numbers(content: object, count: int, where: str) -> list[float]:
    numbers = []
    for number in _list(content, where):
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise GroundTruthError(f"{where}: {number!r} is no number")
        # No photo is larger, and what is no number is not smaller.
        _demand(abs(number) < 1e9, f"{where}: {number!r} is not within a photo")
        numbers.append(float(number))
    _demand(len(numbers) == count, f"{where} must have {count} numbers, not {len(numbers)}")
    return numbers


def _object(content: object, where: str) -> dict[str, object]:
    if not isinstance(content, dict):
        raise GroundTruthError(f"{where} must be an object")
    return content


def _list(content: object, where: str) -> list[object]:
    if not isinstance(content, list):
        raise GroundTruthError(f"{where} must be a list")
    return content


def _demand(met: bool, reason: str) -> None:
    if not met:
        raise GroundTruthError(reason)
