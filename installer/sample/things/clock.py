"""The twin-bell alarm clock."""

from functools import cache

import numpy as np

from installer.sample.brush import Canvas
from installer.sample.mesh import Mesh, floats, move, turn
from installer.sample.model import Material, Model, Part, moved
from installer.sample.patterns import brass, paint
from installer.sample.shapes import ball, disc, revolve, smooth, tube

_MINT, _INK = "#58b79d", "#2b2a33"


def _dial() -> Canvas:
    """Sixty minutes, twelve hours, ten past ten; a coral second hand."""
    canvas = Canvas(512, 512, "#fbf4e2")
    canvas.ring(256, 256, 244, 8, "#e8d9b4")
    for minute in range(60):
        angle = np.radians(minute * 6)
        sin, cos = np.sin(angle), np.cos(angle)
        inner, width = (188, 15) if minute % 5 == 0 else (214, 5)
        canvas.stroke(
            [(256 + sin * inner, 256 - cos * inner), (256 + sin * 226, 256 - cos * 226)],
            width,
            _INK,
        )
    canvas.flower(256, 338, 40, 6, "#f0b7a0", "#e2603f")
    for angle_deg, length, width, colour in (
        (305, 118, 20, _INK),
        (58, 172, 14, _INK),
        (200, 186, 6, "#e2603f"),
    ):
        angle = np.radians(angle_deg)
        canvas.stroke(
            [
                (256 - np.sin(angle) * 30, 256 + np.cos(angle) * 30),
                (256 + np.sin(angle) * length, 256 - np.cos(angle) * length),
            ],
            width,
            colour,
            taper=0.45,
        )
    canvas.dot(256, 256, 18, "#e2603f")
    return canvas


def _to_front(mesh: Mesh) -> Mesh:
    """What points up points to the front."""
    return mesh.moved(turn("x", 90))


@cache
def clock() -> Model:
    """12 cm wide, 17 cm high."""
    enamel = paint(_MINT, gloss=0.7)
    metal = brass()
    case = _to_front(
        revolve([(0.01, -2.6), (4.6, -2.6), (5.6, -1.9), (5.8, -0.6), (5.8, 1.9)], around=48)
    )
    rim = _to_front(
        revolve(
            smooth([(5.8, 1.9), (6.15, 2.1), (6.1, 2.6), (5.6, 2.75), (5.3, 2.4)], steps=4),
            around=48,
        )
    )
    dial = _to_front(disc(5.4).moved(move(z=2.35)))
    bell = revolve(smooth([(2.5, 0), (2.45, 0.7), (1.9, 1.6), (0.9, 2.1), (0.01, 2.2)], steps=4))
    bell_back = revolve([(0.01, 0.05), (2.45, 0.05), (2.5, 0.0)])
    stem = tube([(0, 0, -2.2), (0, 0, 0.3)], 0.3)
    top = [
        moved(
            (Part(bell, enamel), Part(bell_back, metal), Part(stem, metal)),
            turn("y", side * 33),
            move(z=7.4),
        )
        for side in (-1, 1)
    ]
    arch = tube(
        smooth([(-2.4, 0, 8.4), (-1.6, 0, 10.6), (0, 0, 11.3), (1.6, 0, 10.6), (2.4, 0, 8.4)]), 0.3
    )
    hammer = tube([(0, 0, 5.8), (0, 0, 8.6)], 0.22)
    legs = [
        moved(
            (
                Part(tube([(0, 0, 5.4), (0, 0, 7.3)], floats([0.55, 0.3])), metal),
                Part(ball(0.5, around=16).moved(move(z=7.3)), metal),
            ),
            turn("y", 180 + side * 32),
        )
        for side in (-1, 1)
    ]
    whole = (
        Part(case, enamel),
        Part(rim, metal),
        Part(dial, Material(_dial().texture(), 0.3)),
        Part(arch, metal),
        Part(hammer, metal),
        Part(ball(0.65, around=18).moved(move(z=8.7)), metal),
        *(part for pair in (*top, *legs) for part in pair),
    )
    return moved(whole, move(z=6.7))
