"""From linear light to a photograph: depth blur, glow, exposure, film curve, grain."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PIL import Image

from installer.sample.camera import Camera
from installer.sample.mesh import FloatArray, floats
from installer.sample.texture import encoded

_BLURS_PX = (1.2, 2.6, 5.0, 9.5, 15.0)


@dataclass(frozen=True, slots=True)
class Film:
    """``stops``: exposure beside the automatic one. ``warmth``: -1 blue … 1 amber. ``grain``:
    noise in parts of the full range. ``contrast`` and ``saturation``: 1 as it is."""

    stops: float = 0.0
    warmth: float = 0.0
    grain: float = 0.006
    contrast: float = 1.06
    saturation: float = 1.08
    vignette: float = 0.16


def reduced(picture: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """A picture (rows, columns[, channels]) averaged down to ``shape``."""
    layers = picture[..., None] if picture.ndim == 2 else picture
    made = [
        np.asarray(
            Image.fromarray(np.ascontiguousarray(layers[..., index])).resize(
                (shape[1], shape[0]), Image.Resampling.BOX
            )
        )
        for index in range(layers.shape[2])
    ]
    whole = np.stack(made, axis=2)
    return whole[..., 0] if picture.ndim == 2 else whole


def blurred(picture: FloatArray, sigma_px: float) -> FloatArray:
    """Three box means in each direction, (rows, columns, channels): close to a Gaussian."""
    half = max(round((np.sqrt(4 * sigma_px**2 + 1) - 1) / 2), 1)
    result = picture
    for axis in (0, 1):
        for _ in range(3):
            edge = [(0, 0)] * 3
            edge[axis] = (half + 1, half)
            sums = np.cumsum(np.pad(result, edge, mode="edge"), axis=axis, dtype=np.float32)
            count = 2 * half + 1
            high = np.take(sums, range(count, sums.shape[axis]), axis=axis)
            low = np.take(sums, range(sums.shape[axis] - count), axis=axis)
            result = (high - low) / count
    return result


def depth_blur(picture: FloatArray, depth: FloatArray, camera: Camera) -> FloatArray:
    """What lies before or behind the sharp distance is blurred by its circle of confusion."""
    shape = (picture.shape[0], picture.shape[1])
    if camera.aperture_cm <= 0:
        return picture
    sharp = camera.sharp_cm
    focal = camera.focal_px(shape)
    away = np.minimum(depth, 5_000)
    confusion = camera.aperture_cm * np.abs(away - sharp) / np.maximum(away, 1) / sharp * focal
    radius = np.minimum(confusion / 2, _BLURS_PX[-1])
    result = picture.copy()
    levels = (0.0, *_BLURS_PX)
    for below, level in pairwise(levels):
        if not (radius > below).any():
            break
        # sharp things must not bleed into the blurred background behind them
        weight = np.clip((radius - below * 0.5) / (level - below * 0.5), 0.02, 1)[..., None]
        stacked = np.concatenate([picture * weight, weight], axis=2)
        soft = _blurred_at_scale(stacked, level)
        soft = floats(soft[..., :3] / np.maximum(soft[..., 3:], 1e-4))
        share = np.clip((radius - below) / (level - below), 0, 1)[..., None]
        result += (soft - result) * share
    return result


def _blurred_at_scale(picture: FloatArray, sigma_px: float) -> FloatArray:
    """As `blurred`; wide blurs on a reduced picture."""
    factor = 1 if sigma_px < 2 else 2 if sigma_px < 4 else 4
    if factor == 1:
        return blurred(picture, sigma_px)
    rows, columns = picture.shape[:2]
    small = reduced(picture, (-(-rows // factor), -(-columns // factor)))
    soft = blurred(small, sigma_px / factor)
    layers = [
        np.asarray(
            Image.fromarray(np.ascontiguousarray(soft[..., index])).resize(
                (columns, rows), Image.Resampling.BICUBIC
            )
        )
        for index in range(soft.shape[2])
    ]
    return np.stack(layers, axis=2)


def develop(picture: FloatArray, film: Film, *, seed: int) -> Image.Image:
    """The finished photograph of linear light (rows, columns, 3)."""
    rows, columns = picture.shape[:2]
    grey = picture @ floats([0.2126, 0.7152, 0.0722])
    middle = np.exp(np.log(np.clip(grey, 0.02, 2.0)).mean())
    # as bright as the middle asks for, but not so that the lightest parts wash out
    gain = min(0.33 / middle, 1.7 / float(np.percentile(grey[::4, ::4], 96)))
    light = picture * floats(gain * 2.0**film.stops)
    light *= floats([1 + 0.09 * film.warmth, 1.0, 1 - 0.12 * film.warmth])
    halo = _blurred_at_scale(np.clip(light - 1.1, 0, 3), 9.0)
    light = light + halo * 0.25
    y, x = np.mgrid[-1 : 1 : rows * 1j, -1 : 1 : columns * 1j]
    light *= (1 - film.vignette * np.clip((x**2 + y**2) / 2, 0, 1) ** 1.3)[..., None]
    curved = _curve(light.astype(np.float32))
    grey = (curved @ floats([0.2126, 0.7152, 0.0722]))[..., None]
    curved = floats(grey + (curved - grey) * film.saturation)
    shown = encoded(np.clip(curved, 0, 1))
    shown = 0.5 + (shown - 0.5) * film.contrast
    noise = np.random.default_rng(seed).standard_normal((rows, columns, 1)).astype(np.float32)
    shown = np.clip(shown + noise * film.grain, 0, 1)
    return Image.fromarray(np.rint(shown * 255).astype(np.uint8))


def _curve(light: FloatArray) -> FloatArray:
    """A film curve: straight in the dark, a long shoulder in the light (Hable's operator)."""

    def bend(x: FloatArray) -> FloatArray:
        return np.asarray(
            (x * (0.22 * x + 0.03) + 0.002) / (x * (0.22 * x + 0.3) + 0.06) - 0.002 / 0.06
        )

    return np.asarray(bend(light * 1.9) / bend(floats([6.0])), dtype=np.float32)
