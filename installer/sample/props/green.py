"""Plants, grass and trees."""

from functools import cache

import numpy as np

from installer.sample.mesh import FloatArray, IntArray, Mesh, floats, join, move, turn, unit
from installer.sample.model import Material, Model, Part, moved
from installer.sample.patterns import clouds, mixed, paint
from installer.sample.shapes import ball, lattice, revolve, smooth, tube
from installer.sample.texture import Texture, rgb


@cache
def foliage(low: str, high: str, *, seed: int = 3) -> Material:
    share = 0.5 + 0.6 * clouds((128, 128), (4, 6), seed=seed)
    share[:, 62:66] += 0.35  # the midrib
    return Material(Texture.of(mixed(low, high, share)), 0.28, thin=0.35)


def blade(length: float, width: float, droop: float, *, steps: int = 8) -> Mesh:
    """A leaf that grows up from the origin and leans over towards +y by ``droop`` of its length;
    its face looks to -y."""
    t = np.linspace(0, 1, steps + 1)
    angle = t * droop * 1.7
    step = length / steps
    y = np.concatenate([[0], np.cumsum(np.sin(angle[:-1]) * step)])
    z = np.concatenate([[0], np.cumsum(np.cos(angle[:-1]) * step)])
    half = width / 2 * np.sin(np.pi * np.clip(t * 0.92 + 0.06, 0, 1)) ** 0.8
    across = np.linspace(-1, 1, 5)
    points = np.empty((steps + 1, 5, 3))
    points[..., 0] = half[:, None] * across
    points[..., 1] = y[:, None] - (half[:, None] * np.abs(across)) * 0.25  # folded at the rib
    points[..., 2] = z[:, None]
    u, v = np.meshgrid((across + 1) / 2, t)
    return lattice(points.astype(np.float32), np.stack([u, v], axis=2).astype(np.float32))


@cache
def pot(colour: str, *, size: float = 6.0, gloss: float = 0.1) -> Model:
    """A flower pot, ``size`` its radius above; soil inside."""
    shape = floats(
        [(0.01, 0.0), (0.66, 0.0), (0.70, 0.06), (0.94, 1.35), (1.0, 1.36), (1.02, 1.62),
         (0.92, 1.64), (0.88, 1.5)]
    )  # fmt: skip
    soil = revolve(floats([(0.9, 1.46), (0.01, 1.5)]) * size)
    return (
        Part(revolve(shape * floats(size)), paint(colour, gloss=gloss)),
        Part(soil, paint("#3b2a1f", gloss=0.0)),
    )


@cache
def plant(kind: str, pot_colour: str, *, seed: int = 1, size: float = 6.0) -> Model:
    """A potted plant: "blades" stand, "leaves" spread, "fern" hangs over, "cactus" is round."""
    rng = np.random.default_rng(seed)
    vessel = pot(pot_colour, size=size)
    if kind == "cactus":
        return (*vessel, *moved(_cactus(size), move(z=size * 1.4)))
    count, length, width, lean, droop, low, high = {
        "blades": (11, 4.2, 0.75, 14, 0.10, "#2f6b4a", "#9bbf6a"),
        "leaves": (22, 2.5, 1.35, 44, 0.55, "#2d7048", "#5c9a55"),
        "fern": (46, 3.2, 0.46, 38, 1.0, "#3f8a4c", "#86b95c"),
    }[kind]
    leaves = []
    for index in range(count):
        long = size * length * rng.uniform(0.65, 1.1)
        leaf = blade(long, size * width * rng.uniform(0.8, 1.1), droop * rng.uniform(0.7, 1.3))
        tilt = -lean * rng.uniform(0.15, 1.15)
        spin = index * 137.5 + rng.uniform(-20, 20)
        out = size * 0.45 * rng.uniform(0, 1)
        leaves.append(leaf.moved(turn("z", spin) @ move(0, out, size * 1.4) @ turn("x", tilt)))
    return (*vessel, Part(join(leaves), foliage(low, high, seed=seed)))


