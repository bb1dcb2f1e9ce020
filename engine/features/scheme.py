"""The base regions that feature settings ask for, on any feature map."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.config import FeatureSettings, Pooling, RegionScheme
from engine.features.fmp import channel_regions, channel_weights
from engine.features.grid import CellArray, boxes_of, every_cell, masks_of, ospp, squares
from engine.features.head import Head, through
from engine.features.pooling import pool
from engine.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class BaseRegions:
    """``features``: (R, C) float32 unit rows. ``boxes``: (R, 4) x0, y0, x1, y1 as fractions of the
    photo; of regions without edges the box of what has at least half their largest weight.
    ``weights``: (R, h, w) of every cell in each region."""

    features: FloatArray
    boxes: FloatArray
    weights: NDArray[np.generic]


def squares_of(settings: FeatureSettings, h: int, w: int) -> CellArray | None:
    """(R, 4) the squares of a map of ``h`` × ``w`` cells; None where regions are none (FMP)."""
    match settings.regions:
        case RegionScheme.OSPP:
            return ospp(h, w, settings.levels)
        case RegionScheme.SQUARES:
            return squares(h, w, range(min(settings.levels), max(settings.levels) + 1))
        case RegionScheme.CELLS:
            return every_cell(h, w)
        case RegionScheme.FMP:
            return None


def base_regions(
    feature_map: FloatArray,
    settings: FeatureSettings,
    *,
    p: float,
    eps: float,
    head: Head | None = None,
) -> BaseRegions:
    """The base regions of one map (C, h, w) with their features: the way that fits them all.

    ``p`` and ``eps``: of GeM pooling. ``head``: what follows it, or None. Feature map
    pooling pools by sum, whatever the settings say (Cao et al. 2016, section 3.2).
    """
    h, w = feature_map.shape[1:]
    cells = squares_of(settings, h, w)
    if cells is not None:
        features = through(
            head, pool(feature_map, cells, settings.pooling, p=p, eps=eps, unit=head is None)
        )
        return BaseRegions(features, boxes_of(cells, h=h, w=w), masks_of(cells, h=h, w=w))
    groups = channel_regions(feature_map, settings.clusters or None, clustering=settings.clustering)
    weights = channel_weights(feature_map, groups.clusters)
    features = groups.features
    if head is not None:
        features = head.apply(pool(feature_map, weights, Pooling.SUM, unit=False))
    return BaseRegions(features, _main_boxes(weights), weights)


def pooling_of(settings: FeatureSettings) -> Pooling:
    """How regions, and the queries that meet them, are pooled under these settings."""
    return Pooling.SUM if settings.regions is RegionScheme.FMP else settings.pooling


def _main_boxes(weights: NDArray[np.floating]) -> FloatArray:
    boxes = np.zeros((len(weights), 4), dtype=np.float32)
    for box, region in zip(boxes, weights, strict=True):
        down, across = np.nonzero(region >= region.max() / 2)
        box[:] = (
            across.min() / region.shape[1],
            down.min() / region.shape[0],
            (across.max() + 1) / region.shape[1],
            (down.max() + 1) / region.shape[0],
        )
    return boxes
