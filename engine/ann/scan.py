"""Shortlisting by regions: the photos of which one region is most like the query.

A thing that fills two per cent of a scene leaves little trace in the photo's own descriptor, but
much in the region that it fills. So the finest regions of every photo are compared with every
query, by the signs of `engine.features.codes` alone: the query's signs too, which makes a
comparison a few exclusive-ors and counts of bits. That is exact for what the codes say, needs no
graph to be built, and costs 160 bytes and some 15 nanoseconds a region: the memory of a graph over
the vectors themselves would be thirty times that.
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
_BLOCKS = 16
_CHUNK = 16_384  # codes whose counts stay in the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Photos one after the other. Words lie column by column, so that counting runs along them.

    ``regions`` (DIRECTIONS/64, M) with ``along`` and ``gain`` (M,): photo n owns starts[n] to
    starts[n + 1]. ``wholes`` (DIRECTIONS/64, N) with ``whole_gain`` (N,) stand for descriptors.
    """

    regions: Words
    along: FloatArray
    gain: FloatArray
    starts: NDArray[np.int64]
    wholes: Words
    whole_gain: FloatArray

    def scores(self, signs: Words, reach: float) -> FloatArray:
        """(N,) the best region's cosine with the query, roughly."""
        whole = reach * self.whole_gain * _agreement(self.wholes, signs)
        counts = np.diff(self.starts)
        found = np.repeat(whole, counts) * self.along
        found += reach * self.gain * _agreement(self.regions, signs)
        best = np.full(len(counts), -1.0, dtype=np.float32)
        some = counts > 0
        if some.any():
            best[some] = np.maximum.reduceat(found, self.starts[:-1][some])
        return best


class RegionScan:
    """The finest regions of the first photos of a table. Immutable."""

    def __init__(self, codec: TwoBits, blocks: tuple[_Block, ...] = ()) -> None:
        self._codec = codec
        self._blocks = blocks

    def __len__(self) -> int:
        return sum(len(block.whole_gain) for block in self._blocks)

    def with_more(
        self, descriptors: Descriptors, codes: CodeArray, counts: NDArray[np.int32]
    ) -> "RegionScan":
        """A scan that holds more photos behind these.

        Args:
            descriptors: (N, D) of the new photos. codes: (ΣR, width) in two bits, of all their
                regions. counts: (N,) regions of each.
        """
        kept = np.minimum(counts, MOST_REGIONS).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(kept)])
        last = np.cumsum(counts, dtype=np.int64) - kept
        fine = codes[np.repeat(last - starts[:-1], kept) + np.arange(starts[-1])]
        signs, gain = signs_of(fine)
        nothing = np.zeros(descriptors.shape, dtype=np.float32)
        whole = self._codec.encode(descriptors.astype(np.float32), nothing, np.arange(len(nothing)))
        whole_signs, whole_gain = signs_of(whole)
        block = _Block(
            _words(signs), numbers_of(fine)[0], gain, starts, _words(whole_signs), whole_gain
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
        reach = float(np.abs(turned).mean())
        scores = [block.scores(signs, reach) for block in self._blocks]
        whole = np.concatenate(scores) if scores else np.zeros(0, dtype=np.float32)
        count = min(k, len(whole))
        if not count:
            return np.zeros(0, dtype=np.int64), whole[:0]
        rows = np.argpartition(-whole, count - 1)[:count]
        return best_first(rows, whole[rows], count)


def _words(signs: CodeArray) -> Words:
    """(DIRECTIONS/64, n) packed signs (n, DIRECTIONS/8), column by column."""
    return np.ascontiguousarray(np.ascontiguousarray(signs).view(np.uint64).T)


def _agreement(words: Words, signs: Words) -> FloatArray:
    """(n,) Σ sign · sign over the directions: those that agree less those that do not."""
    apart = np.zeros(words.shape[1], dtype=np.uint16)
    for first in range(0, len(apart), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        for row, word in zip(words[:, chunk], signs, strict=True):
            apart[chunk] += np.bitwise_count(row ^ word)
    return np.asarray(DIRECTIONS - 2.0 * apart.astype(np.float32), dtype=np.float32)


def _joined(blocks: tuple[_Block, ...]) -> _Block:
    starts = [np.zeros(1, dtype=np.int64)]
    for block in blocks:
        starts.append(block.starts[1:] + starts[-1][-1])
    return _Block(
        np.ascontiguousarray(np.concatenate([block.regions for block in blocks], axis=1)),
        np.concatenate([block.along for block in blocks]),
        np.concatenate([block.gain for block in blocks]),
        np.concatenate(starts),
        np.ascontiguousarray(np.concatenate([block.wholes for block in blocks], axis=1)),
        np.concatenate([block.whole_gain for block in blocks]),
    )
