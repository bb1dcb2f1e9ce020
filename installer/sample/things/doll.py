"""The nesting doll: turned wood, painted."""

from functools import cache

import numpy as np

from installer.sample.brush import Canvas
from installer.sample.model import Material, Model, Part
from installer.sample.shapes import revolve, smooth

_SHAWL, _SKIN, _INK = "#c8342e", "#f5d2ae", "#3a2420"


def _apron(canvas: Canvas) -> None:
    """A cream apron with a bunch of flowers."""
    canvas.blob(
        [(512, 470), (640, 540), (676, 720), (620, 890), (512, 920), (404, 890), (348, 720),
         (384, 540)],
        "#fbeed2",
    )  # fmt: skip
    for x, y, angle in (
        (512, 800, 90), (470, 830, 140), (556, 830, 40), (440, 720, 165), (586, 720, 15),
        (512, 860, 270), (450, 790, 200), (574, 790, -20), (480, 640, 115), (545, 640, 65),
    ):  # fmt: skip
        canvas.leaf(x, y, 84, angle, "#2f7d54", slim=0.42)
    canvas.flower(512, 710, 84, 8, "#e0483c", "#f4c430")
    canvas.flower(432, 640, 50, 6, "#3c6fc0", "#f4c430")
    canvas.flower(594, 640, 50, 6, "#3c6fc0", "#f4c430")
    canvas.flower(452, 806, 44, 6, "#f0a12c", "#7a2c20")
    canvas.flower(574, 806, 44, 6, "#f0a12c", "#7a2c20")
    for x, y in ((512, 586), (400, 740), (624, 740), (512, 880)):
        canvas.dot(x, y, 13, "#e0483c")


def _face(canvas: Canvas) -> None:
    canvas.oval(512, 245, (116, 108), "#f4c430")
    canvas.oval(512, 250, (100, 94), _INK)
    canvas.oval(512, 262, (92, 84), _SKIN)
    canvas.blob([(418, 250), (446, 190), (512, 172), (512, 204), (460, 226)], "#5a3220")
    canvas.blob([(606, 250), (578, 190), (512, 172), (512, 204), (564, 226)], "#5a3220")
    for side in (-1, 1):
        x = 512 + side * 36
        canvas.oval(x, 256, (14, 12), "#fffdf6")
        canvas.dot(x, 257, 9, "#2f5d8a")
        canvas.dot(x, 257, 4, _INK)
        canvas.stroke([(x - 17, 244), (x, 237), (x + 17, 244)], 5, _INK)
        canvas.stroke([(x - 20, 225), (x, 216), (x + 20, 224)], 4, "#5a3220")
        canvas.dot(512 + side * 56, 288, 17, "#ee9c86")
    canvas.stroke([(506, 272), (512, 280), (519, 276)], 3, "#c98e6c")
    canvas.blob([(490, 304), (512, 299), (534, 304), (512, 319)], "#c8342e")


@cache
def doll() -> Model:
    """15 cm high."""
    canvas = Canvas(1024, 1024, _SHAWL)
    canvas.box(0, 930, 1024, 94, "#26314f")
    for index in range(16):
        canvas.dot(index * 64 + 32, 962, 15, "#f4c430")
        canvas.leaf(index * 64, 1010, 46, 60, "#3f9a6a", slim=0.5)
    rng = np.random.default_rng(8)
    for row in range(6):
        for column in range(10):
            x = (column + 0.5 * (row % 2)) * 102.4
            if abs(x - 512) > 180 or row < 1:
                y = 70 + row * 150 + rng.uniform(-10, 10)
                canvas.flower(x, y, 34, 5, "#f4c430", "#26314f")
                canvas.leaf(x + 20, y + 18, 36, -30, "#1f7f5c", slim=0.5)
    canvas.box(0, 404, 1024, 20, "#f4c430")
    _face(canvas)
    canvas.blob([(512, 392), (600, 360), (622, 420), (560, 452), (512, 424), (464, 452),
                 (402, 420), (424, 360)], "#f4c430")  # fmt: skip
    canvas.dot(512, 404, 20, "#e08a1e")
    _apron(canvas)
    profile = smooth(
        [(3.0, 0.0), (4.0, 0.6), (4.7, 3.2), (4.7, 6.2), (3.9, 8.8), (3.2, 10.2), (3.35, 11.8),
         (3.0, 13.6), (1.8, 14.8), (0.01, 15.2)],
        steps=6,
    )  # fmt: skip
    base = revolve([(0.01, 0.02), (3.0, 0.0)])
    lacquer = Material(canvas.texture(), 0.62)
    return (Part(revolve(profile, around=52), lacquer), Part(base, lacquer))
