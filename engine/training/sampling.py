"""Which pictures a step sees: every batch draws from all classes alike.

Everything follows from the seed and the number of the step, so that a training that was killed
goes on exactly as if it had not been.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_CLASSES, _PHOTOS, _NOISE = 1, 2, 3
"""Streams of random numbers, so that neither depends on how much the other has drawn."""

_SEEDS = 2**62


@dataclass(frozen=True, slots=True)
class Drawn:
    """Photos of a step, by their places; ``seeds`` (same length) of their augmentations."""

    photos: tuple[int, ...]
    seeds: tuple[int, ...]


def draw(
    members: Sequence[Sequence[int]],
    *,
    step: int,
    batch: int,
    per_class: int,
    seed: int,
    balanced: bool = True,
) -> Drawn:
    """The pictures of a step.

    Args:
        members: of each class the places of its photos, at least one.
        batch: about how many pictures.
        per_class: pictures of one class; a class with fewer photos shows some of them several
            times, each under another augmentation.
        balanced: classes take turns, and each is seen equally often (Revaud et al. 2019, section
            4.1); otherwise photos are drawn without regard to their classes, and large ones are
            seen more.
    """
    chance = np.random.default_rng([seed, _PHOTOS, step])
    if balanced:
        turns = _in_turn(len(members), step=step, count=max(1, batch // per_class), seed=seed)
        photos = [photo for one in turns for photo in _some(members[one], per_class, chance)]
    else:
        everything = [photo for own in members for photo in own]
        photos = _some(everything, batch, chance)
    seeds = chance.integers(_SEEDS, size=len(photos)).tolist()
    return Drawn(tuple(photos), tuple(seeds))


def noise_seed(seed: int, *, step: int, process: int = 0) -> int:
    """Of what a network itself draws in a step (dropout): each process draws others."""
    return int(np.random.default_rng([seed, _NOISE, step, process]).integers(_SEEDS))


def _in_turn(classes: int, *, step: int, count: int, seed: int) -> list[int]:
    """Classes in an order of their own each round; no batch has one twice if it can do without."""
    if count >= classes:
        return list(range(classes))
    rounds, first = divmod(step * count, classes)
    order: list[int] = []
    for number in range(rounds + 1):
        order = _order(classes, number, count=count, before=order, seed=seed)
    turns = order[first : first + count]
    if len(turns) < count:
        later = _order(classes, rounds + 1, count=count, before=order, seed=seed)
        turns += later[: count - len(turns)]
    return turns


def _order(classes: int, number: int, *, count: int, before: list[int], seed: int) -> list[int]:
    """The order of a round. The batch that it shares with the round before has none twice: classes
    that the end of that one had come later in this."""
    chance = np.random.default_rng([seed, _CLASSES, number])
    order: list[int] = chance.permutation(classes).tolist()
    shared = -number * classes % count
    if not shared:
        return order
    had = set(before[len(before) - (count - shared) :])
    first = [one for one in order if one not in had][:shared]
    taken = set(first)
    return first + [one for one in order if one not in taken]


def _some(photos: Sequence[int], count: int, chance: np.random.Generator) -> list[int]:
    drawn: list[int] = []
    while len(drawn) < count:
        drawn += chance.permutation(photos)[: count - len(drawn)].tolist()
    return drawn
