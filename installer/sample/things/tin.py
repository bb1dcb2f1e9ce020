"""The tea tin with mountains round it."""

from functools import cache

import numpy as np

from installer.sample.brush import Canvas
from installer.sample.model import Material, Model, Part
from installer.sample.patterns import brass
from installer.sample.shapes import revolve

_NIGHT, _GOLD = "#17384f", "#e9c46a"


def _ridge(canvas: Canvas, base: float, height: float, peaks: int, colour: str) -> None:
    rng = np.random.default_rng(peaks)
    width = 1024 / peaks
    for index in range(-1, peaks + 1):
        middle = (index + 0.5) * width
        tall = height * float(rng.uniform(0.75, 1.0)) if 0 <= index < peaks else height * 0.8
        canvas.shape(
            [(middle - width * 0.8, base), (middle, base - tall), (middle + width * 0.8, base)],
            colour,
        )
        if peaks == 4:
            canvas.shape(
                [
                    (middle - width * 0.17, base - tall * 0.79),
                    (middle, base - tall),
                    (middle + width * 0.17, base - tall * 0.79),
                    (middle + width * 0.05, base - tall * 0.86),
                    (middle - width * 0.05, base - tall * 0.76),
                ],
                "#fdf3df",
            )


def _label() -> Canvas:
    canvas = Canvas(1024, 512, "#f7e3c0")
    for sun in (256, 768):
        canvas.dot(sun, 210, 104, "#f2b35f")
        canvas.dot(sun, 210, 82, "#e76f41")
        for bird in (-150, 130):
            x, y = sun + bird, 110
            canvas.stroke([(x - 24, y - 10), (x - 10, y - 14), (x, y)], 5, _NIGHT)
            canvas.stroke([(x, y), (x + 10, y - 14), (x + 24, y - 10)], 5, _NIGHT)
    _ridge(canvas, 420, 250, 4, "#3d8d8f")
    _ridge(canvas, 430, 130, 7, "#256276")
    canvas.box(0, 392, 1024, 120, _NIGHT)
    for index in range(32):
        canvas.leaf(index * 32 + 8, 452, 46, 65, "#6fb98f", slim=0.5)
    canvas.box(0, 462, 1024, 8, _GOLD)
    canvas.box(0, 0, 1024, 52, _NIGHT)
    for index in range(32):
        canvas.shape([(index * 32, 52), (index * 32 + 16, 14), (index * 32 + 32, 52)], _GOLD)
        canvas.dot(index * 32 + 16, 42, 5, "#e76f41")
    return canvas


@cache
def tin() -> Model:
    """9 cm wide, 13 cm high."""
    wall = revolve([(4.5, 0.5), (4.5, 10.4)], around=52)
    foot = revolve([(0.01, 0.1), (4.2, 0.0), (4.62, 0.1), (4.62, 0.5), (4.5, 0.55)], around=52)
    shoulder = revolve(
        [(4.5, 10.4), (4.64, 10.5), (4.64, 11.0), (4.4, 11.2), (3.7, 11.5), (3.7, 13.0),
         (3.5, 13.25), (0.01, 13.3)],
        around=52,
    )  # fmt: skip
    gold = brass("#e0b45c", gloss=0.7)
    return (Part(wall, Material(_label().texture(), 0.5)), Part(foot, gold), Part(shoulder, gold))
