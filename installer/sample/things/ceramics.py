"""The painted mug and the daisy teapot."""

from functools import cache

import numpy as np

from installer.sample.brush import Canvas
from installer.sample.mesh import move
from installer.sample.model import Material, Model, Part
from installer.sample.patterns import paint
from installer.sample.shapes import ball, revolve, smooth, tube

_CREAM, _COBALT, _BERRY = "#f6ecd8", "#23439a", "#e2703a"


def _mug_painting() -> Canvas:
    """A garland of blue leaves and orange berries between two blue bands."""
    canvas = Canvas(1024, 384, _CREAM)
    canvas.box(0, 18, 1024, 22, _COBALT)
    canvas.box(0, 48, 1024, 6, _COBALT)
    canvas.box(0, 336, 1024, 20, _COBALT)
    for repeat in range(4):
        x = repeat * 256
        canvas.stroke(
            [(x - 4, 196), (x + 64, 158), (x + 128, 196), (x + 192, 234), (x + 260, 196)],
            7,
            _COBALT,
        )
        for dx, dy, angle in ((30, 172, 62), (96, 172, 98), (160, 222, 250), (222, 222, 285)):
            canvas.leaf(x + dx, dy, 92, angle, _COBALT, slim=0.46)
            canvas.leaf(x + dx, dy, 70, angle, "#5b7ccb", slim=0.1)
        for dx, dy, angle in ((70, 164, 250), (196, 232, 70)):
            canvas.leaf(x + dx, dy, 74, angle, "#7fa0dd", slim=0.5)
        for dx, dy in ((126, 132), (148, 112), (106, 108), (6, 262), (-14, 286), (28, 286)):
            canvas.dot((x + dx) % 1024, dy, 14, _BERRY)
            canvas.dot((x + dx - 4) % 1024, dy - 4, 4, "#f6b48a")
    return canvas


@cache
def mug() -> Model:
    """8 cm wide, 9.5 cm high, the handle to the right."""
    outside = revolve(smooth([(3.9, 0.5), (4.1, 2.5), (4.15, 6), (4.1, 9.5)], steps=4), around=48)
    foot = revolve([(0.01, 0.15), (3.2, 0.15), (3.3, 0.0), (3.6, 0.1), (3.9, 0.5)])
    inside = revolve(
        [(4.1, 9.5), (4.02, 9.65), (3.85, 9.65), (3.75, 9.4), (3.7, 2), (3.2, 1), (0.01, 0.9)]
    )
    ear = smooth(
        [(3.9, 0, 7.9), (5.4, 0, 8.3), (6.9, 0, 7.1), (6.9, 0, 4.6), (5.6, 0, 2.8), (3.9, 0, 2.4)],
        steps=6,
    )
    glaze = Material(_mug_painting().texture(), 0.72)
    coffee = revolve([(3.72, 7.6), (0.01, 7.6)])
    return (
        Part(outside, glaze),
        Part(foot, paint(_CREAM, gloss=0.6)),
        Part(inside, paint(_CREAM, gloss=0.6)),
        Part(tube(ear, 0.62), paint(_COBALT, gloss=0.72)),
        Part(coffee, paint("#3a2012", gloss=0.5), casts=False),
    )


_MUSTARD, _PETAL = "#e3a62b", "#fdf7e8"


def _teapot_painting() -> Canvas:
    """White daisies with brown hearts scattered on mustard."""
    canvas = Canvas(1024, 512, _MUSTARD)
    canvas.box(0, 470, 1024, 14, "#fdf7e8")
    canvas.box(0, 26, 1024, 10, "#fdf7e8")
    rng = np.random.default_rng(4)
    for row in range(4):
        for column in range(8):
            x = (column + 0.5 * (row % 2)) * 128 + rng.uniform(-14, 14)
            y = 96 + row * 108 + rng.uniform(-12, 12)
            size = 44 + rng.uniform(-7, 7)
            for shift in (-1024, 0, 1024):
                canvas.flower(x + shift, y, size, 9, _PETAL, "#7a3b1c")
            canvas.dot((x + 62) % 1024, y + 40, 7, "#fdf7e8")
    return canvas


@cache
def teapot() -> Model:
    """20 cm from handle to spout, 15 cm high, the spout to the right."""
    body = revolve(
        smooth([(3.9, 0.4), (6.2, 2.2), (7.1, 5.0), (6.5, 8.0), (4.6, 10.2), (3.5, 10.8)], steps=6),
        around=52,
    )
    foot = revolve([(0.01, 0.1), (3.6, 0.0), (3.9, 0.4)])
    lid = revolve(
        smooth([(3.7, 10.7), (3.5, 11.2), (2.6, 11.9), (1.2, 12.4), (0.6, 12.5)], steps=5)
    )
    knob = ball(1.15, squash=0.9).moved(move(z=13.3))
    spout = smooth(
        [(5.6, 0, 3.4), (8.0, 0, 4.4), (9.2, 0, 6.8), (10.2, 0, 9.2), (11.6, 0, 10.4)], steps=6
    )
    width = np.linspace(1, 0, len(spout)) ** 1.3 * 1.25 + 0.75
    handle = smooth(
        [(-5.4, 0, 8.9), (-8.0, 0, 10.0), (-10.2, 0, 8.3), (-9.6, 0, 5.0), (-6.6, 0, 3.0)],
        steps=6,
    )
    plain = paint(_MUSTARD, gloss=0.7)
    glaze = Material(_teapot_painting().texture(), 0.7)
    return (
        Part(body, glaze),
        Part(foot, plain),
        Part(lid, glaze),
        Part(knob, paint("#8a4a22", gloss=0.6)),
        Part(tube(spout, width.astype(np.float32), around=16), plain),
        Part(tube(handle, 0.72), paint("#8a4a22", gloss=0.6)),
    )


@cache
def plain_mug(colour: str, inside: str) -> Model:
    """A mug of one colour: what the painted one must be told from."""
    outside = revolve(smooth([(3.2, 0.2), (3.9, 1.6), (4.2, 5), (4.3, 8.6)], steps=4), around=40)
    well = revolve([(4.3, 8.6), (4.2, 8.75), (4.05, 8.6), (3.8, 3), (3.0, 1.2), (0.01, 1.0)])
    ear = smooth([(4.0, 0, 7.2), (6.2, 0, 7.0), (6.5, 0, 4.2), (3.8, 0, 2.6)], steps=6)
    glaze = paint(colour, gloss=0.6)
    return (
        Part(outside, glaze),
        Part(well, paint(inside, gloss=0.5)),
        Part(tube(ear, 0.55), glaze),
    )
