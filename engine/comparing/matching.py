"""Scores of candidates' regions for a query: the three matchings, as functions of arrays."""

from enum import StrEnum
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.jobs import Ticket
from engine.rank.qam import match_many
from engine.rank.sparse import merge_many
from engine.types import FloatArray

Float64 = NDArray[np.float64]


class Matching(StrEnum):
    """How a candidate's regions are merged for the query."""

    QAM = "QAM"
    """The best soft merge (Cao et al. 2016, programme 6)."""
    BEST = "best region"
    SPARSE = "sparse merge"
    """See `engine.rank.sparse`."""


def match(
    matching: Matching,
    parts: FloatArray,
    regions: ArrayLike,
    starts: ArrayLike,
    *,
    ticket: Ticket | None = None,
) -> tuple[Float64, Float64]:
    """Match every candidate with each part of the query; a candidate's score is their mean.

    Args:
        parts: (P, D) unit rows, P ≥ 1.
        regions: (ΣK, D) unit rows, candidate after candidate, any float type.
        starts: (N + 1,) candidate n owns the rows starts[n] to starts[n + 1].

    Returns:
        (N,) scores in [-1, 1], 0 for a candidate without regions; (P, ΣK) weights of the regions.
    """
    rows, bounds = np.asarray(regions), np.asarray(starts, dtype=np.int64)
    if matching is Matching.QAM:
        merges = [match_many(part, rows, bounds, ticket=ticket) for part in parts]
        scores = np.array([[merge.score for merge in one] for one in merges])
        weights = np.stack([np.concatenate([[], *(merge.z for merge in one)]) for one in merges])
        return scores.mean(axis=0), weights
    cosines = cast(FloatArray, parts.astype(np.float32) @ rows.astype(np.float32).T)
    sharpness = {"sharpness": np.inf} if matching is Matching.BEST else {}
    found, z = merge_many(cosines, bounds, **sharpness)
    return found.mean(axis=0, dtype=np.float64), z.astype(np.float64)
