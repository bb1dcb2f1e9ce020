"""The shapes that things are made of."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from installer.sample.mesh import FloatArray, IntArray, Mesh, floats, join, move, unit

Points = Sequence[Sequence[float]]


def _lattice(rows: int, columns: int) -> IntArray:
    """Faces (F, 3) of a lattice of rows × columns points, stored row by row."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    upper = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    return np.concatenate([lower, upper]).astype(np.int32)


def lattice(points: FloatArray, uv: FloatArray, *, closed: bool = False) -> Mesh:
    """A surface through ``points`` (rows, columns, 3); ``closed``: last column meets the first.

    Normals are the cross product of the column and the row direction.
    """
    rows, columns = points.shape[:2]
    along = np.gradient(points, axis=0)
    across = np.gradient(points, axis=1)
    if closed:
        seam = (points[:, 1] - points[:, -2]) / 2
        across[:, 0] = across[:, -1] = seam
    normals = unit(np.cross(across, along).astype(np.float32))
    return Mesh(
        points.reshape(-1, 3).astype(np.float32),
        normals.reshape(-1, 3),
        uv.reshape(-1, 2).astype(np.float32),
        _lattice(rows, columns),
    )


def smooth(points: Points, *, steps: int = 5) -> FloatArray:
    """A Catmull-Rom curve through the points (n, d): (steps (n - 1) + 1, d)."""
    knots = np.asarray(points, dtype=np.float64)
    padded = np.concatenate([2 * knots[:1] - knots[1:2], knots, 2 * knots[-1:] - knots[-2:-1]])
    t = (np.arange(steps) / steps)[:, None]
    pieces = []
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        pieces.append(
            0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2)
            + 0.5 * (3 * b - a - 3 * c + d) * t**3
        )
    return np.concatenate([*pieces, knots[-1:]]).astype(np.float32)


def _runs(profile: FloatArray, crease_cos: float) -> list[tuple[int, int]]:
    """Where the profile is smooth: index ranges between its sharp corners."""
    step = np.diff(profile, axis=0)
    step = step / np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-9)
    sharp = np.flatnonzero((step[1:] * step[:-1]).sum(axis=1) < crease_cos) + 1
    ends = [0, *sharp.tolist(), len(profile) - 1]
    return list(pairwise(ends))


def revolve(
    profile: Points | FloatArray,
    *,
    around: int = 40,
    crease_deg: float = 38.0,
) -> Mesh:
    """The surface that (radius, height) points draw about the z axis, from the bottom up.

    u runs once round, 0.5 at the front (-y), growing to the right (+x); v runs along the profile.
    Corners sharper than ``crease_deg`` stay sharp.
    """
    line = np.asarray(profile, dtype=np.float32)
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    u = np.linspace(0, 1, around + 1)
    angle = 2 * np.pi * u
    ring = np.stack([-np.sin(angle), np.cos(angle)], axis=1)  # (around + 1, 2)
    pieces = []
    for first, last in _runs(line, float(np.cos(np.radians(crease_deg)))):
        part = line[first : last + 1]
        points = np.concatenate(
            [
                part[:, None, :1] * ring[None],
                np.broadcast_to(part[:, None, 1:], (len(part), around + 1, 1)),
            ],
            axis=2,
        )
        uv = np.empty((len(part), around + 1, 2))
        uv[..., 0] = u
        uv[..., 1] = (length[first : last + 1] / length[-1])[:, None]
        normals = _ring_normals(part, ring)
        flat = lattice(points.astype(np.float32), uv.astype(np.float32))
        pieces.append(Mesh(flat.points, normals, flat.uv, flat.faces))
    return join(pieces)


def _ring_normals(part: FloatArray, ring: FloatArray) -> FloatArray:
    """Outward normals (n · m, 3) of a revolved profile part: exact at the poles too."""
    tangent = np.gradient(part, axis=0)
    out, up = tangent[:, 1], -tangent[:, 0]
    normals = np.concatenate(
        [
            out[:, None, None] * ring[None],
            np.broadcast_to(up[:, None, None], (len(part), len(ring), 1)),
        ],
        axis=2,
    )
    return unit(normals.reshape(-1, 3).astype(np.float32))


def ball(radius: float, *, squash: float = 1.0, around: int = 36) -> Mesh:
    """A sphere about the origin, its height multiplied by ``squash``."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, around // 2 + 1)
    profile = np.stack([radius * np.cos(angle), radius * squash * np.sin(angle)], axis=1)
    return revolve(profile.astype(np.float32), around=around)


def disc(radius: float, *, around: int = 40) -> Mesh:
    """A flat round plate about the origin that faces +z; the texture's inscribed circle."""
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    return _cap(np.concatenate([rim, rim[:1]]) * floats(radius), 1.0)


def tube(path: Points | FloatArray, radius: float | FloatArray, *, around: int = 12) -> Mesh:
    """A round pipe along a path (n, 3); ``radius`` is one number or one for each path point."""
    line = np.asarray(path, dtype=np.float64)
    forward = unit(np.gradient(line, axis=0).astype(np.float32)).astype(np.float64)
    side = np.cross(forward[0], [0.0, 0.0, 1.0])
    if np.linalg.norm(side) < 1e-3:
        side = np.cross(forward[0], [0.0, 1.0, 0.0])
    radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), len(line))
    angle = np.linspace(0, 2 * np.pi, around + 1)
    rings = []
    for centre, ahead, size in zip(line, forward, radii, strict=True):
        side = side - ahead * (side @ ahead)  # carried along without twist
        side /= np.linalg.norm(side)
        up = np.cross(side, ahead)
        rings.append(centre + size * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * up))
    points = np.stack(rings).astype(np.float32)
    uv = np.stack(np.meshgrid(np.linspace(0, 1, around + 1), np.linspace(0, 1, len(line))), axis=2)
    mesh = lattice(points, uv.astype(np.float32), closed=True)
    outward = mesh.points - np.repeat(line, around + 1, axis=0).astype(np.float32)
    sign = np.sign((outward * mesh.normals).sum(axis=1, keepdims=True))
    return Mesh(mesh.points, mesh.normals * np.where(sign == 0, 1, sign), mesh.uv, mesh.faces)


