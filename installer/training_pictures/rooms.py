"""Rooms of the sample album from other places, in other light: rendered once, kept as files."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from installer.sample.album import house, outside, table
from installer.sample.album.shot import Shot
from installer.sample.camera import Camera
from installer.sample.mesh import move
from installer.sample.model import Placed
from installer.sample.render import Scene, render

SHOTS: tuple[Shot, ...] = (*table.SHOTS, *house.SHOTS, *outside.SHOTS)
BACKDROPS = SHOTS[0::2]  # behind things
PLACES = SHOTS[1::2]  # classes of their own: the same room must not stand behind things

_LONGEST_PX = 448
_log = logging.getLogger(__name__)


def rendered(
    shot: Shot, versions: int, *, furnished: bool, folder: Path, seed: int
) -> list[Image.Image]:
    """RGB pictures of one room, the first ones read back where ``folder`` has them.

    ``furnished``: with the loose things, some moved or missing, instead of none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for version in range(versions):
        path = folder / f"{shot.name}-{version}.png"
        if not path.exists():
            rng = np.random.default_rng([seed, version, *shot.name.encode()])
            stage = _otherwise(shot.stage(), rng, furnished=furnished, first=version == 0)
            picture = render(stage, seed=int(rng.integers(1 << 31))).picture
            draft = path.with_suffix(".part")
            picture.save(draft, "PNG")
            draft.replace(path)
            _log.info("rendered %s", path.name)
        with Image.open(path) as opened:
            pictures.append(opened.convert("RGB"))
    return pictures


def _otherwise(stage: Scene, rng: np.random.Generator, *, furnished: bool, first: bool) -> Scene:
    long, short = _LONGEST_PX, _LONGEST_PX * 3 // 4
    size = (long, short) if stage.size[0] > stage.size[1] else (short, long)
    placed = tuple(each for each in stage.placed if _fixed(each)) if not furnished else stage.placed
    if furnished and not first:
        placed = _disturbed(stage.placed, rng)
    light = replace(
        stage.light,
        azimuth_deg=stage.light.azimuth_deg + float(rng.normal(0, 25)),
        elevation_deg=float(np.clip(stage.light.elevation_deg + rng.normal(0, 10), 15, 75)),
    )
    return replace(stage, placed=placed, camera=_moved(stage.camera, rng), light=light, size=size)


def _fixed(placed: Placed) -> bool:
    return not placed.name and bool(np.allclose(placed.matrix, np.eye(4)))


def _disturbed(placed: Sequence[Placed], rng: np.random.Generator) -> tuple[Placed, ...]:
    kept = []
    for each in placed:
        if _fixed(each):
            kept.append(each)
        elif rng.random() < 0.85:
            shift = rng.normal(0, 1.5, 2) if rng.random() < 0.3 else (0.0, 0.0)
            kept.append(replace(each, matrix=move(float(shift[0]), float(shift[1])) @ each.matrix))
    return tuple(kept)


def _moved(camera: Camera, rng: np.random.Generator) -> Camera:
    """From up to 15° beside and nearer or farther, about the same target."""
    way = np.subtract(camera.eye, camera.target)
    angle = np.radians(rng.uniform(-15, 15))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    way[:2] = turn @ way[:2]
    way *= rng.uniform(0.75, 1.15)
    way[2] *= rng.uniform(0.8, 1.25)
    eye = np.add(camera.target, way)
    return replace(
        camera,
        eye=(float(eye[0]), float(eye[1]), float(eye[2])),
        roll_deg=camera.roll_deg + float(rng.normal(0, 2)),
    )
