"""A network that costs nothing: the mean colours of a photo's quarters."""

from collections.abc import Sequence

import numpy as np

from engine.network.network import PhotoFeatures
from engine.types import FloatArray, PixelArray

DIM = 13

_QUARTERS = np.array(
    [[0, 0, 0.5, 0.5], [0.5, 0, 1, 0.5], [0, 0.5, 0.5, 1], [0.5, 0.5, 1, 1]], np.float32
)


class FastExtractor:
    """Implements engine.indexing.parts.Extractor. The same pixels give the same numbers.

    ``shapes`` remembers what it was given.
    """

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    def extract(self, images: Sequence[PixelArray]) -> list[PhotoFeatures]:
        """Descriptor of 13 values, four regions, one for each quarter."""
        self.shapes += [image.shape for image in images]
        return [_features(image) for image in images]


def _features(image: PixelArray) -> PhotoFeatures:
    h, w = image.shape[:2]
    corners = (_QUARTERS * [w, h, w, h]).astype(int)
    means = np.array(
        [
            image[y0 : max(y1, y0 + 1), x0 : max(x1, x0 + 1)].mean(axis=(0, 1)) / 255
            for x0, y0, x1, y1 in np.minimum(corners, [w - 1, h - 1, w, h])
        ],
        np.float32,
    )  # (4, 3)
    descriptor = _unit(np.append(means.ravel(), 1).astype(np.float32)[None])[0]
    regions = np.zeros((4, DIM), np.float32)
    regions[:, :3] = means
    regions[:, -1] = 1
    return PhotoFeatures(descriptor, _unit(regions), _QUARTERS)


def _unit(rows: FloatArray) -> FloatArray:
    unit: FloatArray = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
