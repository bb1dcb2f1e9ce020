"""What a place is, and the pieces that several places share."""

from dataclasses import dataclass, field

import numpy as np

from installer.sample.brush import Canvas
from installer.sample.lens import Film
from installer.sample.light import Light
from installer.sample.mesh import FloatArray, floats, move, turn
from installer.sample.model import Material, Model, Part, Placed
from installer.sample.patterns import clouds, mixed
from installer.sample.shapes import block, sheet
from installer.sample.texture import Texture, linear, rgb


@dataclass(frozen=True, slots=True)
class Room:
    placed: tuple[Placed, ...]
    light: Light = field(default_factory=Light)
    film: Film = field(default_factory=Film)


MORNING = Light(-55, 38, 4.5, (2.7, 2.4, 2.0), (0.85, 0.92, 1.05), (0.8, 0.8, 0.8))
NOON = Light(35, 55, 3.5, (2.5, 2.4, 2.2), (0.9, 0.98, 1.1), (0.85, 0.87, 0.88))
SOFT = Light(-35, 52, 13.0, (1.5, 1.45, 1.4), (1.15, 1.18, 1.22), (1.0, 1.0, 1.0))
EVENING = Light(62, 24, 3.5, (3.4, 2.3, 1.3), (0.62, 0.66, 0.85), (0.72, 0.62, 0.58))
LAMP = Light(40, 50, 8.0, (3.2, 2.2, 1.2), (0.34, 0.36, 0.5), (0.5, 0.42, 0.36), panes=(0, 0))
SUN = Light(-48, 46, 1.6, (3.4, 3.0, 2.4), (0.75, 0.95, 1.3), (0.85, 0.92, 1.0), panes=(0, 0))


def fixed(*parts: Part) -> Placed:
    return Placed(tuple(parts), np.eye(4))


def floor(
    material: Material,
    width: float,
    depth: float,
    *,
    z: float = 0.0,
    y: float = 0.0,
    repeat: tuple[float, float] = (1, 1),
) -> Part:
    """A level ground or table top; it throws no shadow."""
    mesh = sheet(width, depth, cells=(24, 24)).mapped(scale=repeat)
    return Part(mesh.moved(move(y=y, z=z)), material, casts=False)


def wall(
    material: Material,
    width: float,
    height: float,
    *,
    y: float,
    z: float = 0.0,
    x: float = 0.0,
    repeat: tuple[float, float] = (1, 1),
) -> Part:
    """An upright wall that faces the camera, its lower edge at ``z``; it throws no shadow."""
    mesh = sheet(width, height, cells=(12, 8)).mapped(scale=repeat)
    return Part(mesh.moved(move(x, y, z + height / 2) @ turn("x", 90)), material, casts=False)


def beam(
    material: Material,
    size: tuple[float, float, float],
    x: float,
    y: float,
    z: float,
    *,
    bevel: float = 0.3,
    casts: bool = True,
) -> Part:
    """A block about (x, y, z)."""
    return Part(block(*size, bevel=bevel).moved(move(x, y, z)), material, casts)


def outlook(kind: str, *, seed: int = 1, y: float = 420.0, bright: float = 1.5) -> Part:
    """A painted view far behind: "garden", "hills", "town" or "sea"."""
    shape = (256, 512)
    up = np.linspace(1, 0, shape[0], dtype=np.float32)[:, None] * np.ones(shape, np.float32)
    along = np.linspace(0, 1, shape[1], dtype=np.float32)[None, :]
    picture = mixed("#dcecf6", "#86b8e4", up**1.1)
    drift = clouds(shape, (4, 4), seed=seed, octaves=3)
    picture += np.clip(drift - 0.15, 0, 1)[..., None] * 0.35 * up[..., None]
    if kind == "sea":
        water = mixed("#2f8fae", "#8fd0d4", np.clip((0.46 - up) * 4, 0, 1))
        return _backdrop(np.where((up < 0.46)[..., None], water, picture), y, bright)
    if kind == "town":
        return _backdrop(_street(seed), y, bright)
    layers = {
        "garden": (("#a8c48a", 0.62), ("#6f9a55", 0.52), ("#4c7a3e", 0.40), ("#8fb35c", 0.22)),
        "hills": (("#b5c4c4", 0.62), ("#93aca0", 0.55), ("#7d9c78", 0.46), ("#9db56c", 0.36)),
    }[kind]
    for index, (colour, height) in enumerate(layers):
        roll = _skyline(along, seed * 7 + index, round_=kind == "garden")
        inside = up < height + roll
        tone = 1 + 0.5 * clouds(shape, (8, 16), seed=seed + index, octaves=3)
        picture = np.where(inside[..., None], floats(rgb(colour)) * tone[..., None], picture)
    return _backdrop(picture, y, bright)


def _skyline(along: FloatArray, seed: int, *, round_: bool) -> FloatArray:
    """A line of heights (1, columns): crowns of trees, or slow hills."""
    rng = np.random.default_rng(seed)
    total = np.zeros_like(along)
    for wave in (6, 11, 19, 31) if round_ else (2, 5, 9):
        total += np.sin(2 * np.pi * (wave * along + rng.uniform())) * 0.09 / wave**0.4
    return np.asarray(total * (0.5 if round_ else 0.8), dtype=np.float32)


def _street(seed: int) -> FloatArray:
    """House fronts with windows behind trees."""
    rng = np.random.default_rng(seed)
    canvas = Canvas(512, 256, "#d4e2ea")
    fronts = ("#e6d3b8", "#d8b49a", "#c9cfc4", "#ead9c4", "#b9c4c9", "#dfc19a")
    x = -10.0
    while x < 512:
        width, top = float(rng.uniform(46, 84)), float(rng.uniform(26, 70))
        canvas.box(x, top, width - 2, 230, fronts[int(rng.integers(len(fronts)))])
        canvas.box(x, top, width - 2, 6, "#a8705a")
        for row in range(4):
            for column in range(3):
                canvas.box(x + 8 + column * width / 3.2, top + 20 + row * 34, 9, 18, "#71818c")
        x += width
    for _ in range(9):
        at, size = float(rng.uniform(0, 512)), float(rng.uniform(14, 26))
        canvas.dot(at, 190, size, "#7f9c68")
        canvas.dot(at + size, 196, size * 0.8, "#6a8a58")
    canvas.box(0, 204, 512, 52, "#b9afa2")
    return linear(np.asarray(canvas.picture(), dtype=np.float32) / floats(255))


def _backdrop(picture: FloatArray, y: float, bright: float) -> Part:
    mesh = sheet(y * 2.6, y * 1.3, cells=(6, 6)).moved(move(0, y, y * 0.15) @ turn("x", 90))
    return Part(mesh, Material(Texture.of(picture), 0, glow=bright), casts=False)


def pinned(picture: Texture, width: float, height: float, x: float, z: float, y: float) -> Model:
    """A sheet of paper on a wall."""
    mesh = sheet(width, height).moved(move(x, y, z) @ turn("x", 90))
    return (Part(mesh, Material(picture, 0.05)),)
