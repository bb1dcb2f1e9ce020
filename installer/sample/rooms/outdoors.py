"""Lawn, beach, garden wall, market stall, doorstep, café."""

import numpy as np

from installer.sample.lens import Film
from installer.sample.light import Light
from installer.sample.mesh import FloatArray, move, turn
from installer.sample.model import Material, Part, Placed, stand
from installer.sample.patterns import (
    bricks,
    checked,
    cloth,
    clouds,
    ground,
    mixed,
    paint,
    planks,
    plaster,
    striped,
    tiles,
    wood,
)
from installer.sample.props.green import grass, hedge, plant, pot
from installer.sample.rooms.room import NOON, SUN, Room, beam, fixed, floor, outlook, wall
from installer.sample.shapes import disc, revolve, sheet
from installer.sample.texture import Texture, rgb


def lawn(*, blanket: str = "", light: Light = SUN, seed: int = 1, view: str = "garden") -> Room:
    """A lawn before trees; ``blanket``: "checked", "striped" or none."""
    parts = [
        floor(ground("#6f9440", "#88a84e", seed=seed), 900, 700, y=220, repeat=(5, 4)),
        outlook(view, seed=seed, bright=1.35),
        grass(190, 150, seed=seed, bare=(124, 94, 8) if blanket else (0, 0, 0)),
    ]
    if blanket:
        material = (
            checked("#f6efe0", "#c8473c", cells=10)
            if blanket == "checked"
            else striped(("#f2e3c6", "#3f7f8c", "#e8b04a", "#d9694a"), seed=seed)
        )
        mesh = sheet(130, 100, cells=(30, 24)).moved(move(0, 8, 1.2) @ turn("z", 8))
        parts.append(Part(mesh, material))
    return Room((fixed(*parts),), light)


def beach(*, towel: bool = True, light: Light = SUN, seed: int = 2) -> Room:
    """Sand, the sea behind."""

    def ripples(x: FloatArray, y: FloatArray) -> FloatArray:
        wave = 0.35 * np.sin(y * 0.5 + 2 * np.sin(x * 0.03)) + 0.5 * np.sin(x * 0.06 + y * 0.02)
        return np.asarray(wave, dtype=np.float32)

    sand = sheet(700, 360, cells=(70, 50), relief=ripples).mapped(scale=(4, 2))
    water = Material(rgb("#3f9fb4"), 0.7)
    parts = [
        Part(sand.moved(move(0, 60, -0.8)), ground("#ecd9b0", "#d9bf8c", seed=seed, rough=0.25)),
        floor(water, 1600, 300, y=390, z=-1.2),
        floor(paint("#f8fbf8", gloss=0.0), 1600, 7, y=243, z=-1.1),
        outlook("sea", seed=seed, bright=2.1, y=520),
    ]
    if towel:
        mesh = sheet(76, 130, cells=(16, 28)).moved(move(-6, 6, 0.4) @ turn("z", -24))
        parts.append(Part(mesh, striped(("#fbf3e0", "#e8694a", "#f2c14e", "#4aa3b5"), seed=5)))
    return Room((fixed(*parts),), light, Film(stops=0.1))


def garden(*, light: Light = SUN, painted: bool = False, seed: int = 3) -> Room:
    """A wooden bench before a brick or whitewashed wall, ivy and pots."""
    rng = np.random.default_rng(seed)
    stone = (
        plaster("#f3ece0", "#ddd2c0", seed=seed, rough=0.14)
        if painted
        else bricks("#b9694a", "#8f4a36", "#d8c8b4", seed=seed)
    )
    timber = planks("#b39a7c", "#7d6850", count=4, seed=seed, gloss=0.1)
    side = rng.choice([-1.0, 1.0])
    spread = rng.normal(0, 1, (130, 3)) * (26, 0, 30) + (side * 82, 33, 72)
    spread[:, 1] = 32 - rng.uniform(0, 4, 130)
    parts = [
        wall(stone, 420, 200, y=34, z=-50, repeat=(3, 2)),
        floor(timber, 170, 44, repeat=(1.4, 1)),
        beam(paint("#8f7a60", gloss=0.05), (170, 2, 4), 0, -22, -2.1),
        floor(ground("#b0a084", "#8f8268", seed=seed), 500, 300, z=-45, y=-60, repeat=(2, 1)),
        hedge(spread, seed=seed, leaf=6.5),
    ]
    pots = [
        stand(plant("fern", "#c26a45", seed=seed, size=8), -side * 62, 8),
        stand(pot("#d08a62", size=6), -side * 44, 12),
    ]
    return Room((fixed(*parts), *pots), light)


def market(*, cover: tuple[str, ...] = ("#f4ead4", "#c8574a", "#f4ead4", "#4a7f8a"),
           light: Light = NOON, seed: int = 4) -> Room:  # fmt: skip
    """A flea-market table under an awning, the street behind."""
    parts = [
        Part(sheet(210, 96, cells=(30, 20)).mapped(scale=(1, 1)), striped(cover, seed=seed)),
        Part(
            sheet(210, 60, cells=(40, 2)).moved(move(0, -48, -30) @ turn("x", 90)),
            striped(cover, seed=seed),
        ),
        floor(tiles("#b8ada0", "#a0968a", "#8a8278", across=12, down=12, gloss=0.05, bond=0.5),
              900, 700, z=-75, y=200, repeat=(3, 3)),
        outlook("town", seed=seed, bright=1.25),
    ]  # fmt: skip
    return Room((fixed(*parts),), light)


