"""What was set up, so that a start with nothing changed costs nothing."""

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from installer.places import Venv, python_tag
from installer.progress import Screen

_FORMAT = 1


@dataclass(slots=True)
class Stamp:
    """``done``: step -> fingerprint of what it was done from. ``busy``: the step that was begun
    and not finished. ``wanted`` and ``build``: the build of torch that was asked for, and the one
    that came. ``excuses``: step -> why it may be missing for now."""

    done: dict[str, str] = field(default_factory=dict)
    busy: str | None = None
    wanted: str | None = None
    build: str | None = None
    excuses: dict[str, str] = field(default_factory=dict)
    format: int = _FORMAT

    def save(self, path: Path) -> None:
        """Write it as a whole or not at all."""
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")
        fresh.replace(path)


def load(path: Path) -> Stamp | None:
    """What was saved, or None if nothing readable was."""
    try:
        stamp = Stamp(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return stamp if stamp.format == _FORMAT else None


def of_files(*paths: Path) -> str:
    """A fingerprint of what these files say."""
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def of_python(venv: Venv) -> str:
    """A fingerprint of the interpreter behind a virtual environment, and of its place."""
    real = venv.python.resolve()
    try:
        facts = real.stat()
    except OSError:
        return ""
    return f"{venv.root} {python_tag()} {real} {facts.st_size} {facts.st_mtime_ns}"


@contextlib.contextmanager
def alone(venv: Venv, screen: Screen) -> Iterator[None]:
    """Hold the right to set this folder up; waits while another process does it."""
    name = hashlib.blake2b(os.fsencode(venv.root), digest_size=8).hexdigest()
    place = Path(tempfile.gettempdir(), f"refocal-setup-{name}.lock")
    try:
        file = place.open("a+b")
    except OSError:
        # Another user's file. Two people setting up one folder at once is not worth a failure.
        yield
        return
    with file:
        if not _try_lock(file):
            screen.say("Another set-up of this folder is running; waiting for it.")
            _lock(file)
        yield  # closing the file gives the lock back


if sys.platform == "win32":
    import msvcrt
    import time

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _lock(file: IO[bytes]) -> None:
        while not _try_lock(file):
            time.sleep(0.5)

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
