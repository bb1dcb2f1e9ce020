"""Progress and cancellation of one job, as one object.

A worker calls `Ticket.update`, which keeps the newest `Progress` and raises `Cancelled` once
somebody asked for it. Nobody is called back: whoever watches polls `Ticket.progress`, so a
million updates cost the watcher nothing.
"""

import threading
import time
from dataclasses import dataclass

_SMOOTHING_S = 10.0


class Cancelled(Exception):
    """Raised inside a job by `Ticket.update` after `Ticket.cancel`."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One moment of a job.

    ``total`` is 0 while it is not known. ``per_second`` is the smoothed speed of this stage in
    items per second and ``seconds_left`` what remains of it at that speed; both are None until
    they can be told.
    """

    stage: str
    done: int
    total: int
    per_second: float | None = None
    seconds_left: float | None = None


class Ticket:
    """Shared by the thread that does a job and the one that watches it. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._progress = Progress("waiting", 0, 0)
        self._speed = _Speed(time.monotonic(), 0)

    @property
    def progress(self) -> Progress:
        """The newest progress. Never waits, so that a window may ask at any time."""
        return self._progress  # one reference, replaced whole

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked for the end of the job."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ask the worker to stop at its next `update` or `check`."""
        self._cancelled.set()

    def check(self) -> None:
        """Raise `Cancelled` if asked; for places that have no progress to tell."""
        if self._cancelled.is_set():
            raise Cancelled

    def update(self, stage: str, done: int, total: int) -> None:
        """Keep the newest progress; raise `Cancelled` if asked."""
        now = time.monotonic()
        with self._lock:
            if stage != self._progress.stage:
                self._speed = _Speed(now, done)
            rate = self._speed.at(now, done)
            left = (total - done) / rate if rate and total else None
            self._progress = Progress(stage, done, total, rate, left)
        self.check()


class _Speed:
    """Items per second over the last seconds, so that a slow start is soon forgotten."""

    def __init__(self, now: float, done: int) -> None:
        self._marks = [(now, done)]

    def at(self, now: float, done: int) -> float | None:
        if now - self._marks[-1][0] >= 1.0:
            self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[1][0] > _SMOOTHING_S:
            self._marks.pop(0)
        since, before = self._marks[0]
        if now - since < 0.5 or done <= before:
            return None
        return (done - before) / (now - since)
