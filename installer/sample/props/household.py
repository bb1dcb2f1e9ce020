"""Bowls, vases, books, cushions, lamps, blocks."""

from functools import cache

import numpy as np

from installer.sample.brush import Canvas
from installer.sample.mesh import FloatArray, Mesh, floats, join, move, turn
from installer.sample.model import Material, Model, Part, moved
from installer.sample.patterns import brass, cloth, clouds, mixed, paint, wood
from installer.sample.shapes import ball, block, disc, lattice, revolve, sheet, smooth, tube
from installer.sample.texture import Texture, rgb

_VASES = {
    "bottle": [(0.01, 0.1), (2.9, 0), (3.5, 1.4), (3.4, 8), (1.3, 12), (1.1, 17), (1.5, 18),
               (1.2, 18), (0.8, 16)],
    "jug": [(0.01, 0.1), (3.8, 0), (5.4, 3), (5.6, 7), (4.0, 12), (3.6, 15), (4.3, 17.4),
            (4.0, 17.4), (3.2, 15)],
    "round": [(0.01, 0.1), (2.6, 0), (5.6, 3.6), (5.4, 7.6), (2.4, 10.4), (2.0, 11.6), (2.5, 12.2),
              (2.2, 12.2), (1.6, 11)],
    "tall": [(0.01, 0.1), (4.2, 0), (4.6, 6), (3.9, 16), (4.6, 24), (5.2, 27), (4.9, 27),
             (4.0, 22)],
    "bowl": [(0.01, 0.6), (3.2, 0.2), (3.4, 0), (3.8, 0.4), (7.2, 3.2), (9.2, 7.0), (8.9, 7.1),
             (6.6, 3.4), (3.4, 1.2), (0.01, 1.0)],
    "plate": [(0.01, 0.3), (6.0, 0.0), (6.4, 0.2), (11.4, 1.7), (11.3, 1.9), (6.4, 0.7),
              (0.01, 0.6)],
    "jar": [(0.01, 0.1), (4.4, 0), (4.8, 0.5), (4.8, 11), (4.1, 12.2), (4.1, 13)],
    "candle": [(0.01, 0.0), (1.3, 0.0), (1.3, 17.6), (1.1, 18.0), (0.01, 17.7)],
}  # fmt: skip


@cache
def vessel(kind: str, colour: str, *, gloss: float = 0.5) -> Model:
    steps = 1 if kind in ("candle", "jar", "plate") else 5
    profile = _VASES[kind]
    line = smooth(profile, steps=steps) if steps > 1 else floats(profile)
    body = Part(revolve(line, around=44), paint(colour, gloss=gloss))
    if kind == "jar":
        lid = revolve([(4.9, 12.6), (4.9, 14.0), (4.7, 14.3), (0.01, 14.3)])
        return (body, Part(lid, wood("#d9ad78", "#a3713f", seed=8)))
    return (body,)


@cache
def candlestick(colour: str) -> Model:
    foot = revolve(
        smooth([(3.6, 0), (3.6, 0.5), (1.2, 1.4), (0.8, 5), (1.4, 7.2), (1.7, 8), (0.01, 8)])
    )
    return (Part(foot, brass()), *moved(vessel("candle", colour, gloss=0.3), move(z=7)))


@cache
def plain_book(
    width: float, height: float, thick: float, colour: str, stripe: str, *, seed: int = 1
) -> Model:
    """Standing, its spine towards -y: what the whale book must be told from."""
    rng = np.random.default_rng(seed)
    canvas = Canvas(64, 512, colour)
    for y in rng.choice((40, 70, 110, 400, 430, 470), 3, replace=False):
        canvas.box(0, float(y), 64, 14, stripe)
    if seed % 3 == 0:
        canvas.box(12, 170, 40, 160, stripe)
    elif seed % 3 == 1:
        canvas.dot(32, 250, 20, stripe)
    spine = sheet(thick, height).moved(move(0, -width / 2 - 0.02) @ turn("x", 90))
    case = block(thick, width, height, bevel=min(0.3, thick * 0.2))
    pages = block(thick - 0.6, width - 0.7, height + 0.02).moved(move(0, 0.4))
    return moved(
        (
            Part(case, paint(colour, gloss=0.15)),
            Part(spine, Material(canvas.texture(), 0.2)),
            Part(pages, paint("#efe6cf", gloss=0.02)),
        ),
        move(z=height / 2),
    )


