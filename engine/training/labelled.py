"""Photos with labels: what a training learns from.

A folder is a class; or every photo is one of its own, known again by strong augmentation alone.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import TrainingError
from engine.media.formats import is_photo_name


@dataclass(frozen=True, slots=True)
class Labelled:
    """``photos``: files, each of the class ``classes`` (same length) names by its number;
    ``names``: of the classes."""

    photos: tuple[Path, ...]
    classes: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def members(self) -> list[list[int]]:
        """Of each class the places of its photos."""
        found: list[list[int]] = [[] for _ in self.names]
        for place, one in enumerate(self.classes):
            found[one].append(place)
        return found

    def only(self, classes: Iterable[int]) -> "Labelled":
        """These classes alone, numbered anew in the order of their numbers."""
        kept = sorted(set(classes))
        number = {one: place for place, one in enumerate(kept)}
        places = [place for place, one in enumerate(self.classes) if one in number]
        return Labelled(
            tuple(self.photos[place] for place in places),
            tuple(number[self.classes[place]] for place in places),
            tuple(self.names[one] for one in kept),
        )

    def without(self, photos: Iterable[Path]) -> "Labelled":
        """Without these files, and without the classes that have no other."""
        gone = set(photos)
        groups = {
            self.names[one]: [self.photos[place] for place in places]
            for one, places in enumerate(self.members)
        }
        return grouped({name: [p for p in own if p not in gone] for name, own in groups.items()})


def grouped(groups: dict[str, list[Path]]) -> Labelled:
    """Photos by the name of their class; classes without one are left out."""
    named = {name: own for name, own in groups.items() if own}
    return Labelled(
        tuple(photo for own in named.values() for photo in own),
        tuple(number for number, own in enumerate(named.values()) for _ in own),
        tuple(named),
    )


def labelled_folder(folder: Path, *, each_photo: bool = False) -> Labelled:
    """The photos of a folder whose sub-folders are classes, whatever lies below them.

    Args:
        each_photo: every photo is a class of its own, wherever it lies.

    Raises:
        TrainingError: the folder is none, cannot be read, or holds no photo with a label.
    """
    if not folder.is_dir():
        raise TrainingError(f"there is no folder {folder}")
    try:
        files = sorted(p for p in folder.rglob("*") if p.is_file() and is_photo_name(p))
    except OSError as error:
        raise TrainingError(f"{folder} cannot be read: {error.strerror}") from error
    groups: defaultdict[str, list[Path]] = defaultdict(list)
    for file in files:
        inside = file.relative_to(folder).parts
        if each_photo:
            groups["/".join(inside)].append(file)
        elif len(inside) > 1:
            groups[inside[0]].append(file)
    if not groups:
        raise TrainingError(f"no photo in {folder} has a label: each sub-folder is one")
    return grouped(dict(groups))


def split(labelled: Labelled, share: float, *, seed: int) -> tuple[Labelled, Labelled]:
    """Classes to learn from, and classes held out, which no step of the training sees.

    Args:
        share: 0…1 of the classes that are held out, at least one of those with several photos.

    Raises:
        TrainingError: fewer than two classes would be left to learn from.
    """
    if not share:
        return labelled, grouped({})
    order = np.random.default_rng([seed, 1]).permutation(len(labelled.names)).tolist()
    members = labelled.members
    order.sort(key=lambda one: len(members[one]) < 2)  # those with positives first
    count = max(1, round(share * len(order)))
    # Every n-th of them, so that both parts have classes of one photo if there are such.
    held_out = order[:: max(1, len(order) // count)][:count]
    rest = set(order) - set(held_out)
    if len(rest) < 2:
        raise TrainingError(f"{len(order)} classes are too few to hold some of them out")
    return labelled.only(rest), labelled.only(held_out)
