"""Triangle meshes, and how they are moved. Lengths are centimetres, z points up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float32]
IntArray: TypeAlias = NDArray[np.int32]
Matrix: TypeAlias = NDArray[np.float64]
"""A rigid motion with one uniform scale, (4, 4), acting on column vectors."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """``points`` (V, 3), unit ``normals`` (V, 3), ``uv`` (V, 2) with v up, ``faces`` (F, 3)."""

    points: FloatArray
    normals: FloatArray
    uv: FloatArray
    faces: IntArray

    def moved(self, matrix: Matrix) -> "Mesh":
        turn = matrix[:3, :3].astype(np.float32)
        points = self.points @ turn.T + matrix[:3, 3].astype(np.float32)
        return Mesh(points, unit(self.normals @ turn.T), self.uv, self.faces)

    def mapped(self, *, scale: tuple[float, float], shift: tuple[float, float] = (0, 0)) -> "Mesh":
        """The same mesh with its texture coordinates scaled, then shifted."""
        uv = self.uv * floats(scale) + floats(shift)
        return Mesh(self.points, self.normals, uv, self.faces)


def floats(values: ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float32)


def unit(vectors: FloatArray) -> FloatArray:
    """The vectors (..., 3) at length one; a zero vector stays zero."""
    length = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., None]
    return floats(vectors / np.maximum(length, 1e-12))


def join(meshes: Sequence[Mesh]) -> Mesh:
    starts = np.cumsum([0] + [len(mesh.points) for mesh in meshes[:-1]])
    faces = [mesh.faces + np.int32(start) for mesh, start in zip(meshes, starts, strict=True)]
    return Mesh(
        np.concatenate([mesh.points for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.uv for mesh in meshes]),
        np.concatenate(faces),
    )


def move(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Matrix:
    matrix = np.eye(4)
    matrix[:3, 3] = (x, y, z)
    return matrix


def turn(axis: str, degrees: float) -> Matrix:
    """Rotation about the axis "x", "y" or "z", counter-clockwise seen from its tip."""
    angle = np.radians(degrees)
    cos, sin = np.cos(angle), np.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix = np.eye(4)
    matrix[i, i] = matrix[j, j] = cos
    matrix[i, j], matrix[j, i] = -sin, sin
    return matrix
