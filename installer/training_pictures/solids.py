"""A clip art on a rendered body: mug, vase, tin, box, book, framed picture, ball.

Unlike the flat things these have curves, rims and shadows of their own; a pose costs half a second.
"""

from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image, ImageFilter

from installer.sample.album.shot import scene, view
from installer.sample.light import Light
from installer.sample.mesh import FloatArray, floats, move, turn
from installer.sample.model import Material, Model, Part, Placed, moved
from installer.sample.patterns import brass, paint
from installer.sample.render import render
from installer.sample.rooms.room import EVENING, LAMP, MORNING, NOON, SOFT, SUN, Room
from installer.sample.shapes import ball, block, revolve, sheet, smooth, tube
from installer.sample.texture import Texture
from installer.sample.things.paper import framed
from installer.training_pictures.surfaces import colour
from installer.training_pictures.things import printed
from installer.training_pictures.warp import cropped

_LIGHTS: tuple[Light, ...] = (MORNING, NOON, SOFT, EVENING, LAMP, SUN)
_PICTURE_PX = 270
_NAME = "thing"


def solid(art: Image.Image, surfaces: Sequence[Image.Image], rng: np.random.Generator) -> Model:
    """A body, standing at the origin, that ``art`` (RGBA) is printed on."""
    kind = _BODIES[int(rng.integers(len(_BODIES)))]
    grain = surfaces[int(rng.integers(len(surfaces)))]
    ground = colour(rng, pale=bool(rng.random() < 0.6))
    label = printed(art, ground, grain, float(rng.uniform(0.02, 0.2)), rng)
    return kind(label.convert("RGB"), rng)


def portrait(model: Model, rng: np.random.Generator) -> Image.Image:
    """The model from somewhere before it in some light: RGBA, without clear borders."""
    points = np.concatenate([part.mesh.points for part in model])
    low, high = points.min(axis=0), points.max(axis=0)
    reach = float(np.linalg.norm(high - low)) / 2
    middle = (low + high) / 2
    camera = view(
        (float(middle[0]), float(middle[1]), float(middle[2])), reach * 3.3,
        float(rng.uniform(-55, 55)), float(rng.uniform(0, 45)),
        aperture_cm=0.0, roll_deg=float(rng.normal(0, 8)),
    )  # fmt: skip
    light = _LIGHTS[int(rng.integers(len(_LIGHTS)))]
    stage = scene(
        Room(()), camera, [Placed(model, turn("z", float(rng.normal(0, 10))), _NAME)],
        size=(_PICTURE_PX, _PICTURE_PX), light=light, reach_cm=reach * 2,
    )  # fmt: skip
    made = render(stage, seed=int(rng.integers(1 << 31)))
    picture = made.picture.convert("RGBA")
    mask = Image.fromarray(made.masks[_NAME].astype(np.uint8) * 255)
    # one pixel less: at the border the sky behind shines in
    picture.putalpha(mask.filter(ImageFilter.MinFilter(3)).filter(ImageFilter.GaussianBlur(0.7)))
    return cropped(picture)


def _wrapped(label: Image.Image, round_: float, height: float) -> Texture:
    """The print so often side by side that it is not stretched round a body."""
    times = max(round(round_ / height * label.height / label.width), 1)
    whole = Image.new("RGB", (label.width * times, label.height))
    for index in range(times):
        whole.paste(label, (index * label.width, 0))
    width = whole.width
    # u = 0.5 looks to the front: there a whole print, not a seam
    shift = 0 if times % 2 else label.width // 2
    return Texture.from_picture(Image.fromarray(np.roll(np.asarray(whole), shift % width, axis=1)))


def _turned(
    profile: Sequence[tuple[float, float]] | FloatArray, label: Image.Image, gloss: float
) -> Part:
    line = np.asarray(profile, dtype=np.float64)
    length = float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
    texture = _wrapped(label, float(2 * np.pi * line[:, 0].max()), length)
    return Part(revolve(floats(line), around=44), Material(texture, gloss))


