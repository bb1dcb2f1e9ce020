"""A thread of the decode pool with the process that it looks after."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from engine.config import DecodeSettings
from engine.errors import DecodeKilledError, PhotoError
from engine.jobs import Cancelled, Ticket
from engine.media.child import Order
from engine.media.decode import DecodedPhoto
from engine.media.memory import pixel_limit, process_limit
from engine.media.process import DecodeProcess, Interrupted
from engine.types import Picture

log = logging.getLogger(__name__)

_POLL_S = 0.05
_GRACE_S = 0.5
"""A task that nobody waits for any more may finish within this: cheaper than a new process."""

_TASKS_PER_PROCESS = 2_000
"""Decoders leak on damaged files: now and then a process is replaced."""


@dataclass(frozen=True, slots=True)
class DecodeTask:
    """``key``: the caller's own number for it. The rest as in `engine.media.decode.decode`."""

    key: int
    picture: Picture
    max_side_px: int | None
    thumbnail_px: int | None


class Job:
    """A task on its way through the pool. Once ``finished`` it has a ``photo``, an ``error``, or
    neither where the pool was closed."""

    def __init__(self, task: DecodeTask) -> None:
        self.task = task
        self.photo: DecodedPhoto | None = None
        self.error: PhotoError | None = None
        self.finished = threading.Event()
        self._given_up_at = float("inf")

    def wait(self, ticket: Ticket | None) -> None:
        """Until it is finished.

        Raises:
            Cancelled: the ticket was cancelled meanwhile, or the pool closed.
        """
        while not self.finished.wait(_POLL_S):
            if ticket is not None:
                ticket.check()
        if self.photo is None and self.error is None:
            raise Cancelled

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        self._given_up_at = time.monotonic()

    def wanted(self) -> bool:
        return time.monotonic() < self._given_up_at + _GRACE_S


class Lane:
    """Takes jobs one at a time until ``take`` says None. Starts its process when it needs one and
    replaces it after it was lost."""

    def __init__(self, settings: DecodeSettings, take: Callable[[], Job | None]) -> None:
        self._settings = settings
        self._take = take
        self._closing = threading.Event()
        self._process: DecodeProcess | None = None
        self._served = 0
        self._thread = threading.Thread(target=self._work, name="decode lane", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def kill(self) -> None:
        """Let go of the task in hand, from any thread."""
        self._closing.set()
        process = self._process
        if process is not None:
            process.kill()

    def join(self) -> None:
        """Wait for the thread and its process; after `kill`."""
        self._thread.join()

    def _work(self) -> None:
        while (job := self._take()) is not None:
            self._serve(job)
            job.finished.set()
        self._drop_process()

    def _serve(self, job: Job) -> None:
        path = job.task.picture.path
        try:
            process = self._running()
            job.photo = process.decode(
                self._order(job.task), lambda: job.wanted() and not self._closing.is_set()
            )
        except (Interrupted, DecodeKilledError) as error:
            self._drop_process()
            if isinstance(error, DecodeKilledError) and not self._closing.is_set():
                job.error = error
                error.path = path
        except PhotoError as error:
            job.error = error
            error.path = path
        except OSError as error:
            what = error.strerror or type(error).__name__
            job.error = DecodeKilledError(f"no decoder could be started ({what})", path=path)
        except Exception:  # whatever it was, somebody waits for this job
            log.exception("a decode lane stumbled over %s", job.task.picture.name)
            self._drop_process()
            job.error = DecodeKilledError("the decoder could not be asked", path=path)

    def _order(self, task: DecodeTask) -> Order:
        picture = task.picture
        if picture.path is not None:  # the process may have been started in another folder
            picture = Picture(path=picture.path.absolute())
        return Order(
            picture=picture,
            max_side_px=task.max_side_px,
            thumbnail_px=task.thumbnail_px,
            max_pixels=pixel_limit(self._settings),
            timeout_s=self._settings.timeout_s,
        )

    def _running(self) -> DecodeProcess:
        if self._served >= _TASKS_PER_PROCESS:
            self._drop_process()
        if self._process is None:
            self._process = DecodeProcess(process_limit(self._settings))
            self._served = 0
        if self._closing.is_set():  # `kill` may have come before there was a process
            self._process.kill()
        self._served += 1
        return self._process

    def _drop_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()
