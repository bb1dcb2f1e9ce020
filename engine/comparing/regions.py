"""Base regions of a photo: their pooled features, and where a match of them sits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.comparing.extraction import HalfArray
from engine.comparing.kept import Arrays
from engine.config import Clustering, FeatureSettings, Pooling
from engine.features.fmp import channel_regions
from engine.features.grid import CellArray, ospp
from engine.features.pooling import pool
from engine.rank.attribution import attribution
from engine.rank.focus import channel_focus, focus_map_from
from engine.searching.query import PHOTO_LEVELS
from engine.types import FloatArray

Float64 = NDArray[np.float64]

PYRAMID_LEVELS = 3


class Regions(Protocol):
    """A way to lay and pool base regions. ``key``: for files. ``pooling``: of the features."""

    @property
    def key(self) -> str: ...

    @property
    def pooling(self) -> Pooling: ...

    def of(self, feature_map: HalfArray) -> Arrays:
        """``features``: (K, C) float16, rows of unit length; and whatever ``focus`` needs."""

    def focus(self, feature_map: HalfArray, kept: Arrays, z: Float64, query: Float64) -> FloatArray:
        """(h, w) in [0, 1] where the merge ``z`` (K,) of the regions matches ``query`` (C,)."""


@dataclass(frozen=True, slots=True)
class Squares:
    """Squares of the map. Focus: the exact attribution, made fit for the eye."""

    key: str
    pooling: Pooling
    lay: Callable[[int, int], CellArray]

    def of(self, feature_map: HalfArray) -> Arrays:
        """See `Regions`."""
        cells = self.lay(*feature_map.shape[1:])
        return {"features": pool(feature_map, cells, self.pooling).astype(np.float16)}

    def focus(self, feature_map: HalfArray, kept: Arrays, z: Float64, query: Float64) -> FloatArray:
        """See `Regions`."""
        cells = self.lay(*feature_map.shape[1:])
        return focus_map_from(attribution(feature_map, cells, z, query, pooling=self.pooling))


@dataclass(frozen=True, slots=True)
class ChannelGroups:
    """Feature map pooling with K groups. Focus: the paper's Σ z_d X_d."""

    k: int
    clustering: Clustering

    @property
    def key(self) -> str:
        """For files."""
        return f"fmp-{self.clustering}-{self.k}"

    @property
    def pooling(self) -> Pooling:
        """Always the sum."""
        return Pooling.SUM

    def of(self, feature_map: HalfArray) -> Arrays:
        """See `Regions`."""
        found = channel_regions(feature_map, self.k, clustering=self.clustering)
        return {"features": found.features.astype(np.float16), "clusters": found.clusters}

    def focus(self, feature_map: HalfArray, kept: Arrays, z: Float64, query: Float64) -> FloatArray:
        """See `Regions`."""
        return channel_focus(feature_map, kept["clusters"], z)


def pyramid(pooling: Pooling) -> Squares:
    """The overlapped spatial pyramid of the paper, L = 3."""
    return Squares(f"ospp-{PYRAMID_LEVELS}-{pooling}", pooling, _pyramid)


def fine_squares() -> Squares:
    """The GeM-pooled squares of the default, as every photo of a library has them."""
    levels = "-".join(map(str, FeatureSettings().levels))
    return Squares(f"ospp-levels-{levels}-gem", Pooling.GEM, _fine)


def query_parts(feature_map: HalfArray) -> FloatArray:
    """(P, C) the GeM-pooled parts of a whole photo that asks."""
    h, w = feature_map.shape[1:]
    return pool(feature_map, ospp(h, w, PHOTO_LEVELS), Pooling.GEM)


def _pyramid(h: int, w: int) -> CellArray:
    return ospp(h, w, PYRAMID_LEVELS)


def _fine(h: int, w: int) -> CellArray:
    return ospp(h, w, FeatureSettings().levels)