_SPINES = (
    ("#b5533c", "#f2dcb0"), ("#e8dcc2", "#8a5a44"), ("#37597a", "#e8c170"), ("#6d8a72", "#f4ead2"),
    ("#d9a441", "#4a2e22"), ("#8c4a5a", "#f0d8c0"), ("#2f3d4f", "#c8d4d4"), ("#c9b8a0", "#5a6a5a"),
    ("#7a9aa8", "#f8f0e0"), ("#a8a58c", "#3a3a34"),
)  # fmt: skip


@cache
def book_row(length: float, *, seed: int = 1, tall: float = 22.0) -> Model:
    """Books side by side from x = 0 to the right, spines towards -y, the last one leaning."""
    rng = np.random.default_rng(seed)
    parts: list[Part] = []
    x = 0.0
    while x < length - 3:
        thick = float(rng.uniform(1.6, 4.0))
        height = tall * float(rng.uniform(0.72, 1.0))
        colour, stripe = _SPINES[int(rng.integers(len(_SPINES)))]
        made = plain_book(14, height, thick, colour, stripe, seed=int(rng.integers(60)))
        parts += moved(made, move(x + thick / 2, float(rng.uniform(-0.8, 0.8))))
        x += thick + 0.12
    return tuple(parts)


@cache
def book_pile(*, seed: int = 1, count: int = 3) -> Model:
    """Plain books lying one on another."""
    rng = np.random.default_rng(seed)
    parts: list[Part] = []
    z = 0.0
    for _ in range(count):
        thick = float(rng.uniform(2.0, 3.6))
        colour, stripe = _SPINES[int(rng.integers(len(_SPINES)))]
        made = plain_book(
            float(rng.uniform(14, 17)), float(rng.uniform(20, 24)), thick, colour, stripe,
            seed=int(rng.integers(60)),
        )  # fmt: skip
        middle = max(float(part.mesh.points[:, 2].max()) for part in made) / 2
        spun = turn("z", float(rng.uniform(-14, 14)))
        parts += moved(made, spun, move(z=z + thick / 2), turn("y", 90), move(z=-middle))
        z += thick
    return tuple(parts)


@cache
def cushion(colour: str, shade: str, *, size: float = 40.0, seed: int = 3) -> Model:
    """A square cushion standing upright on its edge, facing -y."""
    return (Part(_pillow(size, size, size * 0.17), cloth(colour, shade, seed=seed)),)


def _pillow(width: float, height: float, thick: float) -> Mesh:
    side = np.linspace(-1, 1, 25)
    x, z = np.meshgrid(side, side)
    full = np.clip((1 - x**4) * (1 - z**4), 0, 1) ** 0.45
    pinch = 1 - 0.07 * (1 - np.minimum(np.abs(x), np.abs(z))) ** 2 * np.maximum(
        np.abs(x), np.abs(z)
    )
    uv = np.stack([(x + 1) / 2, (z + 1) / 2], axis=2).astype(np.float32)
    halves = []
    for face in (-1, 1):
        points = np.stack(
            [x * width / 2 * pinch, face * full * thick, z * height / 2 * pinch], axis=2
        )
        made = lattice(points.astype(np.float32), uv)
        sign = np.sign((made.normals[:, 1] * face).mean())
        halves.append(Mesh(made.points, made.normals * floats(sign), made.uv, made.faces))
    return join(halves).moved(move(z=height / 2))


