"""What stands behind things and is shared by all classes: rooms, surfaces, blurred clutter."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageColor, ImageFilter, ImageOps

from installer.sample.mesh import floats
from installer.training_pictures.surfaces import colour
from installer.training_pictures.warp import drawn, rectangle

_KINDS = ("rendered", "planes", "surface", "plain", "clutter", "shelf")
_ODDS = (0.38, 0.2, 0.16, 0.05, 0.13, 0.08)


@dataclass(frozen=True, slots=True, eq=False)
class Stock:
    """What every picture draws on. ``sprites``: things (RGBA) that have no class. ``shelves``:
    photos of groceries, used only unrecognisably blurred."""

    surfaces: Sequence[Image.Image]
    rooms: Sequence[Image.Image]
    sprites: Sequence[Image.Image]
    shelves: Sequence[Image.Image]

    def sprite(self, rng: np.random.Generator, longest_px: float) -> Image.Image:
        """Some thing without a class, seldom upside down, at a size."""
        chosen = self.sprites[int(rng.integers(len(self.sprites)))]
        if rng.random() < 0.5:
            chosen = ImageOps.mirror(chosen)
        return resized(chosen, longest_px)

    def surface(self, rng: np.random.Generator) -> Image.Image:
        return self.surfaces[int(rng.integers(len(self.surfaces)))]


def resized(sprite: Image.Image, longest_px: float) -> Image.Image:
    scale = max(longest_px, 8.0) / max(sprite.size)
    size = (max(round(sprite.width * scale), 1), max(round(sprite.height * scale), 1))
    return sprite.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)


def backdrop(stock: Stock, rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """An RGB picture of ``size`` to put things on."""
    kinds = [kind for kind in _KINDS if _there(stock, kind)]
    odds = np.array([_ODDS[_KINDS.index(kind)] for kind in kinds])
    kind = str(rng.choice(kinds, p=odds / odds.sum()))
    if kind == "rendered":
        made = _part(stock.rooms[int(rng.integers(len(stock.rooms)))], rng, size)
    elif kind == "planes":
        made = planes(stock, rng, size)
    elif kind == "surface":
        made = _part(stock.surface(rng), rng, size)
    elif kind == "plain":
        made = _plain(rng, size)
    elif kind == "clutter":
        made = _heap(stock, rng, size)
    else:
        shelf = _part(stock.shelves[int(rng.integers(len(stock.shelves)))], rng, size)
        made = shelf.filter(ImageFilter.GaussianBlur(float(rng.uniform(9, 18))))
    if rng.random() < 0.25:  # out of focus
        made = made.filter(ImageFilter.GaussianBlur(float(rng.uniform(1, 6))))
    return _tinted(made, rng)


def _there(stock: Stock, kind: str) -> bool:
    return bool({"rendered": stock.rooms, "shelf": stock.shelves}.get(kind, True))


def planes(stock: Stock, rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """A wall and a floor or table before it, their edge somewhere in the middle."""
    width, height = size
    edge = height * float(rng.uniform(0.2, 0.65))
    lean = height * float(rng.normal(0, 0.06))
    wall = _part(stock.surface(rng), rng, size).convert("RGBA")
    reach = width * float(rng.uniform(0.3, 1.5))
    near = np.array(
        [[0, edge - lean], [width, edge + lean], [width + reach, height], [-reach, height]],
        dtype=np.float64,
    )
    ground = stock.surface(rng).convert("RGBA")
    wall.alpha_composite(drawn(ground, near, size))
    if rng.random() < 0.5:  # skirting, or the table's edge
        beam = Image.new("RGBA", (8, 8), colour(rng))
        thick = height * float(rng.uniform(0.01, 0.05))
        corners = np.array(
            [[0, edge - lean - thick], [width, edge + lean - thick], [width, edge + lean],
             [0, edge - lean]], dtype=np.float64,
        )  # fmt: skip
        wall.alpha_composite(drawn(beam, corners, size))
    return wall.convert("RGB")


def _part(picture: Image.Image, rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """A random crop in a slight perspective, at ``size``."""
    share = float(rng.uniform(0.45, 1.0))
    aspect = size[0] / size[1]
    width = share * min(picture.width, picture.height * aspect)
    height = width / aspect
    left = rng.uniform(0, max(picture.width - width, 0))  # rounding: below 0 by a hair
    top = rng.uniform(0, max(picture.height - height, 0))
    corners = rectangle(width, height) + np.array([left, top])
    corners += rng.normal(0, 0.03, (4, 2)) * min(width, height)
    corners = np.clip(corners, 0, np.array(picture.size))
    made = picture.transform(
        size, Image.Transform.QUAD, corners[[0, 3, 2, 1]].ravel().tolist(),
        Image.Resampling.BICUBIC,
    )  # fmt: skip
    return ImageOps.mirror(made) if rng.random() < 0.5 else made


def _plain(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """A gradient between two colours: studio paper, sky, a wall out of focus."""
    small = Image.new("RGB", (2, 2))
    for place in ((0, 0), (1, 0), (0, 1), (1, 1)):
        small.putpixel(place, ImageColor.getrgb(colour(rng)))
    if rng.random() < 0.5:
        small = small.resize((1, 2)).resize((2, 2))
    return small.resize(size, Image.Resampling.BICUBIC)


def _heap(stock: Stock, rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """Things all over, as in a drawer or on a flea market."""
    whole = _part(stock.surface(rng), rng, size).convert("RGBA")
    for _ in range(int(rng.integers(10, 26))):
        put(whole, stock.sprite(rng, max(size) * float(rng.uniform(0.15, 0.45))), rng)
    return whole.convert("RGB")


def put(whole: Image.Image, sprite: Image.Image, rng: np.random.Generator) -> None:
    """Draws ``sprite`` somewhere on ``whole`` (RGBA), at most half of it outside."""
    left = int(rng.uniform(-sprite.width / 2, whole.width - sprite.width / 2))
    top = int(rng.uniform(-sprite.height / 2, whole.height - sprite.height / 2))
    laid(whole, sprite, (left, top), rng)


def laid(
    whole: Image.Image, sprite: Image.Image, place: tuple[int, int], rng: np.random.Generator
) -> None:
    """Draws ``sprite`` with its upper left corner at ``place``, and under it a soft shadow."""
    if rng.random() < 0.8:
        alpha = sprite.getchannel("A")
        spread = max(sprite.size) * float(rng.uniform(0.01, 0.05)) + 0.5
        margin = int(3 * spread)
        frame = Image.new("L", (sprite.width + 2 * margin, sprite.height + 2 * margin))
        frame.paste(alpha, (margin, margin))
        depth = float(rng.uniform(0.2, 0.65))
        soft = frame.filter(ImageFilter.GaussianBlur(spread)).point(lambda value: value * depth)
        shadow = Image.new("RGBA", soft.size, "#08080c")
        shadow.putalpha(soft)
        shift = rng.normal(0, spread, 2) + np.array([0, spread])
        over(whole, shadow, (place[0] - margin + int(shift[0]), place[1] - margin + int(shift[1])))
    over(whole, sprite, place)


def over(whole: Image.Image, part: Image.Image, place: tuple[int, int]) -> None:
    """``part`` on ``whole``, both RGBA, where they meet; ``place`` may be negative."""
    left, top = max(-place[0], 0), max(-place[1], 0)
    if (
        left < part.width
        and top < part.height
        and place[0] < whole.width
        and place[1] < whole.height
    ):
        whole.alpha_composite(part, (max(place[0], 0), max(place[1], 0)), (left, top))


def _tinted(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """The picture in a somewhat other colour, that one room be many."""
    gains = 1 + rng.normal(0, 0.14, 3)
    pixels = np.asarray(picture, dtype=np.float32) * floats(gains * rng.uniform(0.65, 1.2))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
