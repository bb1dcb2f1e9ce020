"""The whale book and the framed print."""

from functools import cache

import numpy as np

from installer.sample.brush import Canvas
from installer.sample.mesh import Matrix, floats, move, turn
from installer.sample.model import Material, Model, Part, moved
from installer.sample.patterns import paint, wood
from installer.sample.shapes import block, sheet
from installer.sample.texture import Texture

_SEA, _MOON, _DEEP = "#1d5c7a", "#f6dd9a", "#12334f"


def _cover() -> Canvas:
    """A whale under the moon, in a frame of stars."""
    canvas = Canvas(720, 1024, _DEEP)
    rng = np.random.default_rng(6)
    for _ in range(46):
        x, y = rng.uniform(60, 660), rng.uniform(60, 520)
        canvas.dot(x, y, rng.uniform(2.5, 6), "#fbf3d9")
    canvas.dot(470, 270, 150, _MOON)
    canvas.dot(430, 240, 26, "#ecca7c")
    canvas.dot(530, 320, 36, "#ecca7c")
    canvas.dot(500, 200, 16, "#ecca7c")
    for layer, colour in enumerate((_SEA, "#2a7f96", "#4da9ad", "#8fd0c4")):
        base = 640 + layer * 92
        crest = [(x, base + (26 if x // 60 % 2 else -8)) for x in range(-60, 840, 60)]
        outline = [*crest, (800, 1100), (-60, 1100)]
        canvas.shape(outline, colour)
        for x in range(-30, 780, 120):
            canvas.dot(x, base + 14, 34, colour)
    canvas.blob(
        [(90, 640), (110, 540), (220, 450), (380, 430), (500, 480), (570, 570), (640, 560),
         (690, 500), (680, 600), (600, 660), (460, 700), (250, 716)],
        "#eef3ee",
    )  # fmt: skip
    canvas.blob([(110, 640), (240, 660), (420, 650), (560, 640), (440, 700), (250, 716)], "#b9d4d6")
    for x in (150, 200, 250, 300):
        canvas.stroke([(x, 672), (x + 50, 700)], 5, "#7fa6b0")
    canvas.dot(196, 586, 14, _DEEP)
    canvas.leaf(330, 640, 130, -62, "#cfe0df", slim=0.5)
    for side in (-1, 1):
        canvas.stroke(
            [(290, 430), (290 + side * 10, 370), (290 + side * 60, 340), (290 + side * 90, 376)],
            12, "#8fd0c4",
        )  # fmt: skip
    for edge in (24, 40):
        _border(canvas, edge, 6, "#e8b64c")
    return canvas


def _border(canvas: Canvas, edge: float, width: float, colour: str) -> None:
    across, down = canvas.width - 2 * edge, canvas.height - 2 * edge
    canvas.box(edge, edge, across, width, colour)
    canvas.box(edge, edge + down - width, across, width, colour)
    canvas.box(edge, edge, width, down, colour)
    canvas.box(edge + across - width, edge, width, down, colour)


def _spine() -> Canvas:
    canvas = Canvas(128, 1024, _DEEP)
    for y in (60, 84, 920, 944):
        canvas.box(0, y, 128, 10, "#e8b64c")
    canvas.dot(64, 220, 40, _MOON)
    for y in (420, 500, 580, 660):
        canvas.stroke([(20, y), (44, y - 20), (64, y), (84, y + 20), (108, y)], 12, "#4da9ad")
    return canvas


def _pages() -> Texture:
    rng = np.random.default_rng(2)
    lines = 0.80 + 0.12 * rng.standard_normal((64, 1)).astype(np.float32)
    tint = floats([0.86, 0.80, 0.68])
    return Texture.of(np.clip(np.broadcast_to(lines, (64, 64)), 0, 1)[..., None] * tint)


@cache
def book() -> Model:
    """Upright, 15 × 21 cm and 3 cm thick, its front towards -y."""
    board = paint(_DEEP, gloss=0.2)
    front = sheet(14.86, 20.86).moved(_upright(-1.54))
    cover = block(15, 0.35, 21, bevel=0.06)
    return (
        Part(cover.moved(move(0, -1.33, 10.5)), board),
        Part(cover.moved(move(0, 1.33, 10.5)), board),
        Part(block(0.4, 3.0, 21, bevel=0.18).moved(move(-7.4, 0, 10.5)), board),
        Part(front.moved(move(z=10.5)), Material(_cover().texture(), 0.3)),
        Part(sheet(2.5, 20.9).moved(_side(-7.62)), Material(_spine().texture(), 0.3)),
        Part(block(14.4, 2.3, 20.3).moved(move(0.1, 0, 10.5)), Material(_pages(), 0.05)),
    )


def _upright(y: float) -> Matrix:
    """Stands a sheet up at ``y``, facing the front."""
    return np.asarray(move(y=y) @ turn("x", 90))


def _side(x: float) -> Matrix:
    """Stands a sheet up at ``x``, facing left."""
    return np.asarray(move(x=x, z=10.5) @ turn("z", -90) @ turn("x", 90))


def _cut_outs() -> Canvas:
    """Leaves, a sun and a bowl of shapes cut from coloured paper."""
    canvas = Canvas(768, 1024, "#f7efe0")
    canvas.blob([(60, 90), (300, 60), (340, 330), (210, 470), (70, 400)], "#e8694a")
    canvas.blob([(420, 70), (690, 60), (716, 300), (560, 380), (400, 280)], "#f2b632")
    canvas.blob([(70, 560), (260, 520), (330, 700), (250, 960), (80, 950)], "#2f6db3")
    canvas.blob([(420, 470), (700, 420), (716, 700), (520, 730)], "#f3a7b0")
    canvas.blob([(380, 800), (560, 770), (710, 800), (690, 970), (420, 966)], "#2f8f6b")
    _frond(canvas, 200, 440, "#fbf6ea", 330)
    _frond(canvas, 560, 720, "#233a6c", 290)
    _frond(canvas, 170, 930, "#f7d774", 330)
    canvas.dot(556, 210, 86, "#e8694a")
    for index in range(12):
        angle = np.radians(index * 30)
        canvas.stroke(
            [
                (556 + 104 * np.cos(angle), 210 + 104 * np.sin(angle)),
                (556 + 138 * np.cos(angle), 210 + 138 * np.sin(angle)),
            ],
            14,
            "#fbf6ea",
        )
    for x, y in ((470, 860), (560, 900), (640, 850), (545, 830)):
        canvas.dot(x, y, 24, "#f2b632")
    return canvas


def _frond(canvas: Canvas, x: float, y: float, colour: str, height: float) -> None:
    canvas.stroke([(x, y), (x + 6, y - height * 0.5), (x, y - height * 0.8)], 16, colour)
    for step in range(5):
        at = y - height * (0.16 + 0.16 * step)
        reach = height * (0.42 - 0.045 * step)
        canvas.leaf(x, at, reach, 35, colour, slim=0.38)
        canvas.leaf(x, at, reach, 145, colour, slim=0.38)
    canvas.leaf(x, y - height * 0.76, height * 0.26, 90, colour, slim=0.5)


@cache
def framed(picture: Texture, width: float, height: float, light: str, dark: str) -> Model:
    """A picture behind a frame, standing upright with its back at y = 0."""
    rail, deep = 1.6, 1.8
    side = block(rail, deep, height, bevel=0.15)
    across = block(width - 2 * rail, deep, rail, bevel=0.15)
    timber = wood(light, dark, seed=4)
    offset = (width - rail) / 2
    inner = sheet(width - 2 * rail, height - 2 * rail).moved(_upright(-0.4))
    mat = 0.13
    return moved(
        (
            Part(side.moved(move(-offset)), timber),
            Part(side.moved(move(offset)), timber),
            Part(across.moved(move(z=(height - rail) / 2)), timber),
            Part(across.moved(move(z=-(height - rail) / 2)), timber),
            Part(inner, paint("#fbf8f0", gloss=0.1)),
            Part(
                sheet(width * (1 - 2 * mat), height - width * 2 * mat).moved(_upright(-0.45)),
                Material(picture, 0.12),
            ),
        ),
        move(0, -deep / 2, height / 2),
    )


@cache
def cutout_print() -> Model:
    """30 × 40 cm in an oak frame."""
    return framed(_cut_outs().texture(), 30, 40, "#d8ac74", "#9a6b3c")
