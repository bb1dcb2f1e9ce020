"""From whatever colours a file holds to 8-bit sRGB.

The steps are apart because the picture is resized between them: `plain` (full size, only for the
modes that cannot be resized well), then the resize, then `to_srgb` (small).
"""

import io
import logging
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

from engine.types import FloatArray, PixelArray

log = logging.getLogger(__name__)

_PLAIN = frozenset({"L", "LA", "RGB", "RGBA", "CMYK"})
_DEEP = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})
_GREY_WITH_ALPHA = frozenset({"L", "1"})
_SPACES = {"L": "GRAY", "RGB": "RGB", "CMYK": "CMYK"}

_CONVERT = ImageCms.Flags.BLACKPOINTCOMPENSATION
_SRGB = ImageCms.createProfile("sRGB")


def plain(image: Image.Image) -> Image.Image:
    """The same picture in a mode whose samples may be averaged: L, LA, RGB, RGBA or CMYK."""
    if image.mode in _DEEP:
        return Image.fromarray(_eight_bits(np.asarray(image)))
    if image.has_transparency_data and image.mode not in {"LA", "RGBA"}:
        return image.convert("LA" if image.mode in _GREY_WITH_ALPHA else "RGBA")
    if image.mode in _PLAIN:
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """A plain picture as sRGB, mode RGB: alpha over white, then the embedded ICC profile.

    A profile that is damaged or belongs to other channels is left aside, as if there were none:
    RGB and grey then count as sRGB, CMYK is converted by its plain formula.
    """
    image = _over_white(image)
    if not profile:
        return image.convert("RGB")
    if image.mode == "L" and _space_of(profile) == "RGB":
        image = image.convert("RGB")
    transform = _transform(profile, image.mode)
    if transform is None:
        return image.convert("RGB")
    return transform.apply(image)


def _over_white(image: Image.Image) -> Image.Image:
    if image.mode not in {"LA", "RGBA"}:
        return image
    ground = Image.new(image.mode[:-1], image.size, "white")
    ground.paste(image.convert(ground.mode), mask=image.getchannel("A"))
    return ground


def _eight_bits(values: NDArray[Any]) -> PixelArray:
    """Deep grey to 8 bits.

    16-bit integers keep their full scale. 32-bit integers and floats say nowhere what white is:
    1.0 for floats up to 1, else 255 or 65535 where all values lie below, else the largest value.
    """
    if values.dtype.itemsize == 2:
        narrow: PixelArray = ((values.astype(np.uint32) * 255 + 32_767) // 65_535).astype(np.uint8)
        return narrow
    levels = np.nan_to_num(values.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    top = float(levels.max(initial=0.0))
    whites = (1.0,) if values.dtype.kind == "f" else ()
    white = next((w for w in (*whites, 255.0, 65_535.0) if top <= w), top)
    scaled: FloatArray = np.clip(levels * (255.0 / white) + 0.5, 0, 255)
    return scaled.astype(np.uint8)


# --- profiles ---------------------------------------------------------------------------------


def _space_of(profile: bytes) -> str | None:
    try:
        opened = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        return opened.profile.xcolor_space.strip()
    except Exception as error:  # noqa: BLE001  (Pillow and lcms raise many types here)
        log.debug("left a colour profile aside: %s", error)
        return None


@lru_cache(maxsize=16)
def _transform(profile: bytes, mode: str) -> ImageCms.ImageCmsTransform | None:
    """From a profile to sRGB, relative colorimetric; None where there is nothing to do or the
    profile is of no use."""
    if _space_of(profile) != _SPACES[mode]:
        return None
    try:
        transform = ImageCms.ImageCmsTransform(
            ImageCms.ImageCmsProfile(io.BytesIO(profile)),
            ImageCms.ImageCmsProfile(_SRGB),
            mode,
            "RGB",
            ImageCms.Intent.RELATIVE_COLORIMETRIC,
            flags=_CONVERT,
        )
        return None if mode != "CMYK" and _changes_nothing(transform, mode) else transform
    except Exception as error:  # noqa: BLE001
        log.debug("left a colour profile aside: %s", error)
        return None


def _changes_nothing(transform: ImageCms.ImageCmsTransform, mode: str) -> bool:
    """Most profiles are some edition of sRGB: 4,096 colours tell, and save every photo the pass."""
    steps = np.arange(16, dtype=np.uint8) * 17
    cube = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(64, 64, 3)
    before = Image.fromarray(cube).convert(mode)
    after = np.asarray(transform.apply(before), dtype=np.int16)
    return bool(np.abs(after - np.asarray(before.convert("RGB"), dtype=np.int16)).max() <= 1)
