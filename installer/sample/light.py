"""Light: a soft key light and a sky, both with shadows from depth maps seen along the light."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from installer.sample.camera import Surface
from installer.sample.mesh import FloatArray, floats
from installer.sample.raster import rasterise
from installer.sample.texture import Colour

_GOLDEN_DEG = 137.50776405


@dataclass(frozen=True, slots=True)
class Light:
    """Where light comes from, as seen from the scene.

    The key light stands at ``azimuth_deg`` (0: from the camera's side -y, 90: from +x) and
    ``elevation_deg``; ``softness_deg`` is its radius. ``sky``, ``horizon`` and ``ground`` are the
    colours all round, ``panes`` the mirrored window's columns and rows (0, 0: a round light).
    """

    azimuth_deg: float = -50.0
    elevation_deg: float = 42.0
    softness_deg: float = 5.0
    key: Colour = (2.6, 2.3, 1.9)
    sky: Colour = (0.75, 0.82, 0.95)
    horizon: Colour = (0.62, 0.6, 0.58)
    ground: Colour = (0.5, 0.45, 0.4)
    panes: tuple[int, int] = (2, 2)

    @property
    def direction(self) -> NDArray[np.float64]:
        return _direction(self.azimuth_deg, self.elevation_deg)

    def around(self, way: FloatArray) -> FloatArray:
        """The surroundings' light (..., 3) from directions (..., 3), without the key light."""
        up = way[..., 2:3]
        above = np.clip(up, 0, 1) ** 0.6
        below = np.clip(-up * 3, 0, 1)
        sky, horizon, ground = (floats(each) for each in (self.sky, self.horizon, self.ground))
        light = horizon + (sky - horizon) * above
        return np.asarray(light + (ground - light) * below, dtype=np.float32)


def _direction(azimuth_deg: float, elevation_deg: float) -> NDArray[np.float64]:
    azimuth, elevation = np.radians([azimuth_deg, elevation_deg])
    return np.array(
        [
            np.sin(azimuth) * np.cos(elevation),
            -np.cos(azimuth) * np.cos(elevation),
            np.sin(elevation),
        ]
    )


def _frame(direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two axes across a direction and the direction itself, as rows (3, 3)."""
    side = np.cross(direction, (0.0, 0.0, 1.0) if abs(direction[2]) < 0.95 else (0.0, 1.0, 0.0))
    side /= np.linalg.norm(side)
    return np.stack([side, np.cross(side, direction), direction])


@dataclass(frozen=True, slots=True)
class Blockers:
    """The shadow throwers near ``centre``: only what lies within ``reach_cm`` is shadowed."""

    scene: Surface
    centre: NDArray[np.float64]
    reach_cm: float

    def map(self, direction: NDArray[np.float64], *, cells: int, seed: int) -> "ShadowMap":
        """What the light from ``direction`` meets first, on cells × cells squares."""
        axes = _frame(direction)
        angle = seed * 0.7  # turned maps do not repeat the same steps
        cos, sin = np.cos(angle), np.sin(angle)
        axes[:2] = np.array([[cos, sin], [-sin, cos]]) @ axes[:2]
        cell_cm = 2 * self.reach_cm / cells
        local = (self.scene.points - self.centre) @ axes.T
        faces = self.scene.faces[self.scene.casts]
        place = local[:, :2] / cell_cm + cells / 2
        height = rasterise(place, local[:, 2], faces, (cells, cells), tile=4).near
        framed = np.pad(height, 1, constant_values=-np.inf)
        return ShadowMap(framed, axes.astype(np.float32), self.centre.astype(np.float32), cell_cm)


@dataclass(frozen=True, slots=True)
class ShadowMap:
    """``height`` (cells + 2, cells + 2) towards the light, -inf where nothing throws a shadow."""

    height: FloatArray
    axes: FloatArray
    centre: FloatArray
    cell_cm: float

    def lit(self, points: FloatArray, normals: FloatArray, *, soft: bool) -> FloatArray:
        """Share of the light that reaches the points (n, 3): 0 or 1, between them if ``soft``."""
        size = self.height.shape[0]
        gap = floats(self.cell_cm * 0.9)
        place = (points + normals * gap - self.centre) @ self.axes.T
        height = place[:, 2] + gap
        x, y = (place[:, each] / floats(self.cell_cm) + floats(size / 2) for each in (0, 1))
        flat = self.height.ravel()
        if not soft:
            column = np.clip(x.astype(np.int32), 0, size - 1)
            row = np.clip(y.astype(np.int32), 0, size - 1)
            return floats(flat[row * size + column] <= height)
        x, y = x - floats(0.5), y - floats(0.5)
        left, top = np.floor(x), np.floor(y)
        a, b = x - left, y - top
        column = np.clip(left.astype(np.int32), 0, size - 2)
        start = np.clip(top.astype(np.int32), 0, size - 2) * size + column
        tests = [flat[start + step] <= height for step in (0, 1, size, size + 1)]
        upper = tests[0] + a * (tests[1].astype(np.float32) - tests[0])
        lower = tests[2] + a * (tests[3].astype(np.float32) - tests[2])
        return np.asarray(upper + b * (lower - upper), dtype=np.float32)


def key_directions(light: Light, count: int) -> NDArray[np.float64]:
    """Unit directions (count, 3) spread evenly over the key light's disc."""
    axes = _frame(light.direction)
    index = np.arange(count)
    radius = np.tan(np.radians(light.softness_deg)) * np.sqrt((index + 0.5) / count)
    angle = np.radians(index * _GOLDEN_DEG)
    spread = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ways = axes[2] + spread @ axes[:2]
    return np.asarray(ways / np.linalg.norm(ways, axis=1, keepdims=True))


def sky_directions(count: int) -> NDArray[np.float64]:
    """Unit directions (count, 3) spread evenly over the upper hemisphere."""
    index = np.arange(count)
    up = 1 - (index + 0.5) / count
    angle = np.radians(index * _GOLDEN_DEG)
    flat = np.sqrt(1 - up**2)
    return np.stack([flat * np.cos(angle), flat * np.sin(angle), up], axis=1)
