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


@dataclass(frozen=True, slots=True, eq=False)
class RankingQuery:
    """``descriptor``: (D,) float32 of unit length, for the first stage. ``parts``: (P, D) unit
    rows, pooled like the base regions that they meet: what is looked for, one row for a thing in a
    box; for a scene its parts, of which each is looked for by itself. ``exclude``: photos that must
    not be found."""

    descriptor: FloatArray
    parts: FloatArray
    exclude: frozenset[int] = frozenset()


def resolved(method: Method) -> Method:
    """What `Method.AUTO` means."""
    return Method.SPARSE if method is Method.AUTO else method


def matched(
    parts: FloatArray,
    snapshot: Snapshot,
    rows: Rows,
    settings: SearchSettings,
    ticket: Ticket,
) -> list[Merge]:
    """The merge of each photo for a query; a query of several parts has the mean of theirs.

    Args:
        parts: (P, D) unit rows.
        rows: (n,) photos of the snapshot.
    """
    method = resolved(settings.method)
    if method is Method.QAM:
        # As the paper has it: one query, whatever it is made of.
        query = parts.sum(axis=0)
        regions, starts = snapshot.regions_of(rows)
        return match_many(query, regions, starts, solver=settings.solver, ticket=ticket)
    ticket.check()
    cosines, starts = snapshot.cosines(rows, parts)
    scores, z = merge_many(cosines, starts, sharpness=sharpness_of(method))
    whole = z.mean(axis=0, dtype=np.float64)
    return [
        Merge(float(score), whole[first:last])
        for score, first, last in zip(scores.mean(axis=0), starts[:-1], starts[1:], strict=True)
    ]


def matched_features(
    parts: FloatArray, snapshot: Snapshot, rows: Rows, settings: SearchSettings
) -> FloatArray:
    """(n, P, D) what each photo has for each part of the query: its merged regions, at unit
    length; zeros where it has no region."""
    cosines, starts = snapshot.cosines(rows, parts)
    _, z = merge_many(cosines, starts, sharpness=sharpness_of(resolved(settings.method)))
    regions, _ = snapshot.regions_of(rows)
    found = np.zeros((len(rows), *parts.shape), dtype=np.float32)
    for one, first, last in zip(found, starts[:-1], starts[1:], strict=True):
        one[:] = z[:, first:last] @ regions[first:last]
    lengths = np.linalg.norm(found, axis=-1, keepdims=True)
    return np.asarray(found / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def sharpness_of(method: Method) -> float:
    """Of sparse merging; infinite for the single best region, and QAM's parts are found by it."""
    return SHARPNESS if method is Method.SPARSE else math.inf
