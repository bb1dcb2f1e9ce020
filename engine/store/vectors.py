"""Vector files of one network: fixed-width rows, appended and memory-mapped.

Three files, without headers, little-endian:

- ``descriptors.f16``: (N, D) float16, one row for a photo;
- ``regions.bin``: (ΣR, W) bytes, the base regions of all photos, photo after photo, as a codec of
  `engine.features.codes` made them;
- ``boxes.f32``: (ΣR, 4) float32, x0, y0, x1, y1 of each region as fractions of the upright photo.

How many rows count is not said here but in the database: rows behind the committed ones are the
rest of an interrupted append, and are cut off or overwritten.
"""

import contextlib
import json
import mmap
import os
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import LibraryError
from engine.features.codes import CodeArray
from engine.store.paths import spelled
from engine.store.trouble import from_os
from engine.types import FloatArray, HalfArray

_LAYOUT = "layout.json"
_VERSION = 2


@dataclass(frozen=True, slots=True)
class VectorLayout:
    """``dim``: D, numbers of a descriptor. ``region_bytes``: W, bytes of one region."""

    dim: int
    region_bytes: int
    version: int = _VERSION


@dataclass(frozen=True, slots=True)
class _Column:
    """One file: its name and what a row is."""

    name: str
    dtype: np.dtype[Any]
    width: int

    @property
    def row_bytes(self) -> int:
        return self.dtype.itemsize * self.width


