"""Shortlisting by regions: the photos of which one region is most like the query.

A thing that fills two per cent of a scene leaves little trace in the photo's own descriptor, but
much in the region that it fills. So the finest regions of every photo are compared with every
query, by the signs of `engine.features.codes` alone: the query's signs too, which makes a
comparison a few exclusive-ors and counts of bits. A part of the directions says which photos come
into question, and for those all directions are counted. That needs no graph to be built, and
costs 160 bytes and some 6 nanoseconds a region: the memory of a graph over the vectors themselves
would be thirty times that.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.ann.index import Rows, best_first
from engine.features.codes import DIRECTIONS, CodeArray, Descriptors, TwoBits, numbers_of, signs_of
from engine.types import FloatArray

Words = NDArray[np.uint64]

MOST_REGIONS = 24
"""Of one photo: the last ones, for they lie coarse to fine."""
_FIRST_WORDS = 8
"""Of the 20 words of directions: what a first look at all photos counts."""
_SPARE = 8
"""The first look keeps this many times the photos that are asked for. Of 2,941 photos, 60 that were
asked for are the ones that all directions name; with five times as many 3 in 1,000 are others."""
_BLOCKS = 16
_CHUNK = 16_384  # codes whose counts stay in the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Photos one after the other, with equally many regions each: one that has fewer repeats its
    last, and ``empty`` (N,) says which have none.

    Words lie column by column, so that counting runs along them. ``regions`` (DIRECTIONS/64, N,
    `MOST_REGIONS`) with ``along`` and ``gain`` (N, `MOST_REGIONS`); ``wholes`` (DIRECTIONS/64, N)
    with ``whole_gain`` (N,) stand for descriptors.
    """

    regions: Words
    along: FloatArray
    gain: FloatArray
    empty: NDArray[np.bool_]
    wholes: Words
    whole_gain: FloatArray

    def __len__(self) -> int:
        return len(self.empty)

    def some(self, photos: Rows) -> "_Block":
        """These photos alone."""
        return _Block(
            np.take(self.regions, photos, axis=1),
            self.along[photos],
            self.gain[photos],
            self.empty[photos],
            np.take(self.wholes, photos, axis=1),
            self.whole_gain[photos],
        )

    def scores(self, signs: Words, reach: float, *, words: int) -> FloatArray:
        """(N,) the best region's cosine with the query, roughly: descriptors are compared by all
        directions, what regions add to them by those of the first ``words``."""
        whole = reach * self.whole_gain * _agreement(self.wholes, signs)
        found = _agreement(self.regions.reshape(len(self.regions), -1), signs[:words])
        found = found.reshape(self.gain.shape)
        found *= self.gain
        found *= reach
        found += whole[:, None] * self.along
        best: FloatArray = found.max(axis=1)
        best[self.empty] = -1.0
        return best


class RegionScan:
    """The finest regions of the first photos of a table. Immutable."""

    def __init__(self, codec: TwoBits, blocks: tuple[_Block, ...] = ()) -> None:
        self._codec = codec
        self._blocks = blocks

    def __len__(self) -> int:
        return sum(len(block) for block in self._blocks)

    def with_more(
        self, descriptors: Descriptors, codes: CodeArray, counts: NDArray[np.int32]
    ) -> "RegionScan":
        """A scan that holds more photos behind these.

        Args:
            descriptors: (N, D) of the new photos. codes: (ΣR, width) in two bits, of all their
                regions. counts: (N,) regions of each.
        """
        empty = counts == 0
        if len(codes):
            ends = np.cumsum(counts, dtype=np.int64)
            places = np.maximum(ends - counts, ends - MOST_REGIONS)[:, None]
            places = np.minimum(places + np.arange(MOST_REGIONS), ends[:, None] - 1)
            fine = codes[np.maximum(places, 0).ravel()]
        else:
            fine = np.zeros((len(counts) * MOST_REGIONS, self._codec.width), dtype=np.uint8)
        signs, gain = signs_of(fine)
        nothing = np.zeros(descriptors.shape, dtype=np.float32)
        whole = self._codec.encode(descriptors.astype(np.float32), nothing, np.arange(len(nothing)))
        whole_signs, whole_gain = signs_of(whole)
        shape = (len(counts), MOST_REGIONS)
        block = _Block(
            _words(signs).reshape(-1, *shape),
            numbers_of(fine)[0].reshape(shape),
            gain.reshape(shape),
            empty,
            _words(whole_signs),
            whole_gain,
        )
        blocks = (*self._blocks, block)
        return RegionScan(self._codec, blocks if len(blocks) <= _BLOCKS else (_joined(blocks),))

    def search(self, query: FloatArray, k: int) -> tuple[Rows, FloatArray]:
        """The ``k`` photos with the most similar region, best first: rows and rough cosines.

        Args:
            query: (D,) of unit length.
        """
        turned = self._codec.turned(query[None])
        signs = _words(np.packbits(turned > 0, axis=1))[:, 0]
        reach = float(np.abs(turned).mean()) * DIRECTIONS
        rows = self._worth_a_look(signs, reach, _SPARE * k)
        scores = self._scores(rows, signs, reach)
        best = _largest(scores, k)
        return best_first(rows[best], scores[best], k)

    def _worth_a_look(self, signs: Words, reach: float, count: int) -> Rows:
        """The ``count`` photos that a part of the directions puts first; all if there are fewer."""
        if count >= len(self):
            return np.arange(len(self))
        rough = [block.scores(signs, reach, words=_FIRST_WORDS) for block in self._blocks]
        return np.sort(_largest(np.concatenate(rough), count))

    def _scores(self, rows: Rows, signs: Words, reach: float) -> FloatArray:
        """(n,) the scores of some photos; ``rows`` rise."""
        scores = [np.zeros(0, dtype=np.float32)]
        first = 0
        for block in self._blocks:
            begin, end = np.searchsorted(rows, (first, first + len(block)))
            own = rows[begin:end] - first
            wanted = block if len(own) == len(block) else block.some(own)
            scores.append(wanted.scores(signs, reach, words=len(signs)))
            first += len(block)
        return np.concatenate(scores)


def _largest(values: FloatArray, count: int) -> Rows:
    """The places of the ``count`` largest, in no order."""
    if count >= len(values):
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count].astype(np.int64)


def _words(signs: CodeArray) -> Words:
    """(DIRECTIONS/64, n) packed signs (n, DIRECTIONS/8), column by column."""
    return np.ascontiguousarray(np.ascontiguousarray(signs).view(np.uint64).T)


def _agreement(words: Words, signs: Words) -> FloatArray:
    """(n,) the mean of sign · sign over the directions of the first ``len(signs)`` words."""
    apart = np.zeros(words.shape[1], dtype=np.uint16)
    for first in range(0, len(apart), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        for row, word in zip(words[:, chunk], signs, strict=False):
            apart[chunk] += np.bitwise_count(row ^ word)
    return np.asarray(1 - apart.astype(np.float32) * np.float32(2 / (64 * len(signs))))


def _joined(blocks: tuple[_Block, ...]) -> _Block:
    return _Block(
        np.concatenate([block.regions for block in blocks], axis=1),
        np.concatenate([block.along for block in blocks]),
        np.concatenate([block.gain for block in blocks]),
        np.concatenate([block.empty for block in blocks]),
        np.concatenate([block.wholes for block in blocks], axis=1),
        np.concatenate([block.whole_gain for block in blocks]),
    )