@cache
def pencils(cup: str, *, seed: int = 4) -> Model:
    rng = np.random.default_rng(seed)
    colours = ("#e4572e", "#f2b632", "#2f6db3", "#2f8f6b", "#7a4a8a", "#d9a07a")
    holder = revolve([(0.01, 0.2), (3.6, 0), (3.8, 0.4), (3.8, 10), (3.5, 10), (3.5, 1)])
    parts = [Part(holder, paint(cup, gloss=0.5))]
    for index, colour in enumerate(colours):
        place = move(z=0.6) @ turn("z", index * 60 + rng.uniform(-15, 15)) @ turn("x", -11)
        long = float(rng.uniform(14, 17.5))
        parts.append(
            Part(tube([(0, 0, 0), (0, 0, long)], 0.36, around=6).moved(place), paint(colour))
        )
        tip = floats([0.36, 0.04])
        parts.append(
            Part(tube([(0, 0, long), (0, 0, long + 1.4)], tip, around=6).moved(place),
                 paint("#e3c093", gloss=0.1))
        )  # fmt: skip
    return tuple(parts)


@cache
def desk_lamp(colour: str, *, lit: bool = False) -> Model:
    """40 cm high, leaning to the right."""
    enamel = paint(colour, gloss=0.6)
    foot = revolve([(0.01, 0), (7, 0), (7.2, 0.5), (7, 1.2), (1, 1.8), (0.01, 1.9)])
    arm = tube(smooth([(0, 0, 1), (-2, 0, 14), (0, 0, 28), (7, 0, 35), (13, 0, 36)]), 0.55)
    shade = revolve([(6.8, -7.4), (6.9, -7.2), (3.2, 0), (1.6, 1.6), (0.01, 1.8)])
    bulb = Material(rgb("#ffe2a8"), 0, glow=2.4 if lit else 0.0)
    lamp = (Part(shade, enamel), Part(disc(6.4).moved(move(z=-7.0) @ turn("x", 180)), bulb))
    return (
        Part(foot, enamel),
        Part(arm, brass()),
        *moved(lamp, move(15, 0, 35), turn("y", -24)),
    )


@cache
def shade_lamp(foot: str, shade: str, *, lit: bool = True) -> Model:
    """A bedside lamp, 38 cm high; its cloth shade glows."""
    body = revolve(
        smooth([(0.01, 0), (5.4, 0), (5.6, 1), (6.6, 6), (4.2, 12), (1.4, 16), (1.2, 20)])
    )
    cone = revolve([(11.5, 20), (7.6, 37)], around=48)
    cloth_colour = cloth(shade, shade)
    glowing = Material(cloth_colour.colour, 0.02, glow=1.35 if lit else 0.0, thin=0.3)
    return (Part(body, paint(foot, gloss=0.6)), Part(cone, glowing))


@cache
def toy_blocks(*, seed: int = 3, count: int = 7) -> Model:
    """Wooden cubes and a few balls, tumbled about the origin."""
    rng = np.random.default_rng(seed)
    colours = ("#e07a5f", "#f2cc8f", "#81b29a", "#3d6a8a", "#f4f1de", "#d98f9a")
    parts: list[Part] = []
    for index in range(count):
        spun = move(
            (index % 4) * 6.4 - 10 + rng.uniform(-0.8, 0.8), (index // 4) * 7 + rng.uniform(-1, 1),
            2.2,
        ) @ turn("z", float(rng.uniform(0, 90)))  # fmt: skip
        cube = block(4.4, 4.4, 4.4, bevel=0.4).moved(spun)
        parts.append(Part(cube, paint(colours[index % len(colours)], gloss=0.25)))
    return tuple(parts)


@cache
def stacking_rings() -> Model:
    """A child's tower of rings, 17 cm high."""
    parts = [Part(revolve([(0.01, 0), (5.4, 0), (5.4, 1.2), (0.01, 1.3)]), paint("#f4f1de"))]
    z = 2.6
    for radius, colour in ((4.2, "#e07a5f"), (3.6, "#f2b632"), (3.0, "#81b29a"), (2.4, "#3d6a8a")):
        angle = np.linspace(0, 2 * np.pi, 33)
        path = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(33, z)], axis=1)
        parts.append(Part(tube(path.astype(np.float32), 1.35, around=14), paint(colour)))
        z += 2.6
    return (*parts, Part(ball(1.9, around=22).moved(move(z=z + 0.6)), paint("#d98f9a")))


