"""PCA whitening: directions in which other photos differ a lot count less.

y = (x - μ) V_k / λ_k^a, then L2 (Jégou & Chum 2012; Revaud et al. 2019, section 4.2). Exponent
a = 0.5 is ordinary whitening, a = 0.25 the square-root PCA of Revaud et al., a = 0 rotates and
cuts only. Nothing that a figure is reported on may be among what it was fitted on.
"""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from engine.errors import NetworkError, SettingsError
from engine.features.pooling import unit_rows
from engine.types import FloatArray

Float64 = NDArray[np.float64]

_FORMAT = "refocal-whitening-1"

_RANK = 1e-10
"""Axes whose variance lies below this share of the largest are rounding, not data."""

FLOOR = 1e-2
"""Variances count as at least this share of the largest when a feature is divided by them. Fitted
on few descriptors, the smallest are far too small by chance, and whitening would blow up noise."""


@dataclass(frozen=True, eq=False)
class Whitening:
    """A fitted whitening. Immutable; `changed` gives one of another exponent or length.

    ``mean``: (D,) float32. ``axes``: (D, k) float32, largest variance first; orthonormal columns
    if they were fitted here, any of a learned projection; None where it centres only.
    ``variances``: (k,) float64, of the fit, without the floor.
    ``exponent``: a ≥ 0. ``count`` descriptors of what ``name`` names were fitted on. ``floor`` in
    [0, 1]: see `FLOOR`; 0 for whitening as in the books.
    """

    mean: FloatArray
    axes: FloatArray | None
    variances: Float64
    exponent: float
    name: str
    count: int
    floor: float = FLOOR

    @classmethod
    def centring(cls, mean: ArrayLike, *, name: str, count: int) -> "Whitening":
        """Subtracts the mean and nothing else; then L2."""
        return cls(np.asarray(mean, np.float32), None, np.zeros(0), 0.0, name, count)

    @property
    def dim_in(self) -> int:
        """D, the length of what it takes."""
        return len(self.mean)

    @property
    def dim_out(self) -> int:
        """k, the length of what it gives."""
        return self.dim_in if self.axes is None else self.axes.shape[1]

    def apply(self, rows: ArrayLike) -> FloatArray:
        """(…, D) → (…, k) float32 of unit length; 0 for a row that is the mean."""
        return unit_rows(self.project(rows))

    def project(self, rows: ArrayLike) -> NDArray[np.floating]:
        """(…, D) → (…, k) before L2: the affine part, (x - μ) V_k / λ_k^a.

        A row of zeros is no descriptor (an empty region) and stays zero.
        """
        given = np.asarray(rows)
        given = given if given.dtype == np.float64 else given.astype(np.float32)
        centred = np.where(given.any(axis=-1, keepdims=True), given - self.mean, 0.0)
        return centred if self._matrix is None else centred @ self._matrix

    def back(self, direction: ArrayLike) -> Float64:
        """(k,) → (D,): the w with direction · project(x) = w · (x - μ) for every x."""
        given = np.asarray(direction, dtype=np.float64)
        return given if self._matrix is None else self._matrix @ given

    def changed(
        self, *, exponent: float | None = None, dim: int | None = None, floor: float | None = None
    ) -> "Whitening":
        """The same fit with another exponent or floor, or with fewer axes.

        Raises:
            SettingsError: a negative exponent, a floor outside [0, 1], or no or more axes than
                were fitted.
        """
        if self.axes is None:
            raise SettingsError("a whitening that centres only has no axes")
        exponent = self.exponent if exponent is None else exponent
        dim = self.dim_out if dim is None else dim
        floor = self.floor if floor is None else floor
        if exponent < 0:
            raise SettingsError(f"the exponent of a whitening is at least 0, not {exponent}")
        if not 0 <= floor <= 1:
            raise SettingsError(f"the floor of a whitening lies between 0 and 1, not {floor}")
        if not 1 <= dim <= self.dim_out:
            raise SettingsError(f"{dim} axes of a whitening that has {self.dim_out}")
        axes = np.ascontiguousarray(self.axes[:, :dim])
        return replace(
            self, axes=axes, variances=self.variances[:dim], exponent=exponent, floor=floor
        )

    @cached_property
    def _matrix(self) -> FloatArray | None:
        if self.axes is None:
            return None
        floored = np.maximum(self.variances, self.floor * self.variances[0])
        return np.asarray(self.axes / floored**self.exponent, dtype=np.float32)


# --- fitting --------------------------------------------------------------------------------


def fit(
    rows: ArrayLike,
    *,
    name: str,
    exponent: float = 0.5,
    dim: int | None = None,
    floor: float = FLOOR,
) -> Whitening:
    """A whitening learned from (N, D) descriptors; see `WhiteningFit.finish`."""
    learning = WhiteningFit(np.shape(rows)[-1])
    learning.add(rows)
    return learning.finish(name=name, exponent=exponent, dim=dim, floor=floor)


