"""Pictures of a step, made anew from their files and the seeds of their augmentation.

Revaud et al. 2019, section 4.1: colour jitter, random scale, rotation and crop. Imports torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torchvision.transforms import v2

from engine.config import DecodeSettings
from engine.errors import PhotoError, TrainingError
from engine.media.decode import decode
from engine.types import Picture, PixelArray

MOST_PIXELS = DecodeSettings().max_pixels
"""As where photos are first looked through: what is readable there is readable here."""

_SPARE = 1.5
"""Photos are decoded this much larger than the crop: a crop of less than all of one is seldom
enlarged."""


@dataclass(frozen=True, slots=True)
class Augmentation:
    """``crop_px``: side of the square that the network sees. ``smallest``: the least share of a
    photo's area that a crop takes. ``degrees``: how far it is turned at most. ``blur``: how often
    a picture is blurred."""

    crop_px: int = 224
    smallest: float = 0.3
    degrees: float = 15.0
    brightness: float = 0.4
    hue: float = 0.05
    blur: float = 0.2

    def transform(self) -> v2.Transform:
        """(3, H, W) uint8 → (3, crop_px, crop_px) uint8, by torch's random numbers."""
        jitter = v2.ColorJitter(self.brightness, self.brightness, self.brightness, self.hue)
        return v2.Compose(
            [
                v2.RandomApply([v2.RandomRotation(self.degrees, v2.InterpolationMode.BILINEAR)]),
                v2.RandomResizedCrop(self.crop_px, (self.smallest, 1.0), antialias=True),
                v2.RandomApply([jitter], 0.8),
                v2.RandomApply([v2.GaussianBlur(5, (0.3, 1.5))], self.blur),
            ]
        )


class AugmentedBatch:
    """The pictures of a step as `engine.training.three_stage` wants them. No picture is held: the
    same seed makes the same pixels."""

    def __init__(
        self,
        photos: Sequence[Path],
        seeds: Sequence[int],
        augmentation: Augmentation,
        *,
        mean: Sequence[float],
        std: Sequence[float],
    ) -> None:
        """``mean``, ``std``: of red, green, blue on the scale 0..255."""
        self._photos = photos
        self._seeds = seeds
        self._side_px = round(_SPARE * augmentation.crop_px)
        self._transform = augmentation.transform()
        self._mean, self._std = mean, std

    def __len__(self) -> int:
        return len(self._photos)

    def pixels(self, start: int, stop: int) -> Tensor:
        """(stop - start, 3, crop_px, crop_px) float32.

        Raises:
            TrainingError: a photo cannot be read any more.
        """
        pictures = [self._picture(place) for place in range(start, stop)]
        return normalised(torch.stack(pictures), mean=self._mean, std=self._std)

    def _picture(self, place: int) -> Tensor:
        pixels = pixels_of(self._photos[place], max_side_px=self._side_px)
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self._seeds[place])  # the CPU's, and no other
            changed: Tensor = self._transform(torch.from_numpy(pixels).permute(2, 0, 1))
        return changed


def pixels_of(photo: Path, *, max_side_px: int) -> PixelArray:
    """(H, W, 3) uint8 of a photo.

    Raises:
        TrainingError: it cannot be read.
    """
    try:
        decoded = decode(Picture(photo), max_side_px=max_side_px, max_pixels=MOST_PIXELS)
    except PhotoError as error:
        raise TrainingError(f"{photo} cannot be read: {error.reason}") from error
    return decoded.pixels


def normalised(pictures: Tensor, *, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """(n, 3, H, W) uint8 → float32 as the network sees them."""
    shape = (1, 3, 1, 1)
    less = pictures.float() - torch.from_numpy(np.reshape(mean, shape).astype(np.float32))
    return less / torch.from_numpy(np.reshape(std, shape).astype(np.float32))