@cache
def yarn(colour: str, shade: str) -> Model:
    wound = np.sin(np.linspace(0, 2 * np.pi * 40, 512))[:, None] * np.ones((1, 512))
    share = (0.5 + 0.4 * wound).astype(np.float32)
    wool = Material(Texture.of(mixed(colour, shade, share)), 0.02,
                    relief=Texture.of(0.12 * wound.astype(np.float32)))  # fmt: skip
    return (Part(ball(5.0).moved(move(z=5) @ turn("x", 50) @ turn("y", 20)), wool),)


@cache
def basket(*, radius: float = 13.0, height: float = 15.0) -> Model:
    place = np.linspace(0, 2 * np.pi, 512, endpoint=False)
    weave = np.sin(place * 24)[None, :] * np.sin(place * 9)[:, None]
    share = (0.5 + 0.4 * weave + 0.2 * clouds((512, 512), (8, 8), seed=2)).astype(np.float32)
    cane = Material(
        Texture.of(mixed("#d9b27a", "#9a6c38", share)), 0.1,
        relief=Texture.of((0.25 * weave).astype(np.float32)),
    )  # fmt: skip
    wall = revolve(
        smooth([(radius * 0.8, 0), (radius, height * 0.5), (radius * 0.94, height)]), around=52
    )
    inside = revolve([(radius * 0.92, height), (radius * 0.76, 1.0), (0.01, 1.0)])
    angle = np.linspace(0, 2 * np.pi, 41)
    rim = np.stack(
        [radius * 0.94 * np.cos(angle), radius * 0.94 * np.sin(angle), np.full(41, height)], axis=1
    )
    return (
        Part(wall, cane),
        Part(inside, cane),
        Part(tube(rim.astype(np.float32), 0.8), paint("#b5813f", gloss=0.1)),
    )


@cache
def crate(*, width: float = 44.0, depth: float = 30.0, height: float = 22.0) -> Model:
    """A slatted wooden crate, open above."""
    timber = wood("#d2a878", "#8f6238", seed=14, gloss=0.1)
    parts: list[Part] = [Part(block(width, depth, 1.2).moved(move(z=0.6)), timber)]
    slat = (height - 2) / 3
    for level in range(3):
        z = 1.0 + slat * (level + 0.5)
        for side in (-1, 1):
            parts.append(
                Part(block(width, 1.1, slat * 0.8, bevel=0.1).moved(move(0, side * depth / 2, z)),
                     timber)
            )  # fmt: skip
            parts.append(
                Part(block(1.1, depth, slat * 0.8, bevel=0.1).moved(move(side * width / 2, 0, z)),
                     timber)
            )  # fmt: skip
    return tuple(parts)


@cache
def curtain(colour: str, shade: str, *, width: float = 40.0, height: float = 150.0) -> Model:
    """Hanging folds, its lower edge at z = 0."""

    def folds(x: FloatArray, _: FloatArray) -> FloatArray:
        return np.asarray(1.6 * np.sin(x * 0.9) + 0.7 * np.sin(x * 2.1 + 1), dtype=np.float32)

    hung = sheet(width, height, cells=(60, 4), relief=folds).moved(
        move(z=height / 2) @ turn("x", 90)
    )
    weave = cloth(colour, shade, threads=160)
    return (Part(hung, Material(weave.colour, 0.02, thin=0.5)),)


def landscape(seed: int) -> Texture:
    """Hills under a sun, for another frame."""
    rng = np.random.default_rng(seed)
    skies = (("#f4dcc0", "#e8a87c"), ("#d8e4e4", "#f2cf7a"), ("#f0e4d4", "#c8654a"))
    sky, sun = skies[seed % 3]
    canvas = Canvas(512, 640, sky)
    canvas.dot(float(rng.uniform(140, 380)), 190, 70, sun)
    for layer, colour in enumerate(("#b5b8a0", "#8a9a84", "#5f7a6c", "#3f5a54")):
        base = 300 + layer * 80
        points = [(x, base + float(rng.uniform(-50, 50))) for x in range(-80, 640, 80)]
        canvas.shape([*map(tuple, smooth(points, steps=6)), (600, 700), (-60, 700)], colour)
    return canvas.texture()
