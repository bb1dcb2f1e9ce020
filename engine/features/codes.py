"""Region vectors in few bytes: what a region adds to its photo's own descriptor, by signs.

A region of a photo is much like the whole photo, whose descriptor g is kept in any case. So a
region f of unit length is kept as f = t·g + r: t = gᵀf as a number, and r, which is shorter than f,
by the signs of `BITS` random directions of it and one more number, in the way of RaBitQ (Gao and
Long 2024, arXiv 2405.12497). With B the directions (rows of random orthogonal matrices, so BᵀB is
near a multiple of 1), y = Br and

    qᵀr ≈ a · sign(y)ᵀBq,   a = (yᵀy / Σ|y|) · D/BITS,

which is right on average over B. Nothing is learned, so it fits every network and every
library. Measured on the cutouts with 42 regions of 1,280 numbers: 132 bytes in the place of 2,560
for half a point of mAP at most; the errors of cosines are about .02 (`tests/bench/bytes.py`).
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.config import Codec
from engine.types import FloatArray

CodeArray = NDArray[np.uint8]
OwnerArray = NDArray[np.int64]

BITS = 1024
"""Signs of one region. Of 1,280 numbers: with 768 a point of mAP is lost, with 1,280 no more is
won than chance gives."""

SIGNS_FROM = 4
"""Bytes of a code before its signs: t and a as float16."""

_CHUNK_ROWS = 512
_SEED = 20160606


class RegionCodec(Protocol):
    """Stores region vectors as rows of bytes. Thread-safe.

    Throughout: ``regions`` (R, D) unit rows, ``descriptors`` (N, D) float32 unit rows of the photos
    that they belong to, ``owners`` (R,) which photo that is, ``codes`` (R, width) uint8.
    """

    @property
    def width(self) -> int:
        """Bytes of one region."""

    def encode(
        self, regions: FloatArray, descriptors: FloatArray, owners: OwnerArray
    ) -> CodeArray: ...

    def cosines(
        self, queries: FloatArray, codes: CodeArray, descriptors: FloatArray, owners: OwnerArray
    ) -> FloatArray:
        """(Q, R) cosines of unit ``queries`` (Q, D) with the coded regions, as good as they are
        kept."""

    def decode(self, codes: CodeArray, descriptors: FloatArray, owners: OwnerArray) -> FloatArray:
        """(R, D) the regions as they were kept, at unit length."""

    def plausible(self, codes: CodeArray) -> bool:
        """Whether these bytes can be what unit vectors became."""


def codec_for(kind: Codec, dim: int) -> RegionCodec:
    """The codec of this kind for vectors of ``dim`` numbers."""
    return _signs(dim) if kind is Codec.SIGNS else HalfFloats(dim)


class HalfFloats:
    """Every number as float16: exact enough for anything, and twenty times as large."""

    def __init__(self, dim: int) -> None:
        self.width = 2 * dim

    def encode(self, regions: FloatArray, descriptors: FloatArray, owners: OwnerArray) -> CodeArray:
        return np.ascontiguousarray(regions, dtype="<f2").view(np.uint8)

    def cosines(
        self, queries: FloatArray, codes: CodeArray, descriptors: FloatArray, owners: OwnerArray
    ) -> FloatArray:
        return np.asarray(queries @ self.decode(codes, descriptors, owners).T, dtype=np.float32)

    def decode(self, codes: CodeArray, descriptors: FloatArray, owners: OwnerArray) -> FloatArray:
        return np.ascontiguousarray(codes).view("<f2").astype(np.float32)

    def plausible(self, codes: CodeArray) -> bool:
        halves = np.ascontiguousarray(codes).view("<f2").astype(np.float64)
        # Each of the numbers was rounded to 2^-11 of itself.
        return bool(np.all(np.abs(np.linalg.norm(halves, axis=1) - 1) < 1e-2))


class Signs:
    """See the module. ``dim``: D of the vectors, any."""

    def __init__(self, dim: int) -> None:
        self.width = SIGNS_FROM + BITS // 8
        self._dim = dim
        self._directions = _directions(dim)  # (D, BITS)

    def encode(self, regions: FloatArray, descriptors: FloatArray, owners: OwnerArray) -> CodeArray:
        own = descriptors[owners]
        along = (regions * own).sum(axis=1)
        seen = self.turned(regions - along[:, None] * own)
        reach = np.abs(seen).sum(axis=1)
        gain = (seen * seen).sum(axis=1) / np.where(reach > 0, reach, 1.0) * (self._dim / BITS)
        numbers = np.stack([along, gain], axis=1).astype("<f2").view(np.uint8)
        return np.concatenate([numbers, np.packbits(seen > 0, axis=1)], axis=1)

    def cosines(
        self, queries: FloatArray, codes: CodeArray, descriptors: FloatArray, owners: OwnerArray
    ) -> FloatArray:
        along, gain = numbers_of(codes)
        turned = self.turned(queries)  # (Q, BITS)
        found = (queries @ descriptors.T)[:, owners] * along
        # sign = 2 bit - 1: a product with the bits, which unpack as they are, and a constant.
        constant = turned.sum(axis=1, keepdims=True)
        for rows in _chunks(len(codes)):
            bits = np.unpackbits(codes[rows, SIGNS_FROM:], axis=1).astype(np.float32)
            found[:, rows] += gain[rows] * (2.0 * (turned @ bits.T) - constant)
        return np.asarray(found, dtype=np.float32)

    def decode(self, codes: CodeArray, descriptors: FloatArray, owners: OwnerArray) -> FloatArray:
        along, gain = numbers_of(codes)
        whole = along[:, None] * descriptors[owners]
        # The vector of this direction that is nearest on average is shorter than the one whose
        # products are right on average: by 2/π for the signs, and by what was not looked at.
        nearest = gain * (2.0 / np.pi) * min(1.0, BITS / self._dim)
        for rows in _chunks(len(codes)):
            signs = np.unpackbits(codes[rows, SIGNS_FROM:], axis=1).astype(np.float32) * 2.0 - 1.0
            whole[rows] += nearest[rows, None] * (signs @ self._directions.T)
        lengths = np.linalg.norm(whole, axis=1, keepdims=True)
        return np.asarray(whole / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)

    def plausible(self, codes: CodeArray) -> bool:
        along, gain = numbers_of(codes)
        return bool(np.all(np.abs(along) <= 1.01) and np.all((gain >= 0) & (gain < np.inf)))

    def turned(self, vectors: FloatArray) -> FloatArray:
        """(n, BITS) the vectors as the random directions see them."""
        return np.asarray(vectors @ self._directions, dtype=np.float32)


def numbers_of(codes: CodeArray) -> tuple[FloatArray, FloatArray]:
    """(R,) t and (R,) a of codes by signs; see the module."""
    numbers = np.ascontiguousarray(codes[:, :SIGNS_FROM]).view("<f2").astype(np.float32)
    return numbers[:, 0], numbers[:, 1]


@lru_cache(maxsize=4)
def _signs(dim: int) -> Signs:
    return Signs(dim)


def signs_for(dim: int) -> Signs:
    """The codec by signs for this length of vectors; made once, for it takes a moment."""
    return _signs(dim)


def _directions(dim: int) -> FloatArray:
    """(D, BITS) unit columns of as many random orthogonal matrices as it takes.

    The same for ever, for stored codes depend on it: the raw stream of a bit generator is one of
    the few things that NumPy promises never to change.
    """
    stream = np.random.PCG64(_SEED)
    blocks: list[FloatArray] = []
    while sum(block.shape[1] for block in blocks) < BITS:
        raw = stream.random_raw(dim * dim)
        coins = ((raw >> np.uint64(32)) & np.uint64(0xFFFF)).astype(np.float64).reshape(dim, dim)
        turn, triangle = np.linalg.qr(coins - 32767.5)
        # A decomposition is unique up to the signs of the triangle's diagonal.
        blocks.append((turn * np.where(np.diag(triangle) < 0, -1.0, 1.0)).astype(np.float32))
    return np.ascontiguousarray(np.concatenate(blocks, axis=1)[:, :BITS])


def _chunks(rows: int) -> Iterator[slice]:
    """A few rows at a time stay in the processor's cache while they unpack to 32 times the size."""
    for first in range(0, rows, _CHUNK_ROWS):
        yield slice(first, min(first + _CHUNK_ROWS, rows))
