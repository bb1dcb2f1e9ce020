"""What turns pooled values into a descriptor: L2, a linear layer, a whitening.

f = L2(P(L2(W g + b) - μ)) for the pooled values g of a region, brought to unit length beforehand
where the network was trained so (Revaud et al. 2019, section 3.1 and 4.2; Radenović et al. 2018,
section 3.3). Regions go through the same head as whole photos, so that all are compared in one
space. Values after it may be negative.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from engine.errors import NetworkError
from engine.features.pooling import unit_rows
from engine.features.whitening import Whitening
from engine.types import FloatArray

Float64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """y = W g + b. ``weight``: W (k, C) float32; ``bias``: b (k,) float32."""

    weight: FloatArray
    bias: FloatArray

    def __post_init__(self) -> None:
        """Raises NetworkError: the shapes do not fit, or a value is no number."""
        if self.weight.ndim != 2 or not self.weight.size:
            raise NetworkError(f"the linear layer's weight has the shape {self.weight.shape}")
        if self.bias.shape != self.weight.shape[:1]:
            raise NetworkError(
                f"the linear layer's bias {self.bias.shape} does not fit its weight "
                f"{self.weight.shape}"
            )
        if not (np.isfinite(self.weight).all() and np.isfinite(self.bias).all()):
            raise NetworkError("the linear layer holds values that are no numbers")

    def apply(self, rows: NDArray[np.floating]) -> FloatArray:
        """(…, C) → (…, k)."""
        return np.asarray(rows.astype(np.float32) @ self.weight.T + self.bias, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """``linear`` and ``whitening``: None where there is none. ``unit_first``: whether the linear
    layer is given pooled values of unit length, not as they are; a whitening always is."""

    linear: Linear | None = None
    whitening: Whitening | None = None
    unit_first: bool = True

    def __post_init__(self) -> None:
        """Raises NetworkError: the parts do not fit each other."""
        if self.linear is None and not self.unit_first:
            raise NetworkError("without a linear layer pooled values are brought to unit length")
        if self.linear is not None and self.whitening is not None:
            given, taken = len(self.linear.weight), self.whitening.dim_in
            if given != taken:
                raise NetworkError(
                    f"the linear layer gives {given} numbers, the whitening takes {taken}"
                )

    @property
    def dim_in(self) -> int | None:
        """C, the number of channels that it takes; None: any."""
        if self.linear is not None:
            return int(self.linear.weight.shape[1])
        return None if self.whitening is None else self.whitening.dim_in

    @property
    def dim_out(self) -> int | None:
        """The length of descriptors; None: as many as there are channels."""
        if self.whitening is not None:
            return self.whitening.dim_out
        return None if self.linear is None else len(self.linear.weight)

    def apply(self, pooled: ArrayLike) -> FloatArray:
        """(…, C) pooled values → (…, k) float32 of unit length; a row of zeros, which is an empty
        region, gives zeros."""
        return unit_rows(self.project(pooled))

    def project(self, pooled: ArrayLike) -> NDArray[np.floating]:
        """(…, C) → (…, k) before the last L2."""
        given = np.asarray(pooled)
        rows: NDArray[np.floating] = unit_rows(given) if self.unit_first else given
        if self.linear is not None:
            rows = np.where(rows.any(axis=-1, keepdims=True), self.linear.apply(rows), 0.0)
            rows = rows if self.whitening is None else unit_rows(rows)
        return rows if self.whitening is None else self.whitening.project(rows)

    def back(self, direction: ArrayLike, pooled: ArrayLike) -> tuple[Float64, float]:
        """How a product with what the head gives comes about from what it was given.

        Args:
            direction: d (k,).
            pooled: g (C,), not 0. The lengths that the head divides by are those of this g.

        Returns:
            w (C,) and a number c with d · project(g) = w · g + c.
        """
        g = np.asarray(pooled)
        length = float(np.linalg.norm(g)) if self.unit_first else 1.0
        w, constant = np.asarray(direction, dtype=np.float64), 0.0
        if self.whitening is not None:
            w = self.whitening.back(w)
            constant = -float(w @ self.whitening.mean)
        if self.linear is not None:
            if self.whitening is not None:
                w = w / float(np.linalg.norm(self.linear.apply(g / length)))
            constant += float(w @ self.linear.bias)
            # In single precision: the weight would be copied for every region otherwise.
            w = np.asarray(w.astype(np.float32) @ self.linear.weight, dtype=np.float64)
        return w / length, constant


def through(head: Head | None, pooled: FloatArray) -> FloatArray:
    """What the head makes of pooled values; without one they are features already."""
    return pooled if head is None else head.apply(pooled)


# --- files ----------------------------------------------------------------------------------


def linear_bytes(linear: Linear) -> bytes:
    """The linear layer as safetensors."""
    tensors = {"weight": linear.weight, "bias": linear.bias}
    return save({name: np.ascontiguousarray(value) for name, value in tensors.items()})


def load_linear(path: Path, *, sha256: str) -> Linear:
    """The linear layer that `linear_bytes` made.

    Raises:
        NetworkError: the file is missing, another one, or holds none.
    """
    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != sha256:
            raise NetworkError(f"the linear layer is damaged: {path} has the wrong checksum")
        tensors = load(content)
        return Linear(tensors["weight"], tensors["bias"])
    except (OSError, SafetensorError, KeyError) as error:
        raise NetworkError(f"the linear layer {path} cannot be read: {error}") from error