def doorstep(door: str, *, light: Light = SUN, seed: int = 5) -> Room:
    """Two stone steps before a painted door, pots on both sides."""
    stone = ground("#c9c2b4", "#a89f90", seed=seed, rough=0.15)
    parts = [
        Part(beam(stone, (150, 44, 16), 0, 4, -8, bevel=1.0).mesh, stone),
        Part(beam(stone, (190, 40, 16), 0, -34, -24, bevel=1.0).mesh, stone),
        floor(tiles("#b5aa9c", "#9d9386", "#857d72", across=10, down=10, gloss=0.05), 600, 300,
              z=-32, y=-120, repeat=(2, 1)),
        beam(paint(door, gloss=0.4), (84, 4, 190), 0, 28, 95),
        wall(plaster("#f0e4d0", "#dccbb0", seed=seed, rough=0.14), 500, 240, y=29, z=-32),
        beam(paint("#faf5ea"), (8, 6, 200), -47, 27, 95),
        beam(paint("#faf5ea"), (8, 6, 200), 47, 27, 95),
    ]  # fmt: skip
    for x in (-21, 21):
        parts.append(beam(paint(door, gloss=0.4), (30, 2, 60), x, 25.6, 48, bevel=0.9))
        parts.append(beam(paint(door, gloss=0.4), (30, 2, 70), x, 25.6, 126, bevel=0.9))
    pots = [
        stand(plant("leaves", "#b5603f", seed=seed, size=10), -62, 6),
        stand(plant("fern", "#4f6f78", seed=seed + 1, size=9), 63, 8),
    ]
    return Room((fixed(*parts), *pots), light)


def cafe(*, light: Light = NOON, seed: int = 6) -> Room:
    """A round marble table before a blurred street."""
    veins = np.abs(clouds((512, 512), (4, 4), seed=seed, octaves=5))
    share = np.clip(1 - veins * 7, 0, 1) ** 2 * 0.5
    marble = Material(Texture.of(mixed("#f3f0ea", "#8f9298", share)), 0.6)
    top = revolve([(38, -2.4), (39, -2.0), (39, -0.4), (38.4, 0)], around=72)
    parts = [
        Part(top, paint("#c9b28a", gloss=0.5)),
        Part(disc(38.4, around=72), marble, casts=False),
        floor(tiles("#c9bfb0", "#b3a898", "#9a9184", across=14, down=14, gloss=0.1), 900, 700,
              z=-72, y=200, repeat=(3, 3)),
        outlook("town", seed=seed, bright=1.3, y=360),
    ]  # fmt: skip
    for x, y in ((-70, 90), (86, 120)):
        parts.append(beam(wood("#9a6a42", "#6a4426"), (40, 40, 3), x, y, -28))
        parts.append(beam(wood("#9a6a42", "#6a4426"), (40, 3, 44), x, y + 20, -4))
    return Room((fixed(*parts),), light)


def boot(*, light: Light = NOON, seed: int = 7) -> Room:
    """A blanket in a cardboard box on a stone floor: moving day."""
    card = plaster("#c99d6a", "#b58856", seed=seed, rough=0.02)
    fabric = cloth("#8fa3a8", "#71878e", seed=seed)
    parts = [
        floor(tiles("#d8d0c4", "#c4bab0", "#a89f94", across=6, down=6, gloss=0.3), 600, 400,
              z=-22, repeat=(3, 2)),
        beam(card, (90, 1, 30), 0, -30, -7, bevel=0.1),
        beam(card, (90, 1, 30), 0, 30, -7, bevel=0.1),
        beam(card, (1, 60, 30), -45, 0, -7, bevel=0.1),
        beam(card, (1, 60, 30), 45, 0, -7, bevel=0.1),
        wall(plaster("#e6e2da", "#d2ccc2", seed=seed), 600, 260, y=110, z=-22),
    ]  # fmt: skip
    flap = Part(sheet(90, 22).moved(move(0, -41, 6) @ turn("x", 14)), card)
    bed = Part(sheet(88, 58, cells=(24, 16)).moved(move(z=-3)), fabric, casts=False)
    return Room((fixed(*parts, flap, bed),), light)


def poster_wall(*, light: Light = SUN, seed: int = 8) -> Room:
    """A street wall of painted bricks over a pavement."""
    parts = [
        wall(bricks("#d9d2c4", "#c4bcae", "#b5ac9e", seed=seed), 520, 260, y=20, repeat=(3, 2)),
        floor(tiles("#b0a89c", "#9a9388", "#857f76", across=8, down=8, gloss=0.05), 700, 300,
              y=-120, repeat=(3, 1.5)),
        beam(paint("#3f5f5a"), (520, 1.5, 40), 0, 19.6, 20, bevel=0.1),
    ]  # fmt: skip
    placed: tuple[Placed, ...] = (fixed(*parts),)
    return Room(placed, light)
