"""Region vectors in few bytes: what a region adds to its photo's own descriptor, in two bits.

A region of a photo is much like the whole photo, whose descriptor g is kept in any case. So a
region f of unit length is kept as f = t·g + r: t = gᵀf as a number, and r, which is shorter than
f, as two bits for each of `DIRECTIONS` random directions of it and one more number, in the way of
RaBitQ (Gao and Long 2024, arXiv 2405.12497). With B the directions (columns of random orthogonal
matrices), y = Bᵀr, and v(y) the nearest of four levels that are best for a normal distribution,

    qᵀr ≈ a · v(y)ᵀBᵀq,   a = yᵀy / v(y)ᵀy · D/DIRECTIONS,

which is right on average over B. Nothing is learned, so it fits every network and every
library: `tests/bench/storage.py` has the bytes against the mAP.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.config import Codec
from engine.types import FloatArray, HalfArray

CodeArray = NDArray[np.uint8]
OwnerArray = NDArray[np.int64]
Descriptors: TypeAlias = "FloatArray | HalfArray"

DIRECTIONS = 1280
NUMBERS_BYTES = 4
"""Bytes of a code before its directions: t and a as float16."""

_LOW, _HIGH = 0.4528, 1.5104
"""The levels for a standard normal distribution (Max 1960, "Quantizing for minimum distortion")."""
_BETWEEN = (_LOW + _HIGH) / 2
_KEPT = 0.8825
"""The share of a normal variable's variance that its levels have."""
_SIGNS_KEPT = np.sqrt(2 / np.pi)
"""E|x| of a standard normal variable: what signs alone keep of it."""

_LEVELS = np.array([-_LOW, -_HIGH, _LOW, _HIGH], dtype=np.float32)
_FOUR_LEVELS = _LEVELS[np.arange(256)[:, None] >> np.array([6, 4, 2, 0]) & 3]
"""(256, 4) the levels of the four directions that share a byte."""

_CHUNK_ROWS = 128
_SEED = 20160606


class RegionCodec(Protocol):
    """Stores region vectors as rows of bytes. Thread-safe.

    Throughout: ``regions`` (R, D) unit rows, ``descriptors`` (N, D) unit rows of the photos
    that they belong to, ``owners`` (R,) which photo that is, ``codes`` (R, width) uint8.
    """

    @property
    def width(self) -> int:
        """Bytes of one region."""

    def encode(
        self, regions: FloatArray, descriptors: Descriptors, owners: OwnerArray
    ) -> CodeArray: ...

    def cosines(
        self, queries: FloatArray, codes: CodeArray, descriptors: Descriptors, owners: OwnerArray
    ) -> FloatArray:
        """(Q, R) cosines of unit ``queries`` (Q, D) with the coded regions, as good as they are
        kept."""

    def decode(self, codes: CodeArray, descriptors: Descriptors, owners: OwnerArray) -> FloatArray:
        """(R, D) the regions as they were kept, at unit length."""

    def plausible(self, codes: CodeArray) -> bool:
        """Whether these bytes can be what unit vectors became."""


def codec_for(kind: Codec, dim: int) -> RegionCodec:
    """The codec of this kind for vectors of ``dim`` numbers."""
    return two_bits_for(dim) if kind is Codec.TWO_BITS else HalfFloats(dim)


class HalfFloats:
    """Every number as float16: exact enough for anything, and twenty times as large."""

    def __init__(self, dim: int) -> None:
        self.width = 2 * dim

    def encode(
        self, regions: FloatArray, descriptors: Descriptors, owners: OwnerArray
    ) -> CodeArray:
        return np.ascontiguousarray(regions, dtype="<f2").view(np.uint8)

    def cosines(
        self, queries: FloatArray, codes: CodeArray, descriptors: Descriptors, owners: OwnerArray
    ) -> FloatArray:
        return np.asarray(queries @ self.decode(codes, descriptors, owners).T, dtype=np.float32)

    def decode(self, codes: CodeArray, descriptors: Descriptors, owners: OwnerArray) -> FloatArray:
        return np.ascontiguousarray(codes).view("<f2").astype(np.float32)

    def plausible(self, codes: CodeArray) -> bool:
        halves = np.ascontiguousarray(codes).view("<f2").astype(np.float64)
        # Each of the numbers was rounded to 2^-11 of itself.
        return bool(np.all(np.abs(np.linalg.norm(halves, axis=1) - 1) < 1e-2))


