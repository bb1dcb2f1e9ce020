"""Query adaptive matching of every channel's region: feature map pooling without clustering.

A photo has as many regions as channels fire, hundreds, and their Gram matrix alone would take
seconds for a shortlist. Few of them take part in a merge, so the programme is solved by column
generation: on the regions that look best, then with those added that would still improve it,
until none would; then the conditions of Karush, Kuhn and Tucker hold for all. What is needed of
the others, f_dᵀv = Σ_{i∈R_d} x_iᵀv / ‖f_d‖, comes from the map, without their features.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.features.pooling import unit_rows
from engine.jobs import Ticket
from engine.rank.qam import match_many
from engine.types import FloatArray

Float64 = NDArray[np.float64]

_FIRST = 64
_MORE = 32
_GAIN = 1e-4
"""A region that agrees with what the merge leaves of the query by less than this stays out: the
score can grow by no more than this times the sum of the weights, which is about 1."""


@dataclass(frozen=True, slots=True, eq=False)
class ChannelMap:
    """A feature map as its cells and supports. ``cells``: (n, C); ``supports``: (C, n) 0 or 1;
    ``lengths``: (C,) ‖f_d‖, 0 for a channel that fires nowhere."""

    cells: FloatArray
    supports: FloatArray
    lengths: FloatArray

    @classmethod
    def of(cls, feature_map: NDArray[np.floating], lengths: FloatArray) -> "ChannelMap":
        """From a map (C, h, w) and its `region_lengths`."""
        values = np.asarray(feature_map, dtype=np.float32).reshape(len(feature_map), -1)
        return cls(np.ascontiguousarray(values.T), (values > 0).astype(np.float32), lengths)

    def agreement(self, direction: FloatArray) -> FloatArray:
        """(C,) f_dᵀv for the unit features f_d; -1 for a channel without a region."""
        sums = self.supports @ (self.cells @ direction)
        live = self.lengths > 0
        return np.where(live, sums / np.where(live, self.lengths, 1.0), -1.0).astype(np.float32)

    def features(self, channels: NDArray[np.intp]) -> FloatArray:
        """(n, C) unit features of some channels' regions."""
        return unit_rows(self.supports[channels] @ self.cells)


def region_lengths(feature_map: NDArray[np.floating]) -> FloatArray:
    """(C,) float32 ‖f_d‖ of each channel's region of a map (C, h, w)."""
    values = np.asarray(feature_map, dtype=np.float32).reshape(len(feature_map), -1)
    lengths: FloatArray = np.linalg.norm((values > 0).astype(np.float32) @ values.T, axis=1)
    return lengths


def match_channels(
    query: FloatArray, maps: Sequence[ChannelMap], *, ticket: Ticket | None = None
) -> tuple[Float64, list[Float64]]:
    """The best merge of the channels' regions of each candidate.

    Args:
        query: (C,) of unit length, sum-pooled as the regions are.

    Returns:
        (N,) scores, those of `match_many` on all regions to 1e-4; and per candidate (C,) weights.
    """
    running = [_Generation(one, query) for one in maps]
    left = [one for one in running if len(one.chosen)]
    while left:
        tables = [one.table() for one in left]
        starts = np.cumsum([0, *map(len, tables)])
        merges = match_many(query, np.concatenate(tables), starts, ticket=ticket)
        left = [
            one
            for one, table, merge in zip(left, tables, merges, strict=True)
            if one.grows(table, merge.score, merge.z)
        ]
    return np.array([one.score for one in running]), [one.z for one in running]


class _Generation:
    """One candidate on its way."""

    def __init__(self, channel_map: ChannelMap, query: FloatArray) -> None:
        self._map = channel_map
        self._query = query
        agreement = channel_map.agreement(query)
        best = np.argsort(-agreement, kind="stable")[:_FIRST]
        self.chosen: NDArray[np.intp] = best[agreement[best] > 0]
        self.score = 0.0
        self.z: Float64 = np.zeros(len(agreement))

    def table(self) -> FloatArray:
        """The features that take part so far."""
        return self._map.features(self.chosen)

    def grows(self, table: FloatArray, score: float, z: Float64) -> bool:
        """Take the optimum of the chosen; whether others were chosen that improve it."""
        self.score = score
        self.z[:] = 0.0
        self.z[self.chosen] = z
        left = self._query - (z @ table).astype(np.float32)
        gain = self._map.agreement(left)
        gain[self.chosen] = 0.0
        more = np.argsort(-gain, kind="stable")[:_MORE]
        more = more[gain[more] > _GAIN]
        self.chosen = np.concatenate([self.chosen, more])
        return bool(len(more))
