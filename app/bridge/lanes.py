"""Plain Python worker threads in lanes; knows nothing of Qt.

Putting work into a lane never waits: the queues are lock-free for whoever puts, so the window's
thread may do it at any time.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from enum import StrEnum
from queue import SimpleQueue
from types import MappingProxyType

Work = Callable[[], None]


class Lane(StrEnum):
    """Who waits for the work."""

    INTERACTIVE = "interactive"
    """Somebody looks at the screen: warm, search, focus."""
    BATCH = "batch"
    """Minutes to hours: indexing, teaching."""
    IO = "io"
    """Short and many: thumbnails, previews, pages of the library."""


WORKERS: Mapping[Lane, int] = MappingProxyType({Lane.INTERACTIVE: 1, Lane.BATCH: 1, Lane.IO: 3})


class Lanes:
    """The threads of all lanes, started at once.

    They are daemons: one that never comes back from a foreign call cannot keep the process alive.
    Work must not raise.
    """

    def __init__(self) -> None:
        self._queues = {lane: _LaneQueue() for lane in Lane}
        self._threads = [
            threading.Thread(
                target=_serve, args=(self._queues[lane],), name=f"refocal-{lane}-{n}", daemon=True
            )
            for lane, count in WORKERS.items()
            for n in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, lane: Lane, work: Work, *, urgent: bool = False) -> None:
        """Queue ``work``; ``urgent`` goes before all that is not."""
        self._queues[lane].put(work, urgent=urgent)

    def stop(self) -> None:
        """Let every thread end after what is queued now."""
        for lane, count in WORKERS.items():
            for _ in range(count):
                self._queues[lane].put_end()

    def join(self, limit_s: float) -> bool:
        """Wait for the threads to end, ``limit_s`` seconds at most in all; whether they did."""
        deadline = time.monotonic() + limit_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)


class _LaneQueue:
    """First in, first out, with a fast track.

    ``_tokens`` counts what lies in the deques; deques and SimpleQueue are atomic by themselves.
    """

    def __init__(self) -> None:
        self._urgent: deque[Work] = deque()
        self._normal: deque[Work] = deque()
        self._tokens: SimpleQueue[bool] = SimpleQueue()

    def put(self, work: Work, *, urgent: bool) -> None:
        (self._urgent if urgent else self._normal).append(work)
        self._tokens.put(True)

    def put_end(self) -> None:
        self._tokens.put(False)

    def get(self) -> Work | None:
        """The next piece of work, or None at the end; waits for it."""
        if not self._tokens.get():
            return None
        try:
            return self._urgent.popleft()
        except IndexError:
            return self._normal.popleft()


def _serve(queue: _LaneQueue) -> None:
    while (work := queue.get()) is not None:
        work()
        del work  # or it would keep its job alive until the next one comes