class TwoBits:
    """See the module. ``dim``: D of the vectors, any."""

    def __init__(self, dim: int) -> None:
        self.width = NUMBERS_BYTES + DIRECTIONS // 4
        self._dim = dim
        self._directions = _directions(dim)  # (D, DIRECTIONS)
        self._last: tuple[bytes, FloatArray] = (b"", np.zeros(0, dtype=np.float32))

    def encode(
        self, regions: FloatArray, descriptors: Descriptors, owners: OwnerArray
    ) -> CodeArray:
        own = descriptors[owners].astype(np.float32)
        along = (regions * own).sum(axis=1)
        seen = self.turned(regions - along[:, None] * own)
        squares = (seen * seen).sum(axis=1)
        spread = np.sqrt(squares / DIRECTIONS)
        far = np.abs(seen) > _BETWEEN * spread[:, None]
        codes = (2 * (seen > 0) + far).astype(np.uint8)
        agreeing = (seen * _LEVELS[codes]).sum(axis=1)
        gain = squares / np.where(agreeing > 0, agreeing, 1.0) * (self._dim / DIRECTIONS)
        four = codes.reshape(len(codes), -1, 4)
        packed = four[..., 0] << 6 | four[..., 1] << 4 | four[..., 2] << 2 | four[..., 3]
        numbers = np.stack([along, gain], axis=1).astype("<f2").view(np.uint8)
        return np.concatenate([numbers, packed], axis=1)

    def cosines(
        self, queries: FloatArray, codes: CodeArray, descriptors: Descriptors, owners: OwnerArray
    ) -> FloatArray:
        along, gain = numbers_of(codes)
        turned = self.turned(queries)  # (Q, DIRECTIONS)
        found = (queries @ descriptors.T.astype(np.float32))[:, owners] * along
        for rows in _chunks(len(codes)):
            found[:, rows] += gain[rows] * (turned @ _levels_of(codes[rows]).T)
        return np.asarray(found, dtype=np.float32)

    def decode(self, codes: CodeArray, descriptors: Descriptors, owners: OwnerArray) -> FloatArray:
        along, gain = numbers_of(codes)
        whole = along[:, None] * descriptors[owners].astype(np.float32)
        # The vector of this direction that is nearest on average is shorter than the one whose
        # products are right on average: by what the levels, and what too few directions, lose.
        nearest = gain * _KEPT * min(1.0, DIRECTIONS / self._dim)
        for rows in _chunks(len(codes)):
            whole[rows] += nearest[rows, None] * (_levels_of(codes[rows]) @ self._directions.T)
        lengths = np.linalg.norm(whole, axis=1, keepdims=True)
        return np.asarray(whole / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)

    def plausible(self, codes: CodeArray) -> bool:
        along, gain = numbers_of(codes)
        return bool(np.all(np.abs(along) <= 1.01) and np.all((gain >= 0) & (gain < np.inf)))

    def turned(self, vectors: FloatArray) -> FloatArray:
        """(n, DIRECTIONS) the vectors as the random directions see them. A single one is kept,
        and nobody may change it: the stages of one search ask for the same."""
        if len(vectors) > 1:
            return np.asarray(vectors @ self._directions, dtype=np.float32)
        key = vectors.tobytes()
        last_key, last = self._last  # one reference: another thread may put in its own
        if key != last_key:
            last = np.asarray(vectors @ self._directions, dtype=np.float32)
            self._last = (key, last)
        return last


def signs_of(codes: CodeArray) -> tuple[CodeArray, FloatArray]:
    """Codes cut down to their signs.

    Returns:
        (R, DIRECTIONS/8) the signs, packed, and (R,) the number that goes with them in the place
        of a.
    """
    first_bits = np.unpackbits(codes[:, NUMBERS_BYTES:], axis=1)[:, ::2]
    gain = numbers_of(codes)[1] * np.float32(_KEPT / _SIGNS_KEPT)
    return np.packbits(first_bits, axis=1), gain


def _levels_of(codes: CodeArray) -> FloatArray:
    """(R, DIRECTIONS) v(y)."""
    # take is ten times as fast here as an index.
    levels: FloatArray = np.take(_FOUR_LEVELS, codes[:, NUMBERS_BYTES:], axis=0)
    return levels.reshape(len(codes), DIRECTIONS)


def numbers_of(codes: CodeArray) -> tuple[FloatArray, FloatArray]:
    """(R,) t and (R,) a of codes in two bits; see the module."""
    numbers = np.ascontiguousarray(codes[:, :NUMBERS_BYTES]).view("<f2").astype(np.float32)
    return numbers[:, 0], numbers[:, 1]


@lru_cache(maxsize=4)
def two_bits_for(dim: int) -> TwoBits:
    """The codec in two bits for this length of vectors; made once, for it takes a moment."""
    return TwoBits(dim)


def _directions(dim: int) -> FloatArray:
    """(D, DIRECTIONS) unit columns of as many random orthogonal matrices as it takes.

    The same for ever, for stored codes depend on it: the raw stream of a bit generator is one of
    the few things that NumPy promises never to change.
    """
    stream = np.random.PCG64(_SEED)
    blocks: list[FloatArray] = []
    while sum(block.shape[1] for block in blocks) < DIRECTIONS:
        raw = stream.random_raw(dim * dim)
        coins = ((raw >> np.uint64(32)) & np.uint64(0xFFFF)).astype(np.float64).reshape(dim, dim)
        turn, triangle = np.linalg.qr(coins - 32767.5)
        # A decomposition is unique up to the signs of the triangle's diagonal.
        blocks.append((turn * np.where(np.diag(triangle) < 0, -1.0, 1.0)).astype(np.float32))
    return np.ascontiguousarray(np.concatenate(blocks, axis=1)[:, :DIRECTIONS])


def _chunks(rows: int) -> Iterator[slice]:
    """A few rows at a time stay in the processor's cache while they unpack to 16 times the size."""
    for first in range(0, rows, _CHUNK_ROWS):
        yield slice(first, min(first + _CHUNK_ROWS, rows))
