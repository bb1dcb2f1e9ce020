"""The camera, and what each of its pixels sees."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from installer.sample.mesh import FloatArray, IntArray, floats, unit
from installer.sample.model import Material, Part
from installer.sample.raster import NOTHING, rasterise

_NEAREST_CM = 2.0


@dataclass(frozen=True, slots=True)
class Camera:
    """``fov_deg``: the angle of the picture's longer side. ``focus_cm``: the distance that is
    sharp, 0 for the target's. ``aperture_cm``: the lens opening, 0 sharp everywhere."""

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    fov_deg: float = 40.0
    roll_deg: float = 0.0
    focus_cm: float = 0.0
    aperture_cm: float = 0.5

    @property
    def axes(self) -> NDArray[np.float64]:
        """Right, up and forward as rows (3, 3)."""
        forward = np.subtract(self.target, self.eye).astype(np.float64)
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        up = np.cross(right, forward)
        cos, sin = np.cos(np.radians(self.roll_deg)), np.sin(np.radians(self.roll_deg))
        return np.stack([cos * right + sin * up, cos * up - sin * right, forward])

    def focal_px(self, shape: tuple[int, int]) -> float:
        return float(max(shape) / 2 / np.tan(np.radians(self.fov_deg) / 2))

    @property
    def sharp_cm(self) -> float:
        return self.focus_cm or float(np.linalg.norm(np.subtract(self.target, self.eye)))


@dataclass(frozen=True, slots=True)
class Surface:
    """A scene's triangles as one: ``part`` (F,) says whose each is."""

    points: FloatArray
    normals: FloatArray
    uv: FloatArray
    faces: IntArray
    part: IntArray
    casts: NDArray[np.bool_]
    materials: tuple[Material, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the pixels see, each (rows, columns, ...): the part, its point, its normal towards the
    camera, texture coordinates, and the distance along the view axis. ``eye`` (3,)."""

    part: IntArray
    point: FloatArray
    normal: FloatArray
    uv: FloatArray
    depth: FloatArray
    eye: FloatArray


def surface(parts: list[Part]) -> Surface:
    meshes = [part.mesh for part in parts]
    starts = np.cumsum([0] + [len(mesh.points) for mesh in meshes[:-1]])
    owner = np.concatenate(
        [np.full(len(mesh.faces), index, np.int32) for index, mesh in enumerate(meshes)]
    )
    casts = np.array([part.casts for part in parts])[owner]
    return Surface(
        np.concatenate([mesh.points for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.uv for mesh in meshes]),
        np.concatenate(
            [mesh.faces + np.int32(start) for mesh, start in zip(meshes, starts, strict=True)]
        ),
        owner,
        casts,
        tuple(part.material for part in parts),
    )


def look(camera: Camera, scene: Surface, shape: tuple[int, int]) -> Seen:
    """Project, find the nearest triangle of each pixel, interpolate what it carries.

    The scene must fill the picture (`render` hangs a sky round everything).
    """
    eye = np.array(camera.eye)
    view = (scene.points - eye) @ camera.axes.T  # (V, 3) right, up, forward
    ahead = view[:, 2]
    faces = np.flatnonzero((ahead[scene.faces] > _NEAREST_CM).all(axis=1))
    safe = np.maximum(ahead, _NEAREST_CM)
    focal = camera.focal_px(shape)
    xy = np.stack(
        [shape[1] / 2 + focal * view[:, 0] / safe, shape[0] / 2 - focal * view[:, 1] / safe],
        axis=1,
    )
    coverage = rasterise(xy, 1 / safe, scene.faces[faces], shape)
    if (coverage.face == NOTHING).any():
        raise ValueError("the scene does not fill the picture")
    face = faces[coverage.face.ravel()]
    corner = scene.faces[face]
    weight, depth = _weights(xy, 1 / safe, scene.faces, face, shape)
    point = _mix(scene.points, corner, weight)
    towards = floats(camera.eye) - point
    facing = unit(_mix(scene.normals, corner, weight))
    behind = np.flatnonzero(np.einsum("ni,ni->n", facing, towards) < 0)
    facing[behind] *= _sides(scene, corner[behind], facing[behind], towards[behind])
    return Seen(
        scene.part[face].reshape(shape),
        point.reshape(*shape, 3),
        facing.reshape(*shape, 3),
        _mix(scene.uv, corner, weight).reshape(*shape, 2),
        depth.reshape(shape),
        floats(camera.eye),
    )


def _sides(scene: Surface, corner: IntArray, facing: FloatArray, towards: FloatArray) -> FloatArray:
    """-1 (n, 1) where a thin thing (a cloth, a page) is seen from its other side, else 1: a round
    thing's edge also has normals that lean away."""
    origin = scene.points[corner[:, 0]]
    flat = np.cross(scene.points[corner[:, 1]] - origin, scene.points[corner[:, 2]] - origin)
    front = np.einsum("ni,ni->n", flat, facing)
    return np.where(np.einsum("ni,ni->n", flat, towards) * front < 0, -1, 1)[:, None].astype(
        np.float32
    )


def _weights(
    xy: NDArray[np.float64],
    near: NDArray[np.float64],
    faces: IntArray,
    face: NDArray[np.int64],
    shape: tuple[int, int],
) -> tuple[FloatArray, FloatArray]:
    """Perspective-correct weights (n, 3) of the corners of each pixel's triangle, and its depth
    (n,)."""
    a, b, c = xy[faces[:, 0]], xy[faces[:, 1]], xy[faces[:, 2]]
    ab, ac = b - a, c - a
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    area = np.where(np.abs(area) < 1e-12, 1.0, area)
    plane = np.column_stack(
        [a, ac[:, 1] / area, -ac[:, 0] / area, -ab[:, 1] / area, ab[:, 0] / area, near[faces]]
    )[face].astype(np.float32)  # (n, 9)
    row, column = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    x = column.astype(np.float32) + floats(0.5) - plane[:, 0]
    y = row.astype(np.float32) + floats(0.5) - plane[:, 1]
    second = x * plane[:, 2] + y * plane[:, 3]
    third = x * plane[:, 4] + y * plane[:, 5]
    weight = np.stack([1 - second - third, second, third], axis=1) * plane[:, 6:]
    total = weight.sum(axis=1)
    return weight / total[:, None], 1 / total


def _mix(values: FloatArray, corner: IntArray, weight: FloatArray) -> FloatArray:
    mixed = values[corner[:, 0]] * weight[:, :1]
    mixed += values[corner[:, 1]] * weight[:, 1:2]
    mixed += values[corner[:, 2]] * weight[:, 2:]
    return mixed