class WhiteningFit:
    """Learns from descriptors that come in batches of any size; holds D² numbers, however many
    come. Mean and covariance are kept in double precision and merged batch by batch (Chan et al.
    1983), so that they do not depend on how the descriptors were dealt out."""

    def __init__(self, dim: int) -> None:
        self._count = 0
        self._mean: Float64 = np.zeros(dim)
        self._scatter: Float64 = np.zeros((dim, dim))

    def add(self, rows: ArrayLike) -> None:
        """Learns from (N, D) descriptors, N ≥ 0.

        Raises:
            SettingsError: descriptors of another length, or with values that are no numbers.
        """
        batch = np.asarray(rows, dtype=np.float64)
        if batch.ndim != 2 or batch.shape[1] != len(self._mean):
            raise SettingsError(f"descriptors of shape {batch.shape}, not (N, {len(self._mean)})")
        if not np.isfinite(batch).all():
            raise SettingsError("a descriptor holds values that are no numbers")
        if not len(batch):
            return
        mean = batch.mean(axis=0)
        centred = batch - mean
        apart = mean - self._mean
        total = self._count + len(batch)
        self._scatter += centred.T @ centred
        self._scatter += np.outer(apart, apart) * (self._count * len(batch) / total)
        self._mean += apart * (len(batch) / total)
        self._count = total

    def finish(
        self,
        *,
        name: str,
        exponent: float = 0.5,
        dim: int | None = None,
        floor: float = FLOOR,
    ) -> Whitening:
        """The whitening of what came so far.

        Of N descriptors at most N - 1 axes vary; axes without variance are left out, so k may be
        smaller than D. The covariance is divided by N - 1.

        Args:
            name: what the descriptors are of, for people to read.
            exponent: a ≥ 0.
            dim: k, or None for as many as vary.
            floor: see `FLOOR`.

        Raises:
            SettingsError: fewer than two different descriptors, or more axes asked for than vary.
        """
        if self._count < 2:
            raise SettingsError(f"a whitening needs at least 2 descriptors, not {self._count}")
        values, vectors = np.linalg.eigh(self._scatter / (self._count - 1))
        values, vectors = values[::-1], vectors[:, ::-1]
        # Below the first, a mean far from 0 leaves rounding of its own size.
        smallest = max(_RANK * values[0], np.finfo(np.float64).eps * float(self._mean @ self._mean))
        rank = min(int(np.count_nonzero(values > smallest)), self._count - 1)
        if rank < 1:
            raise SettingsError("a whitening needs descriptors that differ")
        fitted = Whitening(
            mean=self._mean.astype(np.float32),
            axes=_signed(vectors[:, :rank]).astype(np.float32),
            variances=values[:rank].copy(),
            exponent=exponent,
            name=name,
            count=self._count,
        )
        return fitted.changed(exponent=exponent, dim=dim, floor=floor)


def _signed(axes: Float64) -> Float64:
    """Each axis in the one of its two directions that is positive where it is largest: two fits
    of the same descriptors agree."""
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
    signed: Float64 = axes * np.where(largest < 0, -1.0, 1.0)
    return signed


# --- files ----------------------------------------------------------------------------------


def save(whitening: Whitening, path: Path) -> None:
    """Writes a whitening as safetensors, with what it was fitted on.

    Raises:
        NetworkError: the file cannot be written.
    """
    tensors: dict[str, NDArray[Any]] = {
        "mean": whitening.mean,
        "variances": whitening.variances,
    }
    if whitening.axes is not None:
        tensors["axes"] = np.ascontiguousarray(whitening.axes)
    about = {key: getattr(whitening, key) for key in ("exponent", "floor", "name", "count")}
    about["format"] = _FORMAT
    try:
        # One entry: safetensors writes several in any order, and the file's checksum names it.
        save_file(tensors, path, metadata={"about": json.dumps(about)})
    except (OSError, SafetensorError) as error:
        raise NetworkError(f"the whitening {path} cannot be written: {error}") from error


def load(path: Path) -> Whitening:
    """The whitening that `save` wrote. Nothing in the file is executed.

    Raises:
        NetworkError: the file is missing, damaged, or none of these.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise NetworkError(f"the whitening {path} cannot be read: {error}") from error
    try:
        about = json.loads(metadata["about"])
        form = metadata["format"] if "format" in metadata else about["format"]
        if form != _FORMAT:
            raise ValueError(f"its format is {form!r}")
        found = Whitening(
            mean=tensors["mean"].astype(np.float32),
            axes=tensors["axes"].astype(np.float32) if "axes" in tensors else None,
            variances=tensors["variances"].astype(np.float64),
            exponent=float(about["exponent"]),
            name=str(about["name"]),
            count=int(about["count"]),
            floor=float(about["floor"]),
        )
        _check(found)
    except (KeyError, ValueError, TypeError) as error:
        raise NetworkError(f"{path} holds no whitening: {error}") from error
    return found


def _check(found: Whitening) -> None:
    axes = found.axes
    if found.mean.ndim != 1 or found.variances.ndim != 1:
        raise ValueError("mean and variances are no vectors")
    if axes is not None and axes.shape != (len(found.mean), len(found.variances)):
        raise ValueError(f"axes of shape {axes.shape} do not fit mean and variances")
    if axes is not None and (not axes.size or not found.variances.min() > 0):
        raise ValueError("an axis has no variance")
    if not found.exponent >= 0 or not 0 <= found.floor <= 1:
        raise ValueError(f"the exponent is {found.exponent}, the floor {found.floor}")
    for values in (found.mean, found.variances, axes):
        if values is not None and not np.isfinite(values).all():
            raise ValueError("a value is no number")
