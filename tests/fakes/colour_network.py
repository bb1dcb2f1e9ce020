"""A network without weights: a feature map that says how much of each colour a cell has."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.config import FeatureSettings
from engine.features.grid import boxes_of, ospp
from engine.network.manifest import NetworkManifest
from engine.network.network import PhotoFeatures
from engine.network.registry import DEFAULT, manifest
from engine.types import FloatArray, PixelArray

# The corners of the colour cube and their midpoints.
_COLOURS = np.array([[r, g, b] for r in (0, 1, 2) for g in (0, 1, 2) for b in (0, 1, 2)]) * 127.5
DIM = len(_COLOURS)
CELL_PX = 8


class ColourNetwork:
    """Implements the networks of engine.indexing.parts and engine.searching.parts: descriptors and
    regions are GeM-pooled as a real network's are, from cells of 8 × 8 pixels."""

    def __init__(self, features: FeatureSettings) -> None:
        self._features = features
        self._manifest = replace(manifest(DEFAULT), name="colours", dim=DIM, stride=CELL_PX)

    @property
    def manifest(self) -> NetworkManifest:
        return self._manifest

    @property
    def centre(self) -> FloatArray | None:
        return None

    @property
    def head(self) -> None:
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    def extract(self, images: Sequence[PixelArray]) -> list[PhotoFeatures]:
        return [self._features_of(image) for image in images]

    def descriptor(self, image: PixelArray) -> FloatArray:
        return self._pooled(self.feature_map(image))

    def look(self, image: PixelArray, levels: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        feature_map = self.feature_map(image)
        h, w = feature_map.shape[1:]
        cells = ospp(h, w, levels) if levels else np.array([[0, 0, w, h]])
        parts = [self._pooled(feature_map[:, y0:y1, x0:x1]) for x0, y0, x1, y1 in cells]
        return self._pooled(feature_map), np.stack(parts)

    def feature_map(self, image: PixelArray) -> FloatArray:
        rows, columns = (-(-side // CELL_PX) for side in image.shape[:2])
        fill = [(0, rows * CELL_PX - image.shape[0]), (0, columns * CELL_PX - image.shape[1])]
        whole = np.pad(image, [*fill, (0, 0)], mode="edge").astype(np.float32)
        apart = np.linalg.norm(whole[:, :, None, :] - _COLOURS, axis=3)  # (H, W, C)
        near = np.maximum(1 - apart / 100, 0)
        cells = near.reshape(rows, CELL_PX, columns, CELL_PX, DIM).mean(axis=(1, 3))
        return np.ascontiguousarray(cells.transpose(2, 0, 1), dtype=np.float32)

    def _features_of(self, image: PixelArray) -> PhotoFeatures:
        feature_map = self.feature_map(image)
        h, w = feature_map.shape[1:]
        cells = ospp(h, w, self._features.levels)
        regions = [self._pooled(feature_map[:, y0:y1, x0:x1]) for x0, y0, x1, y1 in cells]
        return PhotoFeatures(
            self._pooled(feature_map), np.stack(regions), boxes_of(cells, h=h, w=w)
        )

    def _pooled(self, cells: NDArray[np.float32]) -> FloatArray:
        powers = np.maximum(cells, self._manifest.gem_eps) ** self._manifest.gem_p
        pooled = powers.mean(axis=(1, 2)) ** (1 / self._manifest.gem_p)
        unit: FloatArray = (pooled / np.linalg.norm(pooled)).astype(np.float32)
        return unit
