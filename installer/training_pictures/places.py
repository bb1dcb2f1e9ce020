"""The same place again: other crops, light and standpoints, loose things moved or gone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from installer.training_pictures.backgrounds import Stock, laid, planes
from installer.training_pictures.lighting import photographed
from installer.training_pictures.surfaces import surface
from installer.training_pictures.views import View, frame
from installer.training_pictures.warp import rectangle

_WIDE, _HIGH = 560, 420
_AREAS = (0.3, 1.0)  # of the place that a view shows


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """``loose``: things and their upper left corners on ``ground`` (RGB)."""

    ground: Image.Image
    loose: Sequence[tuple[Image.Image, tuple[int, int]]]


def composed(stock: Stock, rng: np.random.Generator) -> Place:
    """Surfaces of its own (no other picture has them) with things of the stock."""
    own = Stock([surface(rng), surface(rng)], (), stock.sprites, ())
    ground = planes(own, rng, (_WIDE, _HIGH))
    loose = []
    for _ in range(int(rng.integers(7, 16))):
        sprite = stock.sprite(rng, _HIGH * float(rng.uniform(0.15, 0.55)))
        x = int(rng.uniform(-sprite.width * 0.3, _WIDE - sprite.width * 0.7))
        y = int(rng.uniform(-sprite.height * 0.2, _HIGH - sprite.height * 0.8))
        loose.append((sprite, (x, y)))
    loose.sort(key=lambda each: each[1][1] + each[0].height)  # what stands lower stands in front
    return Place(ground, loose)


def again(place: Place, rng: np.random.Generator) -> View:
    """One view of a composed place."""
    whole = place.ground.convert("RGBA")
    for sprite, (x, y) in place.loose:
        if rng.random() < 0.12:
            continue
        if rng.random() < 0.12:
            shift = rng.normal(0, 0.12, 2) * max(sprite.size)
            x, y = x + int(shift[0]), y + int(shift[1])
        laid(whole, sprite, (x, y), rng)
    return from_picture(whole.convert("RGB"), rng)


def from_picture(picture: Image.Image, rng: np.random.Generator) -> View:
    """_AREAS of a picture of the place from a slightly other standpoint."""
    size = frame(rng)
    share = float(rng.uniform(*_AREAS))
    aspect = size[0] / size[1] * float(np.exp(rng.normal(0, 0.04)))
    width = np.sqrt(share * picture.width * picture.height * aspect)
    height = width / aspect
    fit = min(picture.width / width, picture.height / height, 1.0)
    width, height = width * fit, height * fit
    left = rng.uniform(0, max(picture.width - width, 0))  # rounding: below 0 by a hair
    top = rng.uniform(0, max(picture.height - height, 0))
    corners = rectangle(width, height) - np.array([width / 2, height / 2])
    angle = np.radians(rng.normal(0, 4))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = corners @ turn.T + np.array([left + width / 2, top + height / 2])
    corners += rng.normal(0, 0.035, (4, 2)) * min(width, height)
    corners = np.clip(corners, 0, np.array(picture.size))
    cut = picture.transform(
        size, Image.Transform.QUAD, corners[[0, 3, 2, 1]].ravel().tolist(),
        Image.Resampling.BICUBIC,
    )  # fmt: skip
    return View(photographed(cut, rng), None, "place")
