"""The ukulele."""

from functools import cache

import numpy as np

from installer.sample.brush import Canvas
from installer.sample.mesh import FloatArray, floats, move, turn
from installer.sample.model import Material, Model, Part, moved
from installer.sample.patterns import brass, paint, wood
from installer.sample.shapes import block, slab, smooth, tube
from installer.sample.texture import Texture


def _outline() -> FloatArray:
    """The body seen from above (n, 2): wide below, a waist, narrower above."""
    half = [
        (0.0, -13.0), (4.6, -12.4), (8.2, -9.8), (9.0, -6.0), (7.6, -2.4), (6.2, 0.6),
        (6.0, 3.4), (6.9, 6.6), (6.4, 9.6), (4.0, 11.8), (0.0, 12.4),
    ]  # fmt: skip
    right = smooth(half, steps=6)
    left = right[::-1] * floats([-1, 1])
    return np.concatenate([right[:-1], left[:-1]])


def _top() -> Texture:
    """Honey wood, a dark rosette round the sound hole, a bridge."""
    canvas = Canvas(720, 1024, "#000000")
    grain = wood("#e9b566", "#b3722f", seed=12).colour
    assert isinstance(grain, Texture)
    canvas.ring(360, 390, 150, 300, "#ffffff")
    hole = Canvas(720, 1024, "#ffffff")
    for radius, width in ((128, 10), (144, 4), (112, 5)):
        hole.ring(360, 390, radius, width, "#3a1f10")
    for index in range(24):
        angle = np.radians(index * 15)
        hole.dot(360 + 144 * np.cos(angle), 390 + 144 * np.sin(angle), 8, "#3a8f86")
    hole.dot(360, 390, 98, "#0c0705")
    hole.box(250, 742, 220, 44, "#3a1f10")
    drawn = np.asarray(hole.picture(), dtype=np.float32) / 255
    rows = np.linspace(0, 511, 1024).astype(int)
    columns = np.linspace(0, 255, 720).astype(int)
    board = grain.levels[0].transpose(1, 0, 2)[rows][:, columns]  # grain along the strings
    ink = 1 - drawn.min(axis=2, keepdims=True)
    return Texture.of(board * (1 - ink) + drawn**2.2 * ink)


@cache
def ukulele() -> Model:
    """Lying on its back, 54 cm long along y, the head towards +y; strings up."""
    timber = wood("#c98a45", "#7c4720", seed=9, gloss=0.5)
    dark = wood("#6b3d22", "#3a1f10", seed=5, gloss=0.4)
    outline = _outline()
    body = slab(outline, 5.6, bevel=0.35)
    top = slab(outline * floats(0.965), 0.05).moved(move(z=5.6))
    neck = block(3.6, 20, 2.0, bevel=0.5).moved(move(0, 21, 4.7))
    fingers = block(3.7, 23, 0.45, bevel=0.1).moved(move(0, 19.2, 5.95))
    frets = [
        Part(block(3.7, 0.16, 0.12).moved(move(0, 29 - index * 2.0 + index**2 * 0.04, 6.22)),
             brass("#e6dcc0"))
        for index in range(10)
    ]  # fmt: skip
    head = slab(
        smooth([(-2.0, 0), (2.0, 0), (3.0, 4), (3.1, 8.6), (0, 10), (-3.1, 8.6), (-3.0, 4)],
               steps=3), 1.4, bevel=0.15,
    ).moved(move(0, 30.6, 4.6) @ turn("x", -8))  # fmt: skip
    strings = [
        Part(tube([(x, -7.4, 6.45), (x, 31, 6.5)], 0.06, around=5), paint("#f6f1e2", gloss=0.4))
        for x in (-1.2, -0.4, 0.4, 1.2)
    ]
    pegs = [
        Part(tube([(side * 2.4, y, 5.0), (side * 4.4, y, 5.0)], floats([0.3, 0.75])),
             paint("#f2e8d0", gloss=0.5))
        for side in (-1, 1) for y in (33.6, 36.6)
    ]  # fmt: skip
    bridge = block(6.4, 1.1, 0.7, bevel=0.15).moved(move(0, -7.4, 6.0))
    return (
        Part(body, timber),
        Part(top, Material(_top(), 0.5)),
        Part(neck, timber),
        Part(fingers, dark),
        Part(head, dark),
        Part(bridge, dark),
        *frets,
        *strings,
        *pegs,
    )


def hung_ukulele() -> Model:
    """Upright with its back at y = 0, the lowest point at z = 0."""
    return moved(ukulele(), move(z=13), turn("x", 90))
