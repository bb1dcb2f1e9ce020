"""One process writes a library: the lock that says which."""

import contextlib
import json
import os
from pathlib import Path
from types import TracebackType

import filelock

from engine.errors import LibraryError, LibraryInUseError
from engine.store.paths import spelled
from engine.store.trouble import from_os


class WriterLock:
    """Held by the one process that writes a library; gone when the process is, however it ends.

    Beside the lock lies a note on who holds it, for the message that the others get.
    """

    def __init__(self, path: Path, *, holder: str = "Refocal") -> None:
        """``holder``: what holds it, in a few words, such as "the window"."""
        self._path = path
        self._holder = holder
        # Not thread-local: the thread that closes an engine need not be the one that opened it.
        self._lock = filelock.FileLock(path, timeout=0, thread_local=False)

    def acquire(self) -> None:
        """Take the lock at once.

        Raises:
            LibraryInUseError: another process has it, or another engine in this one.
            LibraryError: the folder cannot be written, or its disk knows no locks.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except filelock.Timeout:
            raise LibraryInUseError(
                f"the library {spelled(self._path.parent)} is in use by {self._other()}"
            ) from None
        except NotImplementedError as error:
            raise LibraryError(
                f"the disk of the library {spelled(self._path.parent)} knows no file locks"
            ) from error
        except OSError as error:
            raise from_os(error, self._path.parent) from error
        note = json.dumps({"pid": os.getpid(), "holder": self._holder})
        with contextlib.suppress(OSError):
            self._note.write_text(note, encoding="utf-8")

    def release(self) -> None:
        """Let the lock go; nothing happens if it is not held."""
        if self._lock.is_locked:
            with contextlib.suppress(OSError):
                self._note.unlink()
            self._lock.release()

    def __enter__(self) -> "WriterLock":
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    @property
    def _note(self) -> Path:
        # A file of its own: opening the lock file, even in vain, may empty it.
        return self._path.with_suffix(".holder")

    def _other(self) -> str:
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            return f"{note['holder']} (process {int(note['pid'])})"
        except (OSError, ValueError, TypeError, KeyError):
            return "another Refocal"
