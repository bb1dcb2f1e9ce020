"""The wooden bus and the globe."""

from functools import cache

import numpy as np

from installer.sample.brush import Canvas
from installer.sample.mesh import floats, move, turn
from installer.sample.model import Material, Model, Part, moved
from installer.sample.patterns import brass, clouds, mixed, paint, wood
from installer.sample.shapes import ball, block, disc, revolve, smooth, tube
from installer.sample.texture import Texture, rgb

_GREEN, _CREAM, _GLASS = "#2f8a5b", "#f7ebcf", "#27384a"


def _bus_side(canvas: Canvas, x: float) -> None:
    canvas.box(x, 0, 400, 400, _CREAM)
    canvas.box(x, 196, 400, 204, _GREEN)
    canvas.box(x, 188, 400, 12, "#e4572e")
    for window in range(5):
        canvas.box(x + 24 + window * 72, 70, 60, 96, _GLASS)
        canvas.shape(
            [
                (x + 34 + window * 72, 150), (x + 52 + window * 72, 78),
                (x + 64 + window * 72, 78), (x + 46 + window * 72, 150),
            ],
            "#5d7d92",
        )  # fmt: skip
    canvas.dot(x + 200, 282, 42, _CREAM)
    canvas.flower(x + 200, 282, 38, 8, "#f2b632", "#e4572e")


def _bus_end(canvas: Canvas, x: float, *, front: bool) -> None:
    canvas.box(x, 0, 400, 400, _CREAM)
    canvas.box(x, 196, 400, 204, _GREEN)
    canvas.box(x, 188, 400, 12, "#e4572e")
    canvas.box(x + 50, 60, 300, 112, _GLASS)
    canvas.box(x + 194, 60, 12, 112, _CREAM)
    for side in (80, 320):
        canvas.dot(x + side, 276, 40, _CREAM)
        canvas.dot(x + side, 276, 28, "#fff3c4" if front else "#e4572e")
    if front:
        for y in (262, 284, 306):
            canvas.box(x + 140, y, 120, 10, _CREAM)


@cache
def bus() -> Model:
    """17 cm long, 10 cm high; drives to the left, its side towards -y."""
    canvas = Canvas(2400, 400, _CREAM)
    _bus_side(canvas, 0)
    _bus_end(canvas, 400, front=False)
    _bus_side(canvas, 800)
    _bus_end(canvas, 1200, front=True)
    canvas.box(1600, 0, 400, 400, _CREAM)
    canvas.box(2000, 0, 400, 400, _GREEN)
    body = block(17, 7, 7.6, bevel=1.1, atlas=True).moved(move(z=5.4))
    tyre = revolve([(0.01, -0.6), (1.7, -0.6), (1.9, -0.4), (1.9, 0.4), (1.7, 0.6), (0.01, 0.6)])
    rubber = paint("#2d2a2c", gloss=0.2)
    hub = wood("#e6bf8a", "#b98550", seed=3)
    wheels: list[Part] = []
    for x in (-5, 5):
        for side in (-1, 1):
            place = move(x, side * 3.5, 1.9) @ turn("x", 90 if side < 0 else -90)
            wheels.append(Part(tyre.moved(place), rubber))
            wheels.append(Part(disc(1.05).moved(place @ move(z=0.63)), hub))
    rails = [Part(tube([(-6, y, 9.9), (6, y, 9.9)], 0.16), brass()) for y in (-2.4, -0.8, 0.8, 2.4)]
    trunk = block(4.2, 3.2, 1.9, bevel=0.25)
    return (
        Part(body, Material(canvas.texture(), 0.45)),
        *wheels,
        *rails,
        Part(trunk.moved(move(-2.5, 0, 11.0)), paint("#a5562f", gloss=0.3)),
        Part(trunk.moved(move(2.6, 0.2, 10.9) @ turn("z", 12)), paint("#e3b341", gloss=0.3)),
        Part(block(0.7, 6.6, 0.8, bevel=0.2).moved(move(-8.5, 0, 2.3)), brass()),
        Part(block(0.7, 6.6, 0.8, bevel=0.2).moved(move(8.5, 0, 2.3)), brass()),
    )


def _continents() -> Texture:
    """A world that never was: ochre and green lands, a pale shelf round them, meridians."""
    shape = (512, 1024)
    height = clouds(shape, (3, 5), seed=21, octaves=5)
    latitude = np.linspace(-1, 1, shape[0], dtype=np.float32)[:, None]
    poles = 3.6 * np.clip(np.abs(latitude) - 0.86, 0, 1)
    height = floats(height * (1 - latitude**4) + poles)
    picture = mixed("#1f7f95", "#1b6f88", 0.5 + clouds(shape, (12, 24), seed=33))
    land = mixed("#e2b65a", "#6ea25a", 0.5 + 1.6 * clouds(shape, (5, 9), seed=41))
    for level, colour in ((0.05, floats(rgb("#6cc0bd"))), (0.12, land)):
        share = np.clip((height - level) * 60 + 0.5, 0, 1)[..., None]
        picture = picture + (colour - picture) * share
    peaks = np.clip((height - 0.42) * 30, 0, 1)[..., None]
    picture += (floats(rgb("#b5713a")) - picture) * peaks
    ice = np.clip((np.abs(latitude) - 0.9) * 60, 0, 1)[..., None]
    picture += (floats(rgb("#f6f1e4")) - picture) * ice
    lines = np.zeros(shape, dtype=np.float32)
    lines[:, ::85] = lines[:, 1::85] = 1
    lines[64::64] = 1
    picture += (floats(rgb("#f3e6c2")) - picture) * (lines * 0.4)[..., None]
    return Texture.of(picture)


@cache
def globe() -> Model:
    """28 cm high on a turned foot."""
    timber = wood("#9a5a32", "#5a2f18", seed=6, gloss=0.5)
    foot = revolve(
        smooth(
            [(6.2, 0), (6.4, 0.7), (5.4, 1.5), (2.2, 2.2), (1.2, 3.2), (1.5, 4.4), (0.9, 5.2)],
            steps=4,
        ),
        around=44,
    )
    angle = np.radians(np.linspace(-90, 90, 33))
    arc = np.stack([10.3 * np.cos(angle), np.zeros(33), 10.3 * np.sin(angle)], axis=1)
    world = (
        Part(ball(9.2, around=60), Material(_continents(), 0.5)),
        Part(tube(arc.astype(np.float32), 0.38), brass()),
        Part(tube([(0, 0, -10.6), (0, 0, 10.6)], 0.28), brass()),
        Part(ball(0.6, around=14).moved(move(z=10.7)), brass()),
    )
    return (
        Part(foot, timber),
        Part(tube([(0, 0, 5), (1.6, 0, 6.2), (3.4, 0, 7.2)], 0.5), brass()),
        *moved(world, move(z=16.6), turn("y", 23)),
    )
