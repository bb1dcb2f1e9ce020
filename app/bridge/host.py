"""Runs the engine's jobs beside the window's thread, and tells the window how they go.

Only this package knows threads. A widget submits a call, connects to the `Job`'s signals and is
told on the window's thread.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.bridge.errors import Words, is_expected, words
from app.bridge.lanes import Lane, Lanes
from engine.jobs import Cancelled, Progress, Ticket

logger = logging.getLogger(__name__)

Call = Callable[[Ticket], object]

POLL_MS: Final = 100
CLOSE_LIMIT_S: Final = 10.0


class Job(QObject):
    """One call on its way. Lives on the window's thread; the host keeps it until it ended.

    After any number of ``progressed`` comes exactly one of ``succeeded``, ``failed`` and
    ``cancelled``, never from inside `EngineHost.submit` or `cancel`. After `cancel` the ending is
    ``cancelled``, whatever the call still came to.
    """

    progressed = Signal(object)
    """The newest `engine.jobs.Progress`, at most every 100 ms."""
    succeeded = Signal(object)
    """What the call returned."""
    failed = Signal(object)
    """`app.bridge.errors.Words`."""
    cancelled = Signal()

    def __init__(self, task: "_Task", *, group: str | None) -> None:
        super().__init__()
        self.group = group
        self._task = task
        self._told = task.ticket.progress
        self._ended = False

    @property
    def progress(self) -> Progress:
        """The newest progress; its stage is "waiting" until a worker took the job."""
        return self._task.ticket.progress

    @property
    def ended(self) -> bool:
        """Whether the one ending was told."""
        return self._ended

    def cancel(self) -> None:
        """Ask for the end. Returns at once.

        A job that waits for its turn is withdrawn; one that runs ends at its next
        `Ticket.update`, and ``cancelled`` says that it has.
        """
        self._task.cancel()

    def poll(self) -> None:
        """Tell the newest progress if it is new; for the host."""
        progress = self.progress
        if progress is not self._told and not self._ended:
            self._told = progress
            self.progressed.emit(progress)

    def end(self, ending: "_Ending") -> None:
        """Tell the ending unless one was told; for the host."""
        if self._ended:
            return
        self._ended = True
        if self._task.ticket.cancelled or ending.cancelled:
            self.cancelled.emit()
        elif ending.error is not None:
            self.failed.emit(words(ending.error))
        else:
            self.succeeded.emit(ending.value)


class _Task:
    """The worker's half of a job: no QObject, so that none can die on a worker's thread."""

    def __init__(self, call: Call, outbox: "_Outbox") -> None:
        self.ticket = Ticket()
        self._call: Call | None = call
        self._outbox = outbox
        self._claim = threading.Lock()

    def cancel(self) -> None:
        self.ticket.cancel()
        if self._claim_it():
            self._outbox.post(_Ending(self, cancelled=True))

    def run(self) -> None:
        """Do the call, unless it was withdrawn."""
        if not self._claim_it():
            return
        call, self._call = self._call, None  # what it holds on to goes with it
        assert call is not None
        self._outbox.post(_outcome(self, call))

    def _claim_it(self) -> bool:
        # Taken once and never given back: by the worker that runs the call, or by whoever
        # withdraws it before. Nobody ever waits for it.
        return self._claim.acquire(blocking=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Ending:
    task: _Task
    value: object = None
    error: BaseException | None = None
    cancelled: bool = False


class _Bell(QObject):
    rung = Signal()


class _Outbox:
    """Where workers leave what the window's thread shall deliver.

    It owns the one QObject that workers touch. Being referenced by every running call, that
    object outlives a host which was closed while a call hung.
    """

    def __init__(self) -> None:
        self.bell = _Bell()
        self._items: deque[_Ending | Words] = deque()

    def post(self, item: "_Ending | Words") -> None:
        self._items.append(item)
        self.bell.rung.emit()

    def take(self) -> "_Ending | Words | None":
        try:
            return self._items.popleft()
        except IndexError:
            return None


class EngineHost(QObject):
    """The lanes, and the window's view of all that runs in them.

    Create, use and close it on the window's thread; `notify` alone may be called from any.
    """

    noticed = Signal(object)
    """`Words` that belong to no job: a library open for reading only, a caught mistake."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lanes = Lanes()
        self._outbox = _Outbox()
        self._outbox.bell.rung.connect(self._on_rung, Qt.ConnectionType.QueuedConnection)
        self._jobs: dict[_Task, Job] = {}  # in the order of submission
        self._closed = False
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self._on_poll)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that have not ended, oldest first."""
        return tuple(self._jobs.values())

    @property
    def polling(self) -> bool:
        """Whether the timer runs; only while there are jobs."""
        return self._poll.isActive()

    def submit(
        self, call: Call, *, lane: Lane, urgent: bool = False, group: str | None = None
    ) -> Job:
        """Do ``call`` on a worker of ``lane``.

        Args:
            call: gets a `Ticket`; its return value becomes ``succeeded``.
            lane: which workers.
            urgent: before the waiting calls of this lane that are not.
            group: a newer job of a group cancels the older ones.
        """
        if group is not None:
            self.cancel_group(group)
        task = _Task(call, self._outbox)
        job = self._jobs[task] = Job(task, group=group)
        if self._closed:
            job.cancel()
            return job
        self._lanes.put(lane, task.run, urgent=urgent)
        if not self._poll.isActive():
            self._poll.start()
        return job

    def cancel_group(self, group: str) -> None:
        """Cancel every job of a group."""
        for job in self.jobs:
            if job.group == group:
                job.cancel()

    def notify(self, notice: Words) -> None:
        """Have ``noticed`` emitted on the window's thread. Any thread."""
        self._outbox.post(notice)

    def close(self, *, last: Callable[[], None] | None = None) -> bool:
        """Cancel all jobs, tell their endings, and end the threads.

        Waits for calls to notice, 10 s at most; hide the window first.

        Args:
            last: what to do when no job runs any more, such as closing the engine; on a thread
                of its own.

        Returns:
            Whether every thread ended. If not, a call hangs in foreign code and the process had
            better leave without a clean-up (`os._exit`).
        """
        if self._closed:
            return self._lanes.join(0)
        self._closed = True
        self._poll.stop()
        for job in self.jobs:
            job.cancel()
        self._lanes.stop()
        ended = self._lanes.join(CLOSE_LIMIT_S)
        if last is not None:
            ended = _run_beside(last, CLOSE_LIMIT_S) and ended
            # A call that hung in what `last` closed may be free now.
            ended = ended or self._lanes.join(1.0)
        self._on_rung()
        for task, job in list(self._jobs.items()):
            job.end(_Ending(task, cancelled=True))
        self._jobs.clear()
        return ended

    @Slot()
    def _on_rung(self) -> None:
        while (item := self._outbox.take()) is not None:
            if isinstance(item, Words):
                self.noticed.emit(item)
                continue
            job = self._jobs.pop(item.task, None)
            if job is not None:
                job.end(item)
        if not self._jobs:
            self._poll.stop()

    @Slot()
    def _on_poll(self) -> None:
        for job in self.jobs:
            job.poll()


def _outcome(task: _Task, call: Call) -> _Ending:
    try:
        task.ticket.check()
        return _Ending(task, value=call(task.ticket))
    except Cancelled:
        return _Ending(task, cancelled=True)
    except BaseException as error:  # a SystemExit from afar must not end the worker either
        if is_expected(error):
            logger.info("a job failed: %s", error)
        else:
            logger.exception("a job failed by a mistake of Refocal's own")
        return _Ending(task, error=error)


def _run_beside(last: Callable[[], None], limit_s: float) -> bool:
    thread = threading.Thread(target=_logged, args=(last,), name="refocal-last", daemon=True)
    thread.start()
    thread.join(limit_s)
    return not thread.is_alive()


def _logged(last: Callable[[], None]) -> None:
    try:
        last()
    except Exception:
        logger.exception("closing the engine failed")
