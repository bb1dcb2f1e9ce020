"""Perspective: corners of turned planes, and pictures drawn onto them."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Corners = NDArray[np.float64]  # (4, 2) in pixels: upper left, upper right, lower right, lower left

_SHRINK = 1.4  # a texture is at most so much finer than what it is drawn onto: no aliasing


def rotation(yaw_deg: float, pitch_deg: float, roll_deg: float) -> NDArray[np.float64]:
    """(3, 3): about the upright axis, then the horizontal one, then the line of sight."""
    yaw, pitch, roll = np.radians([yaw_deg, pitch_deg, roll_deg])
    about_y = np.array([[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]])
    about_x = np.array(
        [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
    )
    about_z = np.array(
        [[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]]
    )
    return np.asarray(about_z @ about_x @ about_y)


def projected(points: NDArray[np.float64], *, distance: float) -> NDArray[np.float64]:
    """Points (n, 3), x right, y down, z away, seen from ``distance`` before the origin: (n, 2)."""
    return np.asarray(points[:, :2] * (distance / (distance + points[:, 2:])))


def rectangle(width: float, height: float) -> Corners:
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float64)


def turned(width: float, height: float, turn: NDArray[np.float64], *, distance: float) -> Corners:
    """Corners about the origin of a turned rectangle; ``distance`` in its longest side."""
    flat = rectangle(width, height) - (width / 2, height / 2)
    space = np.concatenate([flat, np.zeros((4, 1))], axis=1) @ turn.T
    return projected(space, distance=distance * max(width, height))


def homography(source: Corners, target: Corners) -> NDArray[np.float64]:
    """The 8 numbers that map ``source`` to ``target``: x' = (ax + by + c) / (gx + hy + 1)."""
    rows, values = [], []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return np.asarray(np.linalg.solve(np.array(rows), np.array(values)))


def drawn(picture: Image.Image, corners: Corners, size: tuple[int, int]) -> Image.Image:
    """An RGBA picture of ``size`` with ``picture`` (RGBA) on ``corners``, clear elsewhere."""
    longest = max(float(np.ptp(corners[:, 0])), float(np.ptp(corners[:, 1])), 1.0)
    finer = int(max(picture.size) / (longest * _SHRINK))
    small = picture.reduce(finer) if finer > 1 else picture
    framed = Image.new("RGBA", (small.width + 2, small.height + 2))  # a clear rim: soft edges
    framed.paste(small, (1, 1))
    inner = rectangle(*small.size) + 1
    numbers = tuple(homography(corners, inner))
    return framed.transform(size, Image.Transform.PERSPECTIVE, numbers, Image.Resampling.BICUBIC)


def tilted(
    picture: Image.Image, rng: np.random.Generator, *, yaw_deg: float, pitch_deg: float
) -> Image.Image:
    """An RGBA picture seen from up to so far beside and above or below, a little rolled."""
    yaw, pitch = rng.uniform(-yaw_deg, yaw_deg), rng.uniform(-pitch_deg, pitch_deg)
    turn = rotation(float(yaw), float(pitch), float(rng.normal(0, 10)))
    corners = turned(picture.width, picture.height, turn, distance=float(rng.uniform(2, 5)))
    lowest, extent = corners.min(axis=0), np.ptp(corners, axis=0)
    return cropped(drawn(picture, corners - lowest + 1, (int(extent[0]) + 2, int(extent[1]) + 2)))


def cropped(picture: Image.Image) -> Image.Image:
    """An RGBA picture without its clear borders; never empty."""
    bounds = picture.getchannel("A").point(lambda value: 255 * (value > 40)).getbbox()
    return picture.crop(bounds) if bounds else picture