def sheet(
    width: float,
    height: float,
    *,
    cells: tuple[int, int] = (1, 1),
    relief: Callable[[FloatArray, FloatArray], FloatArray] | None = None,
) -> Mesh:
    """A rectangle in the xy plane about the origin, facing +z; ``relief(x, y)`` lifts it."""
    x, y = np.meshgrid(
        np.linspace(-width / 2, width / 2, cells[0] + 1, dtype=np.float32),
        np.linspace(-height / 2, height / 2, cells[1] + 1, dtype=np.float32),
    )
    z = relief(x, y) if relief is not None else np.zeros_like(x)
    uv = np.stack([x / width + 0.5, y / height + 0.5], axis=2)
    return lattice(np.stack([x, y, z], axis=2), uv)


_CUBE = (  # face normal, its right, its up: front -y, right +x, back +y, left -x, top, bottom
    ((0, -1, 0), (1, 0, 0), (0, 0, 1)),
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ((0, 1, 0), (-1, 0, 0), (0, 0, 1)),
    ((-1, 0, 0), (0, -1, 0), (0, 0, 1)),
    ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
    ((0, 0, -1), (1, 0, 0), (0, -1, 0)),
)


def block(
    width: float, depth: float, height: float, *, bevel: float = 0.0, atlas: bool = False
) -> Mesh:
    """A box about the origin with rounded edges of radius ``bevel``.

    Each face shows the whole texture, or with ``atlas`` its own sixth, left to right: front
    (-y), right, back, left, top, bottom.
    """
    half = np.array([width, depth, height]) / 2
    inner = half - bevel
    pieces = []
    for place, (normal, right, up) in enumerate(_CUBE):
        n, r, t = np.array(normal), np.array(right), np.array(up)
        a = _rounded_steps(float(half @ np.abs(r)), bevel)
        b = _rounded_steps(float(half @ np.abs(t)), bevel)
        cube = n * half + a[None, :, None] * r + b[:, None, None] * t
        core = np.clip(cube, -inner, inner)
        way = cube - core if bevel > 0 else np.broadcast_to(n.astype(float), cube.shape)
        normals = unit(way.astype(np.float32))
        points = core + bevel * normals
        uv = np.stack(np.meshgrid((a - a[0]) / (a[-1] - a[0]), (b - b[0]) / (b[-1] - b[0])), axis=2)
        if atlas:
            uv[..., 0] = (place + np.clip(uv[..., 0], 0.004, 0.996)) / 6
        pieces.append(
            Mesh(
                points.reshape(-1, 3).astype(np.float32),
                normals.reshape(-1, 3),
                uv.reshape(-1, 2).astype(np.float32),
                _lattice(len(b), len(a)),
            )
        )
    return join(pieces)


def _rounded_steps(half: float, bevel: float) -> FloatArray:
    if bevel <= 0:
        return np.array([-half, half], dtype=np.float32)
    edge = half - bevel + bevel * np.tan(np.linspace(0, np.pi / 4, 3))
    return np.concatenate([-edge[::-1], edge]).astype(np.float32)


def slab(outline: FloatArray, thickness: float, *, bevel: float = 0.0) -> Mesh:
    """A plate: a closed outline (n, 2), counter-clockwise and star-shaped about its mean, raised
    from z = 0 to ``thickness``. u, v of both faces span the outline's bounds; the rim takes its
    own from the edge.
    """
    middle = outline.mean(axis=0)
    closed = np.concatenate([outline, outline[:1]]) - middle
    inset = closed * floats(1 - bevel / np.abs(closed).max())
    if bevel > 0:
        rings = [(inset, 0.0), (closed, bevel), (closed, thickness - bevel), (inset, thickness)]
    else:
        rings = [(closed, 0.0), (closed, thickness)]
    points = np.stack(
        [np.column_stack([line, np.full(len(line), z, np.float32)]) for line, z in rings]
    )
    bounds = closed.min(axis=0), closed.max(axis=0)
    uv = (points[..., :2] - bounds[0]) / (bounds[1] - bounds[0])
    rim = lattice(points, uv.astype(np.float32), closed=True)
    outward = np.sign((rim.normals[:, :2] * rim.points[:, :2]).sum(axis=1).mean())
    rim = Mesh(rim.points, rim.normals * floats(outward), rim.uv, rim.faces)
    caps = [_cap(inset, 1.0).moved(move(z=thickness)), _cap(inset, -1.0)]
    return join([rim, *caps]).moved(move(float(middle[0]), float(middle[1])))


def _cap(line: FloatArray, facing: float) -> Mesh:
    """A fan from the origin to a closed line (n, 2) whose last point is its first."""
    flat = np.concatenate([line, np.zeros((1, 2), np.float32)])
    points = np.column_stack([flat, np.zeros(len(flat))]).astype(np.float32)
    normals = np.zeros_like(points)
    normals[:, 2] = facing
    first = np.arange(len(line) - 1)
    faces = np.stack([first, first + 1, np.full_like(first, len(line))], axis=1)
    low, high = line.min(axis=0), line.max(axis=0)
    uv = (flat - low) / (high - low)
    return Mesh(points, normals, uv.astype(np.float32), faces.astype(np.int32))
