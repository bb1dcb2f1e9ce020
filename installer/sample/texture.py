"""Textures: pyramids of halved pictures, sampled where a triangle shows them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from installer.sample.mesh import FloatArray, floats

Colour = tuple[float, float, float]
"""Linear red, green, blue; 1 is white."""


def linear(encoded: FloatArray) -> FloatArray:
    """sRGB values in [0, 1] to linear light."""
    low = encoded / 12.92
    high = ((np.maximum(encoded, 0.0) + 0.055) / 1.055) ** 2.4
    return np.where(encoded <= 0.04045, low, high).astype(np.float32)


def encoded(light: FloatArray) -> FloatArray:
    """Linear light in [0, 1] to sRGB values."""
    high = 1.055 * np.maximum(light, 1e-6) ** (1 / 2.4) - 0.055
    return np.where(light <= 0.0031308, light * 12.92, high).astype(np.float32)


def rgb(code: str) -> Colour:
    """The linear colour of a code such as "#e8c170"."""
    values = linear(np.array([int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)], np.float32))
    return (float(values[0]), float(values[1]), float(values[2]))


@dataclass(frozen=True, slots=True, eq=False)
class Texture:
    """``levels[0]`` (rows, columns, channels) is the picture, each next one is half as large.

    Linear light for colours, centimetres or plain numbers for reliefs. Coordinates repeat.
    """

    levels: tuple[FloatArray, ...]
    _flat: FloatArray = field(repr=False)
    _starts: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, picture: FloatArray) -> "Texture":
        level = np.asarray(picture, dtype=np.float32)
        if level.ndim == 2:
            level = level[..., None]
        levels = [level]
        while min(level.shape[:2]) >= 4:
            rows, columns = level.shape[0] // 2 * 2, level.shape[1] // 2 * 2
            even = level[:rows, :columns]
            four = even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2]
            level = floats(four / 4)
            levels.append(level)
        sizes = [each.shape[0] * each.shape[1] for each in levels]
        flat = np.concatenate([each.reshape(-1, each.shape[2]) for each in levels])
        return cls(tuple(levels), flat, np.cumsum([0, *sizes[:-1]]))

    @classmethod
    def from_picture(cls, picture: Image.Image) -> "Texture":
        return cls.of(linear(np.asarray(picture.convert("RGB"), dtype=np.float32) / floats(255)))

    def sample(self, uv: FloatArray, footprint: FloatArray) -> FloatArray:
        """Values (n, channels) at ``uv`` (n, 2), v up; ``footprint`` (n,): how much of the
        texture's side one pixel spans, which chooses the level."""
        rows, columns = self.levels[0].shape[:2]
        level = np.log2(np.maximum(footprint * np.sqrt(rows * columns), 1e-6))
        chosen = np.clip(np.rint(level), 0, len(self.levels) - 1).astype(np.int64)
        heights = np.array([each.shape[0] for each in self.levels])[chosen]
        widths = np.array([each.shape[1] for each in self.levels])[chosen]
        x = (uv[:, 0] % 1.0) * widths - 0.5
        y = ((1.0 - uv[:, 1]) % 1.0) * heights - 0.5
        left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
        a = (x - left).astype(np.float32)[:, None]
        b = (y - top).astype(np.float32)[:, None]
        x0, x1 = left % widths, (left + 1) % widths
        row0 = self._starts[chosen] + (top % heights) * widths
        row1 = self._starts[chosen] + ((top + 1) % heights) * widths
        flat = self._flat
        upper = flat[row0 + x0] * (1 - a) + flat[row0 + x1] * a
        lower = flat[row1 + x0] * (1 - a) + flat[row1 + x1] * a
        return np.asarray(upper * (1 - b) + lower * b)