class VectorStore:
    """The vector files of one network. One writer at a time; any number of readers beside it.

    Views that were handed out stay good while rows are appended.
    """

    def __init__(self, folder: Path, *, dim: int, region_bytes: int, writable: bool) -> None:
        """Not for callers: see `open`."""
        self._folder = folder
        self._dim = dim
        self._columns = (
            _Column("descriptors.f16", np.dtype("<f2"), dim),
            _Column("regions.bin", np.dtype(np.uint8), region_bytes),
            _Column("boxes.f32", np.dtype("<f4"), 4),
        )
        self._files: list[FileIO] = []
        try:
            for column in self._columns if writable else ():
                self._files.append(_for_appending(folder / column.name))
        except OSError:
            self.close()
            raise
        self._rows, self._region_rows = self.whole_rows()

    @classmethod
    def open(cls, folder: Path, *, dim: int, region_bytes: int, writable: bool) -> "VectorStore":
        """Open the files in ``folder``; a writable store makes what is lacking.

        Raises:
            LibraryError: the vectors are of another length or version, or the disk is full or
                may only be read.
        """
        wanted = VectorLayout(dim, region_bytes)
        try:
            layout = _read_layout(folder)
            if layout is None and writable:
                folder.mkdir(parents=True, exist_ok=True)
                _write_layout(folder, wanted)
            if layout not in (None, wanted):
                raise LibraryError(f"the vectors in {spelled(folder)} are laid out as {layout}")
            return cls(folder, dim=dim, region_bytes=region_bytes, writable=writable)
        except OSError as error:
            raise from_os(error, folder) from error

    @property
    def dim(self) -> int:
        """D, the length of a vector."""
        return self._dim

    @property
    def rows(self) -> int:
        """Where the next photo goes."""
        return self._rows

    @property
    def region_rows(self) -> int:
        """Where the next photo's regions go."""
        return self._region_rows

    def whole_rows(self) -> tuple[int, int]:
        """How many whole rows and whole region rows the files hold, committed or not."""
        sizes = [_size(self._folder / column.name) // column.row_bytes for column in self._columns]
        return sizes[0], min(sizes[1], sizes[2])

    def append(
        self, descriptors: FloatArray, regions: CodeArray, boxes: FloatArray
    ) -> tuple[int, int]:
        """Write photos behind the last row, not yet flushed.

        ``descriptors``: (B, D), stored as float16. ``regions``: (ΣR, W) uint8. ``boxes``: (ΣR, 4).
        Returns the first row and the first region row that they have now.

        Raises:
            LibraryError: the disk is full or failed; the store is as it was before.
        """
        width = self._columns[1].width
        if descriptors.shape[1:] != (self._dim,) or regions.shape[1:] != (width,):
            raise ValueError(f"vectors are to be {self._dim} long, regions {width} bytes")
        if boxes.shape != (len(regions), 4):
            raise ValueError(f"{len(regions)} regions need as many boxes, not {boxes.shape}")
        first = self._rows, self._region_rows
        blocks: tuple[NDArray[Any], ...] = (descriptors, regions, boxes)
        for column, file, row, block in zip(
            self._columns, self._files, (first[0], first[1], first[1]), blocks,
            strict=True,
        ):  # fmt: skip
            self._write(file, row * column.row_bytes, block.astype(column.dtype, order="C"))
        self._rows += len(descriptors)
        self._region_rows += len(regions)
        return first

    def flush(self) -> None:
        """Return when everything appended is on the disk itself."""
        try:
            for file in self._files:
                os.fsync(file.fileno())
        except OSError as error:
            raise from_os(error, self._folder) from error

    def truncate(self, rows: int, region_rows: int) -> None:
        """Forget what lies behind these counts; the next append goes there.

        Raises:
            LibraryError: the files hold fewer.
        """
        self._demand(rows, region_rows)
        counts = (rows, region_rows, region_rows)
        for column, file, count in zip(self._columns, self._files, counts, strict=True):
            # Some systems do not shorten a mapped file. Then the rest stays, and is overwritten.
            with contextlib.suppress(OSError):
                file.truncate(count * column.row_bytes)
        self._rows, self._region_rows = rows, region_rows

    def descriptors(self, rows: int) -> HalfArray:
        """The first ``rows`` descriptors, (rows, D) float16, mapped and read-only.

        Raises:
            LibraryError: the file holds fewer.
        """
        self._demand(rows, 0)
        return self._mapped(0, rows)

    def regions(self, region_rows: int) -> CodeArray:
        """The first ``region_rows`` regions, (region_rows, W) uint8, mapped, read-only.

        Raises:
            LibraryError: the file holds fewer.
        """
        self._demand(0, region_rows)
        return self._mapped(1, region_rows)

    def boxes(self, region_rows: int) -> FloatArray:
        """The first ``region_rows`` boxes, (region_rows, 4) float32 x0, y0, x1, y1, read-only.

        Raises:
            LibraryError: the file holds fewer.
        """
        self._demand(0, region_rows)
        return self._mapped(2, region_rows)

    def close(self) -> None:
        """Close the files; views that were handed out stay good."""
        for file in self._files:
            file.close()

    def __enter__(self) -> "VectorStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _write(self, file: FileIO, offset: int, block: NDArray[Any]) -> None:
        left = block.reshape(-1).view(np.uint8).data
        try:
            file.seek(offset)
            while left:
                left = left[file.write(left) :]
        except OSError as error:
            raise from_os(error, self._folder) from error

    def _demand(self, rows: int, region_rows: int) -> None:
        held = self.whole_rows()
        if rows > held[0] or region_rows > held[1]:
            raise LibraryError(
                f"the vector files in {spelled(self._folder)} are shorter than the library says"
            )

    def _mapped(self, which: int, rows: int) -> NDArray[Any]:
        column = self._columns[which]
        if not rows:
            return np.empty((0, column.width), column.dtype)
        try:
            with (self._folder / column.name).open("rb") as file:
                view = mmap.mmap(file.fileno(), rows * column.row_bytes, access=mmap.ACCESS_READ)
        except OSError as error:
            raise from_os(error, self._folder) from error
        return np.frombuffer(view, column.dtype).reshape(rows, column.width)


def stored_layout(folder: Path) -> VectorLayout | None:
    """How the vectors in this folder are laid out, or None where there are none.

    Raises:
        LibraryError: what says so cannot be read.
    """
    try:
        return _read_layout(folder)
    except OSError as error:
        raise from_os(error, folder) from error


def _read_layout(folder: Path) -> VectorLayout | None:
    path = folder / _LAYOUT
    try:
        layout = json.loads(path.read_text(encoding="utf-8"))
        return VectorLayout(**{name: int(value) for name, value in layout.items()})
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError) as error:
        raise LibraryError(f"{spelled(path)} is damaged: {error}") from error


def _write_layout(folder: Path, layout: VectorLayout) -> None:
    draft = folder / f"{_LAYOUT}.new"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(asdict(layout), file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / _LAYOUT)


def _for_appending(path: Path) -> FileIO:
    path.touch()
    return path.open("r+b", buffering=0)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
