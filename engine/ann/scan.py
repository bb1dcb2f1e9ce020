"""Shortlisting by regions: the photos of which one region is most like the query.

A thing that fills two per cent of a scene leaves little trace in the photo's own descriptor, but
much in the region that it fills. So the coarsest regions of every photo are compared with every
query, by the signs of `engine.features.codes` alone: the query's signs too, which makes a
comparison a few exclusive-ors and counts of bits. That is exact for what the codes say, needs no
graph to be built, and costs 128 bytes and some 15 nanoseconds a region: the memory of a graph over
the vectors themselves would be forty times that.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.ann.index import Rows, best_first
from engine.features.codes import BITS, SIGNS_FROM, CodeArray, Signs, numbers_of
from engine.types import FloatArray

Words = NDArray[np.uint64]

MOST_REGIONS = 24
"""Of one photo, of its coarsest regions."""
_BLOCKS = 16
_CHUNK = 16_384  # codes whose counts stay in the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Photos one after the other. Words lie column by column, so that counting runs along them:
    ``regions`` (BITS/64, M) with ``along`` and ``gain`` (M,), photo n owning starts[n] to
    starts[n + 1]; ``wholes`` (BITS/64, N) with ``whole_gain`` (N,) stand for the descriptors."""

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
    """The coarsest regions of the first photos of a table. Immutable."""

    def __init__(self, codec: Signs, blocks: tuple[_Block, ...] = ()) -> None:
        self._codec = codec
        self._blocks = blocks

    def __len__(self) -> int:
        return sum(len(block.whole_gain) for block in self._blocks)

    def with_more(
        self,
        descriptors: FloatArray,
        codes: CodeArray,
        boxes: FloatArray,
        counts: NDArray[np.int32],
    ) -> "RegionScan":
        """A scan that holds more photos behind these.

        Args:
            descriptors: (N, D) of the new photos. codes: (ΣR, width) by signs, and boxes (ΣR, 4),
                of all their regions. counts: (N,) regions of each.
        """
        taken = _coarsest(boxes, counts)
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        kept = np.concatenate([[0], np.cumsum(taken)])[starts]
        coarse = codes[np.flatnonzero(taken)]
        along, gain = numbers_of(coarse)
        whole = self._codec.encode(
            descriptors, np.zeros_like(descriptors), np.arange(len(descriptors))
        )
        block = _Block(_words(coarse), along, gain, kept, _words(whole), numbers_of(whole)[1])
        blocks = (*self._blocks, block)
        return RegionScan(self._codec, blocks if len(blocks) <= _BLOCKS else (_joined(blocks),))

    def search(self, query: FloatArray, k: int) -> tuple[Rows, FloatArray]:
        """The ``k`` photos with the most similar region, best first: rows and rough cosines.

        Args:
            query: (D,) of unit length.
        """
        turned = self._codec.turned(query[None])
        signs = _words(np.packbits(turned > 0, axis=1), signs_from=0)[:, 0]
        reach = float(np.abs(turned).mean())
        scores = [block.scores(signs, reach) for block in self._blocks]
        whole = np.concatenate(scores) if scores else np.zeros(0, dtype=np.float32)
        count = min(k, len(whole))
        if not count:
            return np.zeros(0, dtype=np.int64), whole[:0]
        rows = np.argpartition(-whole, count - 1)[:count]
        return best_first(rows, whole[rows], count)


def _coarsest(boxes: FloatArray, counts: NDArray[np.int32]) -> NDArray[np.bool_]:
    """(ΣR,) which regions are as large as their photo's first, at most `MOST_REGIONS` of each,
    evenly taken."""
    owner = np.repeat(np.arange(len(counts)), counts)
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    coarse = area >= 0.99 * area[starts[:-1][owner]] if len(area) else np.zeros(0, dtype=bool)
    place = np.concatenate([[0], np.cumsum(coarse)])
    before = (place[:-1] - place[starts[:-1]][owner]).astype(np.int64)
    of = (place[starts[1:]] - place[starts[:-1]])[owner]
    stride = np.maximum(-(-of // MOST_REGIONS), 1)
    return np.asarray(coarse & (before % stride == 0), dtype=np.bool_)


def _words(codes: CodeArray, *, signs_from: int = SIGNS_FROM) -> Words:
    """(BITS/64, n) the signs of codes, column by column."""
    signs = np.ascontiguousarray(codes[:, signs_from:])
    return np.ascontiguousarray(signs.view(np.uint64).T)


def _agreement(words: Words, signs: Words) -> FloatArray:
    """(n,) Σ sign · sign over the directions: those that agree less those that do not."""
    apart = np.zeros(words.shape[1], dtype=np.uint16)
    for first in range(0, len(apart), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        for row, word in zip(words[:, chunk], signs, strict=True):
            apart[chunk] += np.bitwise_count(row ^ word)
    return np.asarray(BITS - 2.0 * apart.astype(np.float32), dtype=np.float32)


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
