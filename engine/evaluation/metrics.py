"""The figures of an evaluation, each a plain function of a ranking or of a map and a mask."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from engine.evaluation.groundtruth import Polygon
from engine.rank.focus import peak
from engine.rank.precision import Relevance
from engine.types import FloatArray, Size

Mask = NDArray[np.bool_]

_RASTER_PX = 1024
"""Longest side of a rasterised mask: far finer than any focus map."""


# --- rankings -------------------------------------------------------------------------------


def precision_at(relevant: Relevance, positives: int, *, k: int) -> float:
    """P@k as the revised Oxford and Paris sets define it: the precision among the first ``k``, or
    among those down to the last positive where that comes sooner. A positive that the ranking lacks
    comes last of all."""
    ranks = np.flatnonzero(relevant) + 1
    depth = min(k, int(ranks[-1])) if len(ranks) == positives else k
    return float((ranks <= depth).sum() / depth)


def recall_at(relevant: Relevance, positives: int, *, k: int) -> float:
    """The share of the positives that are among the first ``k``."""
    return float(relevant[:k].sum() / positives)


def ns_score(relevant: Relevance) -> float:
    """UKBench's N-S: right photos among the top 4 of which the query itself is one, so 1 + the
    positives among the first 3 others; at most 4."""
    return 1.0 + float(relevant[:3].sum())


# --- focus maps -----------------------------------------------------------------------------


def mask_of(polygons: Sequence[Polygon], size: Size) -> Mask:
    """Rasterise what lies in any of the polygons.

    Args:
        polygons: in pixels of the upright photo.
        size: of the upright photo.

    Returns:
        (rows, columns) over the whole photo, longest side at most 1024.
    """
    factor = min(1.0, _RASTER_PX / max(size.w, size.h))
    shape = (max(1, round(size.w * factor)), max(1, round(size.h * factor)))
    canvas = Image.new("L", shape)
    draw = ImageDraw.Draw(canvas)
    for polygon in polygons:
        points = [(x * shape[0] / size.w, y * shape[1] / size.h) for x, y in polygon]
        draw.polygon(points, fill=255)
    return np.asarray(canvas) > 0


def points_into(values: FloatArray, mask: Mask) -> bool:
    """Whether the maximum of a focus map lies in the mask; see `engine.rank.focus.peak`."""
    place = peak(values)
    if place is None:
        return False
    rows, columns = mask.shape
    return bool(
        mask[min(int(place[1] * rows), rows - 1), min(int(place[0] * columns), columns - 1)]
    )


def focus_iou(values: FloatArray, mask: Mask) -> float:
    """Intersection over union of the mask and the map where it reaches half its maximum.

    The map is brought to the mask's resolution bilinearly, as an eye sees it.
    """
    if not values.size or not values.max() > 0:
        return 0.0
    shape = (mask.shape[1], mask.shape[0])
    smooth = np.asarray(Image.fromarray(values).resize(shape, Image.Resampling.BILINEAR))
    warm = smooth >= smooth.max() / 2
    return float((warm & mask).sum() / (warm | mask).sum())
