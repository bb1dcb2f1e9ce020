"""Files that torch.save wrote, of both its formats, without torch and without executing anything.

Up to torch 1.5: five pickles (a magic number, a version, facts of the machine, the content, the
keys of its storages), then the storages. Since then: a zip archive, uncompressed, with the content
as data.pkl and a member for each storage. Storages are read only when they are asked for.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.pickled.reading import load
from engine.pickled.tensors import BFLOAT16, CHECKPOINT, Storage, TensorRecord
from engine.pickled.words import PickleRefusedError

ZIP_BEGINS: Final = b"PK\x03\x04"

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_COUNT = struct.Struct("<q")
_LARGEST_PICKLE_BYTES = 1024**3
_KEY = re.compile(r"[0-9A-Za-z_]{1,40}")
_PICKLE_MEMBER = re.compile(r"([^/]+/)?data\.pkl")
ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    UnicodeDecodeError,
    ValueError,
)
"""What zipfile raises for an archive that is damaged, encrypted or strangely packed."""


@dataclass(frozen=True, slots=True, eq=False)
class TorchFile:
    """``content``: what was saved, a tree in which tensors are `TensorRecord`s. Valid while the
    file is open."""

    content: object
    _bytes_of: Callable[[Storage], bytes]

    def array(self, record: TensorRecord) -> NDArray[Any]:
        """The numbers of a tensor, in an array of its own; bfloat16 as float32.

        Raises:
            PickleRefusedError: the file does not have them.
        """
        numbers = _numbers(self._bytes_of(record.storage), record.storage)
        strides = [step * numbers.itemsize for step in record.strides]
        view = np.lib.stride_tricks.as_strided(
            numbers[record.offset :], record.shape, strides, writeable=False
        )
        return np.array(view, order="C")


@contextmanager
def opened(stream: IO[bytes], length: int) -> Iterator[TorchFile]:
    """The file that begins where the stream does.

    Args:
        length: of the file in bytes.

    Raises:
        PickleRefusedError: it is none, is damaged, or asks for what is not admitted.
    """
    begins = stream.read(len(ZIP_BEGINS))
    stream.seek(0)
    if begins != ZIP_BEGINS:
        yield _of_pickles(stream, length)
        return
    with _archive(stream) as archive:
        yield _of_archive(archive)


def is_torch_archive(archive: zipfile.ZipFile) -> bool:
    """Whether a zip archive is torch's own, not one that holds a file."""
    return any(_PICKLE_MEMBER.fullmatch(name) for name in archive.namelist())


def _numbers(raw: bytes, storage: Storage) -> NDArray[Any]:
    if len(raw) != storage.nbytes:
        raise PickleRefusedError(f"the storage {storage.key!r} is cut off")
    if storage.code == BFLOAT16:
        return (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
    return np.frombuffer(raw, storage.code)


# --- pickles one after the other -------------------------------------------------------------


def _of_pickles(stream: IO[bytes], length: int) -> TorchFile:
    def following() -> object:
        return load(stream, length - stream.tell(), CHECKPOINT)

    if following() != _MAGIC or following() != _VERSION:
        raise PickleRefusedError("it is no file that torch.save wrote")
    machine = following()
    if not isinstance(machine, dict) or machine.get("little_endian") is not True:
        raise PickleRefusedError("it was written on a big-endian machine")
    content = following()
    keys = following()
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise PickleRefusedError("the keys of its storages are none")
    places = _places(stream, length, keys, {one.key: one for one in _storages(content)})

    def bytes_of(storage: Storage) -> bytes:
        place, count = places.get(storage.key, (0, -1))
        if count != storage.count:
            raise PickleRefusedError(f"the file has no storage {storage.key!r} of its length")
        stream.seek(place)
        return stream.read(storage.nbytes)

    return TorchFile(content, bytes_of)


def _places(
    stream: IO[bytes], length: int, keys: list[str], known: dict[str, Storage]
) -> dict[str, tuple[int, int]]:
    """By the key of a storage, where its numbers begin and how many they are."""
    found = {}
    place = stream.tell()
    for key in keys:
        stream.seek(place)
        raw = stream.read(_COUNT.size)
        if key not in known or len(raw) != _COUNT.size:
            raise PickleRefusedError(f"the storage {key[:80]!r} is cut off, or nobody's")
        place += _COUNT.size
        found[key] = (place, _COUNT.unpack(raw)[0])
        place += known[key].nbytes
        if place > length:
            raise PickleRefusedError(f"the storage {key[:80]!r} is cut off")
    return found


def _storages(content: object) -> Iterator[Storage]:
    """Of all tensors of a tree; the reader has seen to it that it ends."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, TensorRecord):
            yield value.storage
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)


# --- zip archive ----------------------------------------------------------------------------


@contextmanager
def _archive(stream: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(stream)
    except ZIP_ERRORS as error:
        raise PickleRefusedError(f"the archive is damaged: {error}") from error
    with archive:
        yield archive


def _of_archive(archive: zipfile.ZipFile) -> TorchFile:
    members = {one.filename: one for one in archive.infolist()}
    pickles = [name for name in members if _PICKLE_MEMBER.fullmatch(name)]
    if len(pickles) != 1:
        raise PickleRefusedError("the archive holds no content that torch.save wrote")
    folder = pickles[0].removesuffix("data.pkl")

    def member(name: str, limit: int) -> bytes:
        found = members.get(folder + name)
        if found is None:
            raise PickleRefusedError(f"the archive lacks {name!r}")
        if found.compress_type != zipfile.ZIP_STORED or found.file_size > limit:
            raise PickleRefusedError(f"{name!r} in the archive is packed, or too large")
        try:
            return archive.read(found)
        except ZIP_ERRORS as error:
            raise PickleRefusedError(f"{name!r} in the archive is damaged: {error}") from error

    def bytes_of(storage: Storage) -> bytes:
        if not _KEY.fullmatch(storage.key):
            raise PickleRefusedError(f"the key of a storage is {storage.key[:80]!r}")
        return member(f"data/{storage.key}", storage.nbytes)

    if folder + "byteorder" in members and member("byteorder", 16) != b"little":
        raise PickleRefusedError("it was written on a big-endian machine")
    pickle = member("data.pkl", _LARGEST_PICKLE_BYTES)
    return TorchFile(load(io.BytesIO(pickle), len(pickle), CHECKPOINT), bytes_of)
