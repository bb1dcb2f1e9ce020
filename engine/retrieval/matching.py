"""The methods of scoring candidates, behind one call."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.config import Method, SearchSettings
from engine.jobs import Ticket
from engine.rank.qam import Merge, match_many
from engine.rank.sparse import SHARPNESS, merge_many
from engine.retrieval.snapshot import Snapshot
from engine.types import FloatArray

Rows = NDArray[np.int64]

_LEAST = 1e-3
"""Squares of lengths are at least this: a coded region may seem to be nearly the centre itself."""


@dataclass(frozen=True, slots=True, eq=False)
class RankingQuery:
    """``descriptor``: (D,) float32 of unit length, for the first stage. ``parts``: (P, D) unit
    rows, pooled like the base regions that they meet: what is looked for, one row for a thing in a
    box; for a scene its parts, of which each is looked for by itself. ``exclude``: photos that must
    not be found. ``centre``: (D,) what usual regions have in common, which parts and regions are
    compared without; None: as they are."""

    descriptor: FloatArray
    parts: FloatArray
    exclude: frozenset[int] = frozenset()
    centre: FloatArray | None = None


def resolved(method: Method) -> Method:
    """What `Method.AUTO` means."""
    return Method.SPARSE if method is Method.AUTO else method


def matched(
    query: RankingQuery,
    snapshot: Snapshot,
    rows: Rows,
    settings: SearchSettings,
    ticket: Ticket,
) -> list[Merge]:
    """The merge of each photo for a query; a query of several parts has the mean of theirs.

    Args:
        rows: (n,) photos of the snapshot.
    """
    method = resolved(settings.method)
    if method is Method.QAM:
        # As the paper has it: one query, whatever it is made of.
        whole = query.parts.sum(axis=0)
        regions, starts = snapshot.regions_of(rows)
        return match_many(whole, regions, starts, solver=settings.solver, ticket=ticket)
    ticket.check()
    cosines, starts = _cosines(query, snapshot, rows)
    scores, z = merge_many(cosines, starts, sharpness=sharpness_of(method))
    mean_z = z.mean(axis=0, dtype=np.float64)
    return [
        Merge(float(score), mean_z[first:last])
        for score, first, last in zip(scores.mean(axis=0), starts[:-1], starts[1:], strict=True)
    ]


def matched_features(
    query: RankingQuery, snapshot: Snapshot, rows: Rows, settings: SearchSettings
) -> FloatArray:
    """(n, P, D) what each photo has for each part of the query: its merged regions, at unit
    length; zeros where it has no region."""
    cosines, starts = _cosines(query, snapshot, rows)
    _, z = merge_many(cosines, starts, sharpness=sharpness_of(resolved(settings.method)))
    taking_part = np.flatnonzero(z.any(axis=0))  # few, and decoding is what costs
    regions = snapshot.some_regions_of(rows, taking_part)
    bounds = np.searchsorted(taking_part, starts)
    found = np.zeros((len(rows), *query.parts.shape), dtype=np.float32)
    for one, first, last in zip(found, bounds[:-1], bounds[1:], strict=True):
        one[:] = z[:, taking_part[first:last]] @ regions[first:last]
    lengths = np.linalg.norm(found, axis=-1, keepdims=True)
    return np.asarray(found / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def centred(vectors: FloatArray, centre: FloatArray | None) -> FloatArray:
    """(…, D) unit rows without what usual regions have in common, at unit length again."""
    if centre is None:
        return vectors
    less = vectors - centre
    lengths = np.linalg.norm(less, axis=-1, keepdims=True)
    return np.asarray(less / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def _cosines(
    query: RankingQuery, snapshot: Snapshot, rows: Rows
) -> tuple[FloatArray, NDArray[np.int64]]:
    """(P, ΣR) of the parts with the base regions, centred where the query asks for it.

    For unit q and f and a centre m, (q-m)ᵀ(f-m) = qᵀf - qᵀm - fᵀm + mᵀm and ‖f-m‖² = 1 - 2fᵀm +
    mᵀm: the products of the stored regions with the query and with m are enough.
    """
    if query.centre is None:
        return snapshot.cosines(rows, query.parts)
    asked = np.concatenate([query.parts, query.centre[None]])
    products, starts = snapshot.cosines(rows, asked)
    of_parts, of_regions = asked[:-1] @ query.centre, products[-1]
    square = float(query.centre @ query.centre)
    found = products[:-1] - of_parts[:, None] - of_regions + square
    found /= np.sqrt(np.maximum(1 - 2 * of_parts + square, _LEAST))[:, None]
    found /= np.sqrt(np.maximum(1 - 2 * of_regions + square, _LEAST))
    return found, starts


def sharpness_of(method: Method) -> float:
    """Of sparse merging; infinite for the single best region, and QAM's parts are found by it."""
    return SHARPNESS if method is Method.SPARSE else math.inf