def _cactus(size: float) -> Model:
    around, along = 97, 25
    angle = np.linspace(0, 2 * np.pi, around)
    rise = np.linspace(-np.pi / 2 + 0.2, np.pi / 2, along)
    rib = 1 + 0.09 * np.cos(angle * 12)
    radius = np.cos(rise)[:, None] * rib[None, :] * size * 0.78
    points = np.stack(
        [
            radius * np.sin(angle),
            -radius * np.cos(angle),
            np.broadcast_to((np.sin(rise)[:, None] + 0.9) * size * 0.95, radius.shape),
        ],
        axis=2,
    )
    uv = np.stack(np.meshgrid(np.linspace(0, 1, around), np.linspace(0, 1, along)), axis=2)
    body = lattice(points.astype(np.float32), uv.astype(np.float32), closed=True)
    bloom = join(
        [
            blade(size * 0.4, size * 0.22, 0.8).moved(
                move(z=size * 1.72) @ turn("z", index * 45) @ turn("x", -30)
            )
            for index in range(8)
        ]
    )
    return (
        Part(body, paint("#4f8f63", gloss=0.2)),
        Part(bloom, Material(rgb("#ef7fa0"), 0.1, thin=0.4)),
    )


@cache
def tulips(colour: str, vase: str, *, seed: int = 2) -> Model:
    """Seven tulips in a vase, 34 cm high."""
    rng = np.random.default_rng(seed)
    vessel = revolve(
        smooth(
            [(0.01, 0.1), (3.6, 0.0), (5.2, 3.4), (4.9, 8.5), (2.8, 13.0), (3.2, 15.0),
             (2.9, 15.0), (2.3, 12.5)],
            steps=5,
        )
    )  # fmt: skip
    cup = revolve(
        smooth([(0.01, 0), (1.5, 0.5), (2.0, 2.0), (1.6, 3.8), (1.1, 4.6), (0.8, 4.0)], steps=4),
        around=18,
    )
    stems, cups, leaves = [], [], []
    for index in range(7):
        spin, tilt = index * 137.5, 8 + 15 * rng.uniform(0.1, 1)
        tall = rng.uniform(12, 18)
        place = move(z=13.5) @ turn("z", spin) @ turn("x", -tilt)
        stems.append(tube([(0, 0, -6), (0, 0, tall)], 0.32, around=7).moved(place))
        cups.append(cup.moved(place @ move(z=tall)))
        leaves.append(blade(15, 2.6, 0.9).moved(move(z=13) @ turn("z", spin + 60) @ turn("x", -20)))
    green = foliage("#4c8a4a", "#8ab86a")
    return (
        Part(vessel, paint(vase, gloss=0.6)),
        Part(join(stems), green),
        Part(join(leaves), green),
        Part(join(cups), Material(rgb(colour), 0.2, thin=0.3)),
    )


@cache
def grass(
    width: float,
    depth: float,
    *,
    bare: tuple[float, float, float],
    count: int = 5200,
    seed: int = 5,
) -> Part:
    """Blades of a lawn over a rectangle about the origin; ``bare``: width and depth of a place
    without blades that is centred at y = 8 and turned by so many degrees."""
    rng = np.random.default_rng(seed)
    root = np.stack(
        [rng.uniform(-width / 2, width / 2, count), rng.uniform(-depth / 2, depth / 2, count)],
        axis=1,
    )
    angle = np.radians(bare[2])
    x, y = root[:, 0], root[:, 1] - 8
    along = np.abs(x * np.cos(angle) + y * np.sin(angle))
    across = np.abs(y * np.cos(angle) - x * np.sin(angle))
    root = root[(along > bare[0] / 2) | (across > bare[1] / 2)]
    count = len(root)
    spin = rng.uniform(0, 2 * np.pi, count)
    tall = rng.uniform(2.2, 5.2, count)
    lean = rng.uniform(0.2, 0.9, count) * tall
    side = np.stack([np.cos(spin), np.sin(spin)], axis=1) * 0.22
    ahead = np.stack([-np.sin(spin), np.cos(spin)], axis=1)
    points = np.zeros((count, 5, 3), dtype=np.float32)
    points[:, 0, :2], points[:, 1, :2] = root - side, root + side
    middle = root + ahead * (lean * 0.35)[:, None]
    points[:, 2, :2], points[:, 3, :2] = middle - side * 0.8, middle + side * 0.8
    points[:, 2:4, 2] = (tall * 0.6)[:, None]
    points[:, 4, :2] = root + ahead * lean[:, None]
    points[:, 4, 2] = tall
    normal = np.zeros((count, 5, 3), dtype=np.float32)
    normal[..., :2] = -ahead[:, None] * 0.6
    normal[..., 2] = 1.0
    uv = np.empty((count, 5, 2), dtype=np.float32)
    uv[..., 0] = rng.uniform(0, 1, count)[:, None]
    uv[..., 1] = floats([0.05, 0.05, 0.5, 0.5, 0.95])
    corners: IntArray = np.array([[0, 1, 3], [0, 3, 2], [2, 3, 4]], dtype=np.int32)
    faces = (np.arange(count, dtype=np.int32)[:, None, None] * 5 + corners).reshape(-1, 3)
    mesh = Mesh(points.reshape(-1, 3), unit(normal.reshape(-1, 3)), uv.reshape(-1, 2), faces)
    return Part(mesh, Material(_grass_colours(seed), 0.12, thin=0.4))


