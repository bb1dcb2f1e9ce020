"""Decoding in processes of their own, which may crash, hang and be killed.

Each process has a thread here that hands it one task at a time and waits for the answer. Tasks
of `run` queue up in order; those of `decode`, for which a person waits, go before them and have
one more process of their own, so that a search never waits behind a file that hangs.
"""

import atexit
import threading
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

from engine.config import DecodeSettings
from engine.errors import PhotoError
from engine.jobs import Cancelled, Ticket
from engine.media.decode import DecodedPhoto
from engine.media.lane import DecodeTask, Job, Lane

__all__ = ["DecodeOutcome", "DecodePool", "DecodeTask"]

_AHEAD_TASKS = 32
_AHEAD_BYTES = 64 * 1024**2


@dataclass(frozen=True, slots=True, eq=False)
class DecodeOutcome:
    """Either a photo or the error that says why there is none."""

    task: DecodeTask
    photo: DecodedPhoto | None
    error: PhotoError | None


class DecodePool:
    """Decodes pictures in up to ``settings.workers`` + 1 spawned processes.

    Nothing is started before the first task. Thread-safe: many threads may use one pool. After
    `close` whoever still waits gets `Cancelled`, and a new task is a `RuntimeError`.
    """

    def __init__(self, settings: DecodeSettings) -> None:
        self._settings = settings
        self._changed = threading.Condition()
        self._batch: deque[Job] = deque()
        self._urgent: deque[Job] = deque()
        self._lanes: list[Lane] = []
        self._closed = False
        atexit.register(self.close)

    def run(
        self, tasks: Iterable[DecodeTask], ticket: Ticket
    ) -> Generator[DecodeOutcome, None, None]:
        """Outcomes in the order of the tasks; a bad file is an outcome like any other.

        Tasks are taken a bounded number ahead of the outcomes, so that memory stays flat however
        many there are.

        Raises:
            Cancelled: the ticket was cancelled, or the pool closed.
        """
        source = iter(tasks)
        ahead: deque[Job] = deque()
        try:
            while True:
                ticket.check()
                while _room_for_more(ahead) and (task := next(source, None)) is not None:
                    ahead.append(self._submit(task, self._batch))
                if not ahead:
                    return
                ahead[0].wait(ticket)
                job = ahead.popleft()
                yield DecodeOutcome(job.task, job.photo, job.error)
        finally:
            self._give_up(ahead)

    def decode(self, task: DecodeTask, ticket: Ticket | None = None) -> DecodedPhoto:
        """Decode one picture before all that `run` has queued.

        Raises:
            PhotoError: as `engine.media.decode.decode`, or `DecodeKilledError`.
            Cancelled: the ticket was cancelled, or the pool closed.
        """
        job = self._submit(task, self._urgent)
        try:
            job.wait(ticket)
        finally:
            self._give_up([job])
        if job.photo is None:
            raise job.error or Cancelled
        return job.photo

    def close(self) -> None:
        """End all processes and threads. Quick, and harmless when repeated."""
        atexit.unregister(self.close)
        with self._changed:
            self._closed = True
            left = [*self._urgent, *self._batch]
            self._urgent.clear()
            self._batch.clear()
            lanes, self._lanes = self._lanes, []
            self._changed.notify_all()
        for job in left:
            job.finished.set()
        for lane in lanes:
            lane.kill()
        for lane in lanes:
            lane.join()

    # --- between the callers and the lanes -----------------------------------------------------

    def _submit(self, task: DecodeTask, queue: deque[Job]) -> Job:
        job = Job(task)
        with self._changed:
            if self._closed:
                raise RuntimeError("the decode pool is closed")
            queue.append(job)
            self._open_lanes(busy=queue is self._batch or len(self._urgent) > 1)
            self._changed.notify_all()
        return job

    def _open_lanes(self, *, busy: bool) -> None:
        """The first lane is for urgent tasks alone; the others open when there is more to do."""
        wanted = self._settings.workers + 1 if busy else 1
        for number in range(len(self._lanes), wanted):
            lane = Lane(self._settings, partial(self._take, urgent_only=number == 0))
            self._lanes.append(lane)
            lane.start()

    def _take(self, *, urgent_only: bool) -> Job | None:
        """The next task for a lane; waits for one. None once the pool is closed."""
        with self._changed:
            while not self._closed:
                if self._urgent:
                    return self._urgent.popleft()
                if self._batch and not urgent_only:
                    return self._batch.popleft()
                self._changed.wait()
        return None

    def _give_up(self, jobs: Iterable[Job]) -> None:
        with self._changed:
            for job in jobs:
                job.give_up()
                for queue in (self._urgent, self._batch):
                    if job in queue:
                        queue.remove(job)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _room_for_more(ahead: deque[Job]) -> bool:
    bytes_ahead = sum(_pixel_bytes(job.task) for job in ahead)
    return len(ahead) < _AHEAD_TASKS and bytes_ahead < _AHEAD_BYTES


def _pixel_bytes(task: DecodeTask) -> int:
    return _AHEAD_BYTES if task.max_side_px is None else 3 * task.max_side_px**2
