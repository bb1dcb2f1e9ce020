"""Child processes whose lines are watched as they come, and kept in a log."""

import os
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

_BEAT_S = 0.5
_TAIL = 12
# What a person's own settings would do to a set-up that must stay inside its folder.
_LEFT_OUT = (
    *("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"),
    *("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV"),
    *("PIP_QUIET", "PIP_VERBOSE", "PIP_PROGRESS_BAR", "PIP_REQUIRE_HASHES"),
)


class SetupError(Exception):
    """The set-up cannot go on. Its text is for a person: what happened, and what to do."""


class CommandError(SetupError):
    """A command ended badly. ``tail``: its last lines."""

    def __init__(self, command: Sequence[str], status: int, tail: Sequence[str]) -> None:
        super().__init__(f"{Path(command[0]).name} ended with status {status}")
        self.status = status
        self.tail = tuple(tail)


class Runner(Protocol):
    """Runs a command and gives its lines as they come, and None now and then while none come.

    Raises:
        CommandError: at its end, if it ended badly.
    """

    def __call__(
        self, command: Sequence[str], *, extra: Mapping[str, str] | None = None
    ) -> Iterator[str | None]:
        """``extra``: environment variables beside those of this process."""


class LoggedRunner:
    """The real runner. ``temporary``: the folder that commands may fill, or None for theirs."""

    def __init__(self, log: Path, *, temporary: Path | None) -> None:
        self._log = log
        self._temporary = temporary

    def __call__(
        self, command: Sequence[str], *, extra: Mapping[str, str] | None = None
    ) -> Iterator[str | None]:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        tail: deque[str] = deque(maxlen=_TAIL)
        with (
            self._log.open("a", encoding="utf-8") as log,
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
                env=self._environment(extra or {}),
            ) as child,
        ):
            log.write(f"$ {' '.join(command)}\n")
            try:
                for line in _lines(child):
                    if line is not None and not line.startswith("Progress "):
                        log.write(line + "\n")
                        tail.append(line)
                    yield line
            except BaseException:
                child.kill()
                raise
        if child.returncode:
            raise CommandError(command, child.returncode, tail)

    def _environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
        kept |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
        kept |= {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
        if self._temporary is not None:
            self._temporary.mkdir(parents=True, exist_ok=True)
            kept |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self._temporary))
        return {**kept, **extra}


def _lines(child: subprocess.Popen[str]) -> Iterator[str | None]:
    """The lines of a child as they come; None at each beat without one."""
    assert child.stdout is not None
    read: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(child.stdout, read), daemon=True)
    reader.start()
    while True:
        try:
            line = read.get(timeout=_BEAT_S)
        except queue.Empty:
            yield None
            continue
        if line is None:
            break
        yield line
    reader.join()


def _read(stream: IO[str], read: "queue.SimpleQueue[str | None]") -> None:
    for line in stream:
        read.put(line.rstrip())
    read.put(None)
