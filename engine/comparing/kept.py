"""Arrays that a later run uses again: one file each in a cache folder that cannot grow for ever."""

import contextlib
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from engine.errors import SettingsError

_log = logging.getLogger(__name__)

Arrays = Mapping[str, NDArray[Any]]

LIMIT_BYTES = 24 * 2**30
"""What the whole folder may hold."""

_SUFFIX = ".safetensors"


class KeptArrays:
    """A folder of named arrays. Files are mapped into memory to be read and renamed into place
    when written, so that one that is there is whole. One run at a time makes room."""

    def __init__(self, folder: Path, *, limit_bytes: int = LIMIT_BYTES) -> None:
        self._folder = folder
        self._limit = limit_bytes

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self._folder

    def __contains__(self, name: str) -> bool:
        """Whether there is a whole file; its header tells how long it must be."""
        try:
            with safe_open(self._path(name), framework="numpy"):
                return True
        except (OSError, SafetensorError):
            return False

    def get(self, name: str) -> Arrays | None:
        """The arrays of this name; None where there are none, or their file is damaged."""
        path = self._path(name)
        try:
            found: Arrays = load_file(path)
            os.utime(path)  # the least recently used go first
        except (OSError, SafetensorError):
            return None
        return found

    def put(self, name: str, arrays: Arrays) -> None:
        """Keep them.

        Raises:
            OSError: the disk is full, or may not be written.
        """
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}")
        try:
            save_file(dict(arrays), aside)
            aside.replace(path)
        except SafetensorError as error:
            raise OSError(f"{path} cannot be written: {error}") from error
        finally:
            aside.unlink(missing_ok=True)

    def make_room(self, needed_bytes: int, *, of: str) -> None:
        """Say on the log what will be kept, and remove what was used longest ago where the folder
        would pass its limit.

        Args:
            of: what is kept, for people.

        Raises:
            SettingsError: so much is never allowed, or not free.
        """
        if not needed_bytes:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self._folder).free
        if needed_bytes > min(self._limit, free):
            room = _gigabytes(min(self._limit, free))
            raise SettingsError(
                f"{of} take up to {_gigabytes(needed_bytes)}, and {self._folder} has room for "
                f"{room}: choose a smaller size"
            )
        _log.warning("%s: up to %s in %s", of, _gigabytes(needed_bytes), self._folder)
        self._forget(down_to=self._limit - needed_bytes)

    def _forget(self, *, down_to: int) -> None:
        facts = [(path, path.stat()) for path in self._folder.rglob(f"*{_SUFFIX}")]
        held = sum(fact.st_size for _, fact in facts)
        for path, fact in sorted(facts, key=lambda one: one[1].st_mtime_ns):
            if held <= down_to:
                return
            with contextlib.suppress(OSError):
                path.unlink()
                held -= fact.st_size

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
