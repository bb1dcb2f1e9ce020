"""Indexing as the window sees it: one run after the other, and how each ended, in words."""

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QElapsedTimer, QObject, Signal, Slot

from app.bridge.calls import EngineCalls
from app.bridge.host import Job
from engine.jobs import Progress
from engine.requests import IndexReport, IndexRequest

_REFRESH_MS = 2_000


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended. ``report`` None: it was cancelled."""

    request: IndexRequest
    report: IndexReport | None


class Indexing(QObject):
    """Starts runs, and tells how the one at work goes."""

    begun = Signal()
    progressed = Signal(object)
    """`engine.jobs.Progress`."""
    library_changed = Signal()
    """There may be something new to see; every two seconds while a run is at work, and at its
    end."""
    ended = Signal(object)
    """`Ending`."""
    failed = Signal(object)
    """`app.bridge.errors.Words`."""

    def __init__(self, calls: EngineCalls, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._calls = calls
        self._runs: list[Job] = []
        self._since = QElapsedTimer()

    @property
    def running(self) -> bool:
        """Whether a run is at work or waits for its turn."""
        return bool(self._runs)

    def start(self, request: IndexRequest) -> None:
        """Index; after the runs that were started before."""
        job = self._calls.index(request)
        self._runs.append(job)
        job.progressed.connect(partial(self._on_progressed, job))
        job.succeeded.connect(partial(self._on_ended, job, request))
        job.cancelled.connect(partial(self._on_ended, job, request, None))
        job.failed.connect(partial(self._on_failed, job))
        if len(self._runs) == 1:
            self._since.start()
            self.begun.emit()

    @Slot()
    def cancel(self) -> None:
        """End the run at work and those that wait; what was indexed is kept."""
        for job in self._runs:
            job.cancel()

    def summary(self, report: IndexReport) -> str:
        """How a run ended, in one line."""
        if not report.found and not report.offline:
            return self.tr("No photos were found there.")
        if report.indexed:
            first = self.tr("{n} photos indexed in {time}").format(
                n=f"{report.indexed:,}", time=_duration(report.seconds)
            )
        else:
            first = self.tr("Nothing new")
        counts = (
            (report.unchanged, self.tr("{n} unchanged")),
            (report.offline, self.tr("{n} offline")),
            (report.failed, self.tr("{n} could not be read")),
            (len(report.skipped), self.tr("{n} skipped")),
        )
        rest = [text.format(n=f"{count:,}") for count, text in counts if count]
        return " · ".join((first, *rest, *report.notes))

    def _on_progressed(self, job: Job, progress: Progress) -> None:
        if job is not self._runs[0]:
            return
        self.progressed.emit(progress)
        if self._since.elapsed() >= _REFRESH_MS:
            self._since.restart()
            self.library_changed.emit()

    def _on_ended(self, job: Job, request: IndexRequest, report: IndexReport | None) -> None:
        self._runs.remove(job)
        self.ended.emit(Ending(request, report))
        self._go_on()

    def _on_failed(self, job: Job, words: object) -> None:
        self._runs.remove(job)
        self.failed.emit(words)
        self._go_on()

    def _go_on(self) -> None:
        self.library_changed.emit()
        if self._runs:
            self._since.restart()
            self.begun.emit()


def _duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
