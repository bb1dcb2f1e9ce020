"""Light on a thing, and what a camera makes of a scene: exposure, colour, blur, noise."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from installer.sample.mesh import FloatArray, floats

_GAMMA = 2.2


@dataclass(frozen=True, slots=True)
class Lamp:
    """``way`` (3,) points from the scene to the light: x right, y down, z away from the camera;
    ``warmth``: above 0 red, below 0 blue; ``fill``: the share of light from all round."""

    way: FloatArray
    warmth: float
    fill: float

    @classmethod
    def chance(cls, rng: np.random.Generator) -> "Lamp":
        way = np.array(
            [rng.normal(0, 0.8), rng.normal(-0.6, 0.5), -abs(rng.normal(0.8, 0.4)) - 0.2]
        )
        return cls(
            floats(way / np.linalg.norm(way)),
            float(rng.normal(0, 0.1)),
            float(rng.uniform(0.3, 0.8)),
        )

    def on(self, normals: FloatArray) -> FloatArray:
        """Brightness (...,) of surfaces with ``normals`` (..., 3); about 1 towards the camera."""
        facing = np.clip(normals @ self.way, 0, None)
        front = max(float(-self.way[2]), 0.2)
        return np.asarray(self.fill + (1 - self.fill) * facing / front, dtype=np.float32)

    def gloss(self, normals: FloatArray, sharpness: float) -> FloatArray:
        """Blinn's highlight (...,), 0 … 1."""
        half = self.way + floats([0, 0, -1])
        half = half / np.linalg.norm(half)
        return np.asarray(np.clip(normals @ half, 0, 1) ** sharpness, dtype=np.float32)


def shaded(picture: Image.Image, light: FloatArray, shine: FloatArray | float) -> Image.Image:
    """An RGBA picture under ``light`` (rows, columns) and ``shine`` added; alpha stays."""
    pixels = np.asarray(picture, dtype=np.float32)
    lit = pixels[..., :3] * (np.clip(light, 0, 3) ** floats(1 / _GAMMA))[..., None]
    lit += np.asarray(shine, dtype=np.float32)[..., None] * 255
    pixels = np.concatenate([lit, pixels[..., 3:]], axis=2)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8), "RGBA")


def ramp(rng: np.random.Generator, shape: tuple[int, int], strength: float) -> FloatArray:
    """Light falling off in a random direction: (rows, columns) about 1, from 1 - strength up."""
    angle = rng.uniform(0, 2 * np.pi)
    y, x = np.linspace(-1, 1, shape[0])[:, None], np.linspace(-1, 1, shape[1])[None, :]
    along = x * np.cos(angle) + y * np.sin(angle)
    if rng.random() < 0.3:  # the hard edge of a shadow
        along = np.tanh((along - rng.uniform(-0.7, 0.7)) * rng.uniform(4, 20))
    return np.asarray(1 - strength * (0.5 - 0.5 * along / 1.42), dtype=np.float32)


def photographed(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """An RGB picture as some camera takes it under some light: shadow, exposure, contrast, colour
    temperature, vignette, blur, noise."""
    soft = picture
    if rng.random() < 0.5:
        soft = soft.filter(ImageFilter.GaussianBlur(float(rng.gamma(1.5, 0.5))))
    pixels = np.asarray(soft, dtype=np.float32) / 255
    rows, columns = pixels.shape[:2]
    light = ramp(rng, (rows, columns), float(rng.uniform(0, 0.6)))
    warmth, tint = rng.normal(0, 0.09), rng.normal(0, 0.03)
    colour = floats([1 + warmth, 1 + tint, 1 - warmth]) * floats(2 ** rng.uniform(-0.55, 0.45))
    pixels = pixels * (light[..., None] * colour)
    grey = pixels.mean(axis=2, keepdims=True)
    pixels = grey + (pixels - grey) * floats(rng.uniform(0.6, 1.25))
    pixels = 0.45 + (pixels - 0.45) * floats(rng.uniform(0.7, 1.25))
    if rng.random() < 0.35:
        y, x = np.linspace(-1, 1, rows)[:, None], np.linspace(-1, 1, columns)[None, :]
        pixels *= floats(1 - rng.uniform(0.1, 0.35) * (x * x + y * y) / 2)[..., None]
    pixels = np.clip(pixels, 0, 1) ** floats(rng.uniform(0.8, 1.3))
    if rng.random() < 0.7:
        coarse = rng.random() < 0.3
        shape = (rows // 2 + 1, columns // 2 + 1, 3) if coarse else (rows, columns, 3)
        grain = rng.standard_normal(shape, dtype=np.float32) * floats(rng.gamma(1.5, 0.012))
        if coarse:
            grain = grain.repeat(2, axis=0).repeat(2, axis=1)[:rows, :columns]
        pixels = pixels + grain
    return Image.fromarray((np.clip(pixels, 0, 1) * 255).astype(np.uint8))