def _vase(label: Image.Image, rng: np.random.Generator) -> Model:
    radii = rng.uniform(2.5, 7, 4)
    heights = np.linspace(0.3, rng.uniform(12, 22), 4)
    points = [(float(radius), float(z)) for radius, z in zip(radii, heights, strict=True)]
    body = smooth(points, steps=6)
    top = float(body[-1, 1])
    mouth = [(float(radii[-1]), top), (float(radii[-1]) * 0.85, top), (0.5, top - 3)]
    inside = revolve(floats(mouth), around=44)
    gloss = float(rng.uniform(0.1, 0.7))
    return (_turned(body, label, gloss), Part(inside, paint(colour(rng), gloss=gloss)))


def _mug(label: Image.Image, rng: np.random.Generator) -> Model:
    radius, height = float(rng.uniform(3.4, 4.8)), float(rng.uniform(7, 12))
    flare = radius * float(rng.uniform(0.95, 1.2))
    plain = paint(colour(rng, pale=True), gloss=0.6)
    inside = revolve(
        floats([(flare, height), (flare * 0.92, height), (radius * 0.85, 1.0), (0.01, 0.9)])
    )
    reach = radius + height * 0.33
    ear = smooth(
        [(radius * 0.97, 0, height * 0.83), (reach, 0, height * 0.78), (reach, 0, height * 0.4),
         (radius * 0.97, 0, height * 0.25)], steps=6,
    )  # fmt: skip
    return (
        _turned([(radius, 0.1), (flare, height)], label, 0.6),
        Part(inside, plain),
        Part(tube(ear, 0.6), plain),
    )


def _tin(label: Image.Image, rng: np.random.Generator) -> Model:
    radius, height = float(rng.uniform(3, 6)), float(rng.uniform(4, 16))
    wide, top = radius * 1.04, height + 0.5
    rim = [(radius, height), (wide, height + 0.1), (wide, top), (radius * 0.95, top)]
    rim += [(radius * 0.93, height + 0.2), (0.01, height + 0.2)]
    lid = brass("#cfcfca") if rng.random() < 0.5 else paint(colour(rng), gloss=0.5)
    return (
        _turned([(radius, 0.0), (radius, height)], label, float(rng.uniform(0.1, 0.6))),
        Part(revolve(floats(rim)), lid),
    )


def _carton(label: Image.Image, rng: np.random.Generator) -> Model:
    height = 18.0
    width = height * label.width / label.height
    body = block(width, width * float(rng.uniform(0.3, 0.9)), height, bevel=0.3)
    texture = Texture.from_picture(label)
    return (Part(body.moved(move(z=height / 2)), Material(texture, float(rng.uniform(0, 0.4)))),)


def _book(label: Image.Image, rng: np.random.Generator) -> Model:
    height, thick = 20.0, float(rng.uniform(1.5, 5))
    width = height * label.width / label.height
    board = paint(colour(rng), gloss=0.2)
    cover = sheet(width, height).moved(move(y=-thick / 2 - 0.22) @ turn("x", 90))
    parts = (
        Part(block(width, 0.35, height).moved(move(y=-thick / 2)), board),
        Part(block(width, 0.35, height).moved(move(y=thick / 2)), board),
        Part(block(0.4, thick, height).moved(move(-width / 2)), board),
        Part(cover, Material(Texture.from_picture(label), float(rng.uniform(0.05, 0.4)))),
        Part(block(width - 0.6, thick - 0.4, height - 0.7), paint("#efe8d8", gloss=0.05)),
    )
    return moved(parts, move(z=height / 2))


def _picture(label: Image.Image, rng: np.random.Generator) -> Model:
    height = 24.0
    width = height * label.width / label.height
    return framed(Texture.from_picture(label), width, height, colour(rng), colour(rng))


def _ball(label: Image.Image, rng: np.random.Generator) -> Model:
    squash = float(rng.uniform(0.7, 1.3))
    texture = _wrapped(label, 2 * np.pi * 6, np.pi * 6 * squash)
    body = ball(6, squash=squash).moved(move(z=6 * squash))
    return (Part(body, Material(texture, float(rng.uniform(0.1, 0.7)))),)


_BODIES: tuple[Callable[[Image.Image, np.random.Generator], Model], ...] = (
    _vase, _mug, _tin, _carton, _book, _picture, _ball,
)  # fmt: skip
