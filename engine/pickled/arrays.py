"""Makers of numeric numpy arrays, under the names that numpy 1 and 2, Python 2 and 3 give them.

The bytes of an array are wrapped, never interpreted by numpy's own unpickling; they must be as
many as shape and kind of number ask for. No objects, no strings, no records.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.pickled.words import Maker, Named, PickleRefusedError, Unfinished

_KINDS = frozenset(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)) | {"f2", "f4", "f8"}
_MOST_AXES = 32
_LATIN = frozenset({"latin1", "latin-1"})


class _Kind(Unfinished):
    """A dtype before its byte order is known."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = code

    def finish(self, state: object) -> np.dtype[Any]:
        match state:
            case (int(), "<" | ">" | "|" | "=" as order, None, None, None, int(), int(), int()):
                return np.dtype(self._code).newbyteorder(order)
            case _:
                raise PickleRefusedError("an array of other than plain numbers is not admitted")


class _Array(Unfinished):
    """An array before its content."""

    def finish(self, state: object) -> NDArray[Any]:
        match state:
            case (int(), shape, kind, int() as by_columns, raw):
                return _filled(raw, kind, shape, "F" if by_columns else "C")
            case _:
                raise PickleRefusedError("the state of an array is not what numpy writes")


def _kind(code: object, _align: object, _copy: object) -> _Kind:
    if not isinstance(code, str) or code not in _KINDS:
        raise PickleRefusedError("an array of other than plain numbers is not admitted")
    return _Kind(code)


def _reconstruct(of: object, _shape: object, _code: object) -> _Array:
    if of != Named("numpy.ndarray"):
        raise PickleRefusedError("a kind of array that is not numpy's own is not admitted")
    return _Array()


def _filled(raw: object, kind: object, shape: object, order: object) -> NDArray[Any]:
    """The array over the bytes of the file, read-only and without a copy."""
    if not isinstance(kind, np.dtype):
        raise PickleRefusedError("an array has no kind")
    content = _bytes(raw)
    if not isinstance(shape, tuple) or len(shape) > _MOST_AXES:
        raise PickleRefusedError("the shape of an array is none")
    if not all(type(side) is int and side >= 0 for side in shape):
        raise PickleRefusedError("the shape of an array is none")
    if math.prod(shape) * kind.itemsize != len(content):
        raise PickleRefusedError("an array's shape does not fit its content")
    return np.frombuffer(content, kind).reshape(shape, order="F" if order == "F" else "C")


def _scalar(kind: object, raw: object) -> object:
    return _filled(raw, kind, (), "C").item()


def _encode(text: object, encoding: object) -> bytes:
    """How Python 3 writes bytes for older readers."""
    if not isinstance(text, str) or encoding not in _LATIN:
        raise PickleRefusedError("an encoding other than Latin-1 is not admitted")
    return _bytes(text)


def _bytes(raw: object) -> bytes:
    if isinstance(raw, bytes):
        return raw
    if not isinstance(raw, str):
        raise PickleRefusedError("the content of an array is no bytes")
    return raw.encode("latin-1")


def _no_bytes() -> bytes:
    return b""


def _not_called(*_arguments: object) -> object:
    raise PickleRefusedError("an array is not made by calling its class")


NUMPY: Final[Mapping[str, Maker]] = MappingProxyType(
    {
        "numpy.dtype": _kind,
        "numpy.ndarray": _not_called,
        "_codecs.encode": _encode,
        "builtins.bytes": _no_bytes,
        "__builtin__.bytes": _no_bytes,
        **{
            f"numpy.{core}.{name}": maker
            for core in ("core", "_core")
            for name, maker in (
                ("multiarray._reconstruct", _reconstruct),
                ("multiarray.scalar", _scalar),
                ("numeric._frombuffer", _filled),
            )
        },
    }
)
"""What a pickle of numbers, strings, containers and numeric arrays calls."""