def _grass_colours(seed: int) -> Texture:
    """Dark at the root, each column another green."""
    rng = np.random.default_rng(seed)
    tone = rng.uniform(0, 1, 64).astype(np.float32)
    picture = mixed("#5d8a33", "#a8bd55", np.broadcast_to(tone, (64, 64)))
    dark = np.linspace(1.0, 0.35, 64, dtype=np.float32)[:, None, None]
    return Texture.of(picture * dark)


def hedge(points: FloatArray, *, seed: int = 6, leaf: float = 4.0) -> Part:
    """Leaves scattered at ``points`` (n, 3): ivy, a bush."""
    rng = np.random.default_rng(seed)
    leaves = [
        blade(leaf * rng.uniform(0.7, 1.3), leaf * 0.75, 0.5, steps=3).moved(
            move(*each) @ turn("z", rng.uniform(-70, 70)) @ turn("x", rng.uniform(60, 150))
        )
        for each in points
    ]
    return Part(join(leaves), foliage("#2f6a3a", "#7aa84c", seed=seed))


@cache
def apple(colour: str) -> Model:
    body = revolve(
        smooth([(0.01, 0.5), (1.6, 0.1), (3.2, 1.6), (3.7, 3.9), (2.8, 6.0), (1.1, 6.4),
                (0.01, 5.7)], steps=5)
    )  # fmt: skip
    stalk = tube([(0, 0, 5.6), (0.1, 0, 6.6), (0.4, 0, 7.4)], 0.16, around=6)
    return (Part(body, paint(colour, gloss=0.5)), Part(stalk, paint("#5a3a20", gloss=0.1)))


@cache
def lemon() -> Model:
    """Lying on its side, along x."""
    body = revolve(
        smooth([(0.01, -4.6), (0.6, -4.2), (2.3, -2.6), (2.9, 0), (2.3, 2.6), (0.8, 4.1),
                (0.01, 4.9)], steps=5)
    )  # fmt: skip
    skin = Material(rgb("#f2c93a"), 0.35)
    return (Part(body.moved(move(z=2.85) @ turn("y", 90)), skin),)


@cache
def orange() -> Model:
    return (Part(ball(3.7, squash=0.95).moved(move(z=3.5)), paint("#ee8a2c", gloss=0.35)),)


@cache
def pear() -> Model:
    body = revolve(
        smooth([(0.01, 0.3), (1.8, 0), (3.5, 2.2), (3.3, 4.6), (1.9, 7.0), (1.3, 8.8),
                (0.01, 9.6)], steps=5)
    )  # fmt: skip
    stalk = tube([(0, 0, 9.4), (0.4, 0, 11.0)], 0.16, around=6)
    return (Part(body, paint("#b9c257", gloss=0.35)), Part(stalk, paint("#5a3a20")))
