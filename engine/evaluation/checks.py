"""What every ground truth must satisfy; what does not is refused, and the place told."""

import reprlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from engine.errors import GroundTruthError
from engine.types import Box

_shown = reprlib.Repr()
_shown.maxlevel, _shown.maxstring, _shown.maxother = 2, 80, 80


def demand(met: bool, reason: str) -> None:
    """Raise `GroundTruthError` with this reason unless it is met."""
    if not met:
        raise GroundTruthError(reason)


def shown(value: object) -> str:
    """Any value as one short line."""
    return _shown.repr(value)


def text_of(path: Path) -> str:
    """The text of a file, which must be one: neither a folder nor a pipe, which nobody may ever
    fill.

    Raises:
        GroundTruthError: it is not there, cannot be read, or is no UTF-8.
    """
    demand(path.is_file(), f"there is no {path.name} in {path.parent}")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise GroundTruthError(f"{path} cannot be read: {error}") from error


def as_object(content: object, where: str) -> dict[object, object]:
    """A dictionary."""
    if not isinstance(content, dict):
        raise GroundTruthError(f"{where} must be an object")
    return content


def as_list(content: object, where: str) -> list[object]:
    """A list."""
    if not isinstance(content, list):
        raise GroundTruthError(f"{where} must be a list")
    return content


def names(content: object, where: str) -> tuple[str, ...]:
    """Names of photos, each once, inside the folder."""
    found = []
    for name in as_list(content, where):
        if not isinstance(name, str) or not name:
            raise GroundTruthError(f"{where}: {shown(name)} is no name of a photo")
        path = PurePosixPath(name)
        inside = not path.is_absolute() and ".." not in path.parts
        demand(inside, f"{where}: {shown(name)} leads out of the folder")
        found.append(name)
    demand(len(set(found)) == len(found), f"{where} has a name twice")
    return tuple(found)


def demand_apart(kinds: Iterable[tuple[str, tuple[str, ...]]], where: str) -> None:
    """No photo, the query's own neither, may be of two kinds at once."""
    met: dict[str, str] = {}
    for kind, photos in kinds:
        for name in photos:
            demand(name not in met, f"{where}: {shown(name)} is in {met.get(name)} and in {kind}")
            met[name] = kind


def numbers(content: object, count: int, where: str) -> list[float]:
    """So many numbers that may be pixels of a photo."""
    found = []
    for number in as_list(content, where):
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise GroundTruthError(f"{where}: {shown(number)} is no number")
        # No photo is larger, and what is no number is not smaller.
        demand(abs(number) < 1e9, f"{where}: {shown(number)} is not within a photo")
        found.append(float(number))
    demand(len(found) == count, f"{where} must have {count} numbers, not {len(found)}")
    return found


def box_of_size(content: object, where: str) -> Box:
    """From [x, y, width, height]."""
    box = Box(*numbers(content, 4, f"{where}: box"))
    demand(box.w > 0 and box.h > 0, f"{where}: the box has no area")
    return box


def box_of_corners(content: object, where: str) -> Box:
    """From [x1, y1, x2, y2], as Oxford5k, Paris6k and their successors write it."""
    left, top, right, bottom = numbers(content, 4, f"{where}: box")
    return box_of_size([left, top, right - left, bottom - top], where)
