"""The figures of an evaluation, each a plain function of a ranking or of a map and a mask."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from engine.evaluation.groundtruth import Polygon
from engine.rank.focus import peak
from engine.types import FloatArray, Size

Mask = NDArray[np.bool_]
Relevance = NDArray[np.bool_]

_RASTER_PX = 1024
"""Longest side of a rasterised mask: far finer than any focus map."""


# --- rankings -------------------------------------------------------------------------------


def average_precision(relevant: Relevance, positives: int) -> float:
    """AP = Σ_k P_k Δr_k (Revaud et al. 2019, arXiv 1906.07589, equations 2 to 4).

    P_k is the precision among the first k, and recall grows by 1/N_q at each positive.

    Args:
        relevant: (N,) whether the photo at each place of the ranking is a positive; the query's
            own photo and its junk have left.
        positives: N_q ≥ 1, how many there are, also where the ranking lacks some.
    """
    ranks = np.flatnonzero(relevant) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / positives)


def average_precision_by_trapezoids(relevant: Relevance, positives: int) -> float:
    """AP as the area under the curve of precision over recall, by the trapezoid rule.

    Each positive adds 1/N_q times the mean of the precision just before it and at it, where the
    precision before the first rank is 1. So does the programme that comes with Oxford5k (Philbin
    et al. 2007) and the one of its revised form (Radenović et al. 2018, arXiv 1803.11285).

    Args:
        relevant: (N,) as for `average_precision`.
        positives: N_q ≥ 1, how many there are, also where the ranking lacks some.
    """
    before = np.flatnonzero(relevant)  # how many photos lie before each positive
    found = np.arange(len(before))  # and how many of them are positives
    precision_before = np.where(before > 0, found / np.maximum(before, 1), 1.0)
    precision_at = (found + 1) / (before + 1)
    return float((precision_before + precision_at).sum() / 2 / positives)


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
