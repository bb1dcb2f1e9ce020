"""Pictures of one thing: small among others, or close."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from installer.training_pictures.backgrounds import Stock, backdrop, laid, put, resized
from installer.training_pictures.lighting import photographed

LONGEST_PX = 400
SCENE_SHARES = (0.02, 0.5)  # of the picture's area that is seen of the thing
CLOSE_SHARES = (0.4, 0.9)  # of the picture's area that the thing's box takes

_TRIES = 6
_ASPECTS = ((4, 3), (4, 3), (3, 4), (3, 2), (1, 1), (16, 9))
Pose = Callable[[np.random.Generator], Image.Image]
"""Draws the thing anew (RGBA, without clear borders)."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """``mask`` (rows, columns): where the thing is visible; None for a whole place or photo."""

    picture: Image.Image
    mask: NDArray[np.bool_] | None
    kind: str


def frame(rng: np.random.Generator) -> tuple[int, int]:
    """Width and height of a picture, LONGEST_PX at its longest."""
    wide, high = _ASPECTS[int(rng.integers(len(_ASPECTS)))]
    longest = max(wide, high)
    return LONGEST_PX * wide // longest, LONGEST_PX * high // longest


def in_scene(pose: Pose, stock: Stock, rng: np.random.Generator) -> View:
    """The thing at SCENE_SHARES of a cluttered picture, perhaps partly hidden."""
    size = frame(rng)
    low, high = SCENE_SHARES
    sprite = pose(rng)
    solid = _solid(sprite).mean()  # of its box
    for attempt in range(_TRIES):
        last = attempt == _TRIES - 1
        share = 0.12 if last else float(np.exp(rng.uniform(np.log(low * 1.25), np.log(high * 0.9))))
        area = share * size[0] * size[1] / max(solid, 0.05)
        scale = np.sqrt(area / (sprite.width * sprite.height))
        scale = min(scale, 1.05 * size[0] / sprite.width, 1.05 * size[1] / sprite.height)
        target = resized(sprite, scale * max(sprite.size))
        slack = 0.0 if last else 0.12
        place = _somewhere(rng, size, target.size, slack)
        hider = None if last or rng.random() < 0.55 else _hider(stock, rng, place, target)
        mask = _visible(size, target, place, hider)
        whole_area = _solid(target).sum()
        if mask.mean() >= low and mask.sum() >= 0.55 * whole_area:
            break
    whole = backdrop(stock, rng, size).convert("RGBA")
    for _ in range(int(rng.integers(2, 12))):
        put(whole, stock.sprite(rng, max(size) * float(rng.uniform(0.1, 0.4))), rng)
    laid(whole, target, place, rng)
    if hider is not None:
        laid(whole, hider[0], hider[1], rng)
    return View(photographed(whole.convert("RGB"), rng), mask, "scene")


def close_up(pose: Pose, stock: Stock, rng: np.random.Generator) -> View:
    """The thing alone, its box CLOSE_SHARES of the picture, on some other background."""
    sprite = pose(rng)
    size = min((frame(rng) for _ in range(3)), key=lambda each: _unlike(each, sprite.size))
    share = float(rng.uniform(*CLOSE_SHARES))
    scale = np.sqrt(share * size[0] * size[1] / (sprite.width * sprite.height))
    scale = min(scale, 1.1 * size[0] / sprite.width, 1.1 * size[1] / sprite.height)
    target = resized(sprite, scale * max(sprite.size))
    place = _somewhere(rng, size, target.size, 0.04)
    whole = backdrop(stock, rng, size).convert("RGBA")
    laid(whole, target, place, rng)
    mask = _visible(size, target, place, None)
    return View(photographed(whole.convert("RGB"), rng), mask, "close")


def _unlike(size: tuple[int, int], other: tuple[int, int]) -> float:
    return abs(float(np.log(size[0] / size[1] * other[1] / other[0])))


def _solid(sprite: Image.Image) -> NDArray[np.bool_]:
    return np.asarray(sprite.getchannel("A")) > 127


def _somewhere(
    rng: np.random.Generator, size: tuple[int, int], thing: tuple[int, int], slack: float
) -> tuple[int, int]:
    """An upper left corner; up to ``slack`` of the thing may lie outside."""
    place = []
    for room, extent in zip(size, thing, strict=True):
        low, high = sorted((-slack * extent, room - extent * (1 - slack)))
        place.append(round(float(rng.uniform(low, high))))
    return place[0], place[1]


def _hider(
    stock: Stock, rng: np.random.Generator, place: tuple[int, int], target: Image.Image
) -> tuple[Image.Image, tuple[int, int]]:
    """Another thing across the target's border."""
    other = stock.sprite(rng, max(target.size) * float(rng.uniform(0.4, 0.8)))
    angle = rng.uniform(0, 2 * np.pi)
    x = place[0] + target.width * (0.5 + 0.5 * np.cos(angle)) - other.width / 2
    y = place[1] + target.height * (0.5 + 0.5 * np.sin(angle)) - other.height / 2
    return other, (round(x), round(y))


def _visible(
    size: tuple[int, int],
    target: Image.Image,
    place: tuple[int, int],
    hider: tuple[Image.Image, tuple[int, int]] | None,
) -> NDArray[np.bool_]:
    layer = Image.new("L", size)
    layer.paste(target.getchannel("A"), place)
    mask = np.asarray(layer) > 127
    if hider is None:
        return mask
    above = Image.new("L", size)
    above.paste(hider[0].getchannel("A"), hider[1])
    return np.asarray(mask & ~(np.asarray(above) > 127))
