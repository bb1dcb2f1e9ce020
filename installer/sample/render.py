"""One scene to one photograph and the outlines of its things."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from installer.sample.camera import Camera, look, surface
from installer.sample.lens import Film, depth_blur, develop, reduced
from installer.sample.light import Blockers, Light
from installer.sample.mesh import move
from installer.sample.model import Material, Part, Placed
from installer.sample.shade import shade
from installer.sample.shapes import ball

_FINER = 1.25  # drawn so much larger than the photograph, then averaged down


@dataclass(frozen=True, slots=True)
class Scene:
    """``reach_cm``: how far from the camera's target shadows are cast."""

    placed: tuple[Placed, ...]
    camera: Camera
    light: Light = field(default_factory=Light)
    film: Film = field(default_factory=Film)
    size: tuple[int, int] = (900, 675)
    reach_cm: float = 70.0


@dataclass(frozen=True, slots=True)
class Photograph:
    """``masks``: for each thing in the picture, where it is visible (rows, columns)."""

    picture: Image.Image
    masks: dict[str, NDArray[np.bool_]]


def render(scene: Scene, *, seed: int) -> Photograph:
    parts = [_heavens(scene)]
    names = [""]
    for placed in scene.placed:
        parts += [part.moved(placed.matrix) for part in placed.model]
        names += [placed.name] * len(placed.model)
    columns, rows = scene.size
    fine = (round(rows * _FINER), round(columns * _FINER))
    whole = surface(parts)
    seen = look(scene.camera, whole, fine)
    blockers = Blockers(whole, np.array(scene.camera.target, dtype=float), scene.reach_cm)
    light = shade(seen, whole, scene.light, blockers)
    shape = (rows, columns)
    picture = reduced(np.minimum(light, 6.0), shape)
    depth = reduced(np.minimum(seen.depth, 5_000.0), shape)
    picture = depth_blur(picture, depth, scene.camera)
    masks = {}
    for name in sorted(set(names) - {""}):
        covered = np.array([each == name for each in names])[seen.part]
        masks[name] = reduced(covered.astype(np.float32), shape) >= 0.5
    return Photograph(develop(picture, scene.film, seed=seed), masks)


def _heavens(scene: Scene) -> Part:
    """A dome round everything, in the colour of the horizon."""
    dome = ball(4_000, around=24).moved(move(*scene.camera.eye))
    return Part(dome, Material(scene.light.horizon, 0, glow=1), casts=False)
