"""Makers of what checkpoints of torch hold: tensors, ordered dictionaries, a PCA of scikit-learn.

A tensor becomes a `TensorRecord`: where its numbers lie in the file, which `engine.pickled.
torch_file` reads when they are wanted. A PCA becomes a `PcaRecord`, under the module path of any
scikit-learn; its class is never needed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.pickled.arrays import NUMPY
from engine.pickled.reading import Dialect
from engine.pickled.words import Maker, Named, PickleRefusedError, Unfinished

BFLOAT16: Final = "bfloat16"
_CODES: Final = {
    "Float": "<f4",
    "Double": "<f8",
    "Half": "<f2",
    "BFloat16": BFLOAT16,
    "Long": "<i8",
    "Int": "<i4",
    "Short": "<i2",
    "Char": "i1",
    "Byte": "u1",
    "Bool": "?",
}
_STORAGES: Final = {
    f"torch.{of}{kind}Storage": code for kind, code in _CODES.items() for of in ("", "cuda.")
}
_MOST_AXES = 32


@dataclass(frozen=True, slots=True)
class Storage:
    """A run of ``count`` numbers in the file, by its ``key`` there. ``code``: numpy's for their
    kind, or `BFLOAT16`."""

    code: str
    key: str
    count: int

    @property
    def nbytes(self) -> int:
        """Its length in the file."""
        return self.count * (2 if self.code == BFLOAT16 else np.dtype(self.code).itemsize)


@dataclass(frozen=True, slots=True)
class TensorRecord:
    """A tensor that is still in the file; it lies within its storage. Counts are of numbers."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PcaRecord:
    """A fitted PCA: ``mean`` (D,), ``components`` (k, D), ``variances`` (k,), all finite;
    ``whitened``: whether it divides by them."""

    mean: NDArray[np.floating]
    components: NDArray[np.floating]
    variances: NDArray[np.floating]
    whitened: bool


# --- tensors --------------------------------------------------------------------------------


def _storage(identity: object) -> Storage:
    """What torch's persistent ids stand for; the last of six fields is a view, which nobody has
    written since 2017."""
    match identity:
        case ("storage", Named(name=name), str() as key, str(), int() as count, *view):
            if name in _STORAGES and count >= 0 and view in ([], [None]):
                return Storage(_STORAGES[name], key, count)
    raise PickleRefusedError("a persistent id is not what torch writes")


def _tensor(
    storage: object, offset: object, shape: object, strides: object, *_of_training: object
) -> TensorRecord:
    if not isinstance(storage, Storage):
        raise PickleRefusedError("a tensor has no storage")
    sides, steps = _counts(shape), _counts(strides)
    if not isinstance(offset, int) or offset < 0 or len(sides) != len(steps):
        raise PickleRefusedError("the shape of a tensor is none")
    count = int(np.prod(sides, dtype=object))
    last = offset + sum((side - 1) * step for side, step in zip(sides, steps, strict=True))
    # No more numbers than the storage has: a tensor that repeats them could unfold to anything.
    if count > storage.count or (count and last >= storage.count):
        raise PickleRefusedError("a tensor reaches beyond its storage")
    return TensorRecord(storage, offset, sides, steps)


def _counts(values: object) -> tuple[int, ...]:
    if not isinstance(values, tuple) or len(values) > _MOST_AXES:
        raise PickleRefusedError("the shape of a tensor is none")
    if not all(type(value) is int and value >= 0 for value in values):
        raise PickleRefusedError("the shape of a tensor is none")
    return values


def _parameter(data: object, *_of_training: object) -> TensorRecord:
    if not isinstance(data, TensorRecord):
        raise PickleRefusedError("a parameter is no tensor")
    return data


# --- containers -----------------------------------------------------------------------------


class _Ordered(dict[object, object], Unfinished):
    """A dictionary that may be given attributes: those of torch's state dictionaries say which
    version of a layer's code wrote them, and are dropped."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        Unfinished.__init__(self)
        dict.__init__(self, items)

    def finish(self, state: object) -> object:
        if not isinstance(state, dict):
            raise PickleRefusedError("the state of a dictionary is none")
        return self


def _ordered(items: object = ()) -> _Ordered:
    """Python 2 writes the items as a list of lists of two."""
    if not isinstance(items, list | tuple):
        raise PickleRefusedError("the items of a dictionary are none")
    for item in items:
        if not isinstance(item, list | tuple) or len(item) != 2 or not isinstance(item[0], str):
            raise PickleRefusedError("the items of a dictionary are none")
    return _Ordered(items)


def _defaulting(_factory: object = None) -> dict[object, object]:
    return {}


def _listed(items: object = ()) -> list[object]:
    """A set, as the list that it is written as."""
    if not isinstance(items, list | tuple):
        raise PickleRefusedError("the items of a set are none")
    return list(items)


def _sizes(items: object = ()) -> tuple[int, ...]:
    return _counts(tuple(items) if isinstance(items, list) else items)


# --- PCA ------------------------------------------------------------------------------------


class _Pca(Unfinished):
    """A PCA before its attributes."""

    def finish(self, state: object) -> PcaRecord:
        match state:
            case {
                "mean_": np.ndarray() as mean,
                "components_": np.ndarray() as components,
                "explained_variance_": np.ndarray() as variances,
                "whiten": bool() as whitened,
            }:
                pass
            case _:
                raise PickleRefusedError("a PCA lacks its mean, components or variances")
        if any(one.dtype.kind != "f" for one in (mean, components, variances)):
            raise PickleRefusedError("a PCA is not made of numbers")
        if mean.ndim != 1 or components.shape != (*variances.shape, *mean.shape):
            raise PickleRefusedError("the components of a PCA do not fit its mean and variances")
        if not all(np.isfinite(one).all() for one in (mean, components, variances)):
            raise PickleRefusedError("a PCA holds values that are no numbers")
        return PcaRecord(mean, components, variances, whitened)


_PCA_NAMES: Final = frozenset({"sklearn.decomposition.pca.PCA", "sklearn.decomposition._pca.PCA"})


def _reconstructed(of: object, base: object, state: object) -> _Pca:
    """How protocols 0 and 1 make an object."""
    plain = isinstance(base, Named) and base.name in ("builtins.object", "__builtin__.object")
    if not isinstance(of, Named) or of.name not in _PCA_NAMES or not plain or state is not None:
        raise PickleRefusedError("an object other than a PCA is not admitted")
    return _Pca()


def _not_called(*_arguments: object) -> object:
    raise PickleRefusedError("a class is called that only has a name here")


_ADMITTED: Final[Mapping[str, Maker]] = MappingProxyType(
    {
        **NUMPY,
        **dict.fromkeys(_STORAGES, _not_called),
        "torch._utils._rebuild_tensor": _tensor,
        "torch._utils._rebuild_tensor_v2": _tensor,
        "torch._utils._rebuild_parameter": _parameter,
        "torch.Size": _sizes,
        "collections.OrderedDict": _ordered,
        "collections.defaultdict": _defaulting,
        **dict.fromkeys(_PCA_NAMES, _Pca),
        "copyreg._reconstructor": _reconstructed,
        "copy_reg._reconstructor": _reconstructed,
        **{
            f"{module}.{name}": maker
            for module in ("builtins", "__builtin__")
            for name, maker in (
                ("object", _not_called),
                ("dict", _defaulting),
                ("list", _listed),
                ("set", _listed),
                ("frozenset", _listed),
            )
        },
    }
)

CHECKPOINT: Final = Dialect(_ADMITTED, _storage, frozenset({TensorRecord, PcaRecord, _Ordered}))
"""What a checkpoint of torch may ask for."""
