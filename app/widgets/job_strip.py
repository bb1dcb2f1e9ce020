"""How a long job goes: N of M, photos a second, time left, cancel; and how it ended."""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from app.widgets.icons import IconButton
from app.widgets.labels import ElidedLabel
from engine.jobs import Progress

_BAR_STEPS = 1000
_ENDING_MS = 8_000


class JobStrip(QWidget):
    """Hidden while there is nothing to tell."""

    cancel_asked = Signal()
    details_asked = Signal()
    """The button beside a summary was pressed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ElidedLabel(mode=Qt.TextElideMode.ElideRight)
        self._text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedSize(180, 4)
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setProperty("kind", "quiet")
        self._cancel.clicked.connect(self._on_cancel_clicked)
        self._details = QPushButton()
        self._details.setProperty("kind", "quiet")
        self._details.clicked.connect(self.details_asked)
        self._details.hide()
        self._close = IconButton("close", self.tr("Hide"))
        self._close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._text, stretch=1)
        row.addWidget(self._bar)
        row.addWidget(self._cancel)
        row.addWidget(self._details)
        row.addWidget(self._close)
        self._goes = QTimer(self)
        self._goes.setSingleShot(True)
        self._goes.setInterval(_ENDING_MS)
        self._goes.timeout.connect(self.hide)
        self.hide()

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def show_progress(self, progress: Progress) -> None:
        """Show a job on its way."""
        self._show(self._progress_text(progress), running=True)
        if progress.total:
            self._bar.setRange(0, _BAR_STEPS)
            self._bar.setValue(round(_BAR_STEPS * min(progress.done / progress.total, 1.0)))
        else:
            self._bar.setRange(0, 0)

    def show_ending(self, text: str, *, details: str | None = None) -> None:
        """Show how it ended: for some seconds, or with the words of a button (``details``) until
        somebody presses or hides it."""
        self._show(text, running=False)
        self._details.setText(details or "")
        self._details.setVisible(details is not None)
        if details is None:
            self._goes.start()

    def _show(self, text: str, *, running: bool) -> None:
        self._goes.stop()
        self._text.setText(text)
        self._bar.setVisible(running)
        self._cancel.setVisible(running)
        self._details.hide()
        self._close.setVisible(not running)
        self.setAccessibleName(text)
        self.show()

    @Slot()
    def _on_cancel_clicked(self) -> None:
        self._cancel.setEnabled(False)
        self._cancel.setText(self.tr("Cancelling…"))
        self.cancel_asked.emit()

    def begin(self) -> None:
        """A new job begins; it can be cancelled."""
        self._cancel.setEnabled(True)
        self._cancel.setText(self.tr("Cancel"))
        self.show_progress(Progress("waiting", 0, 0))

    def _progress_text(self, progress: Progress) -> str:
        stage = self._stage_text(progress.stage)
        if not progress.total:
            found = self.tr("{n} found").format(n=f"{progress.done:,}") if progress.done else ""
            return " · ".join(part for part in (stage, found) if part)
        parts = [
            stage,
            self.tr("{done} of {total}").format(
                done=f"{progress.done:,}", total=f"{progress.total:,}"
            ),
        ]
        if progress.per_second is not None:
            parts.append(self.tr("{rate} photos/s").format(rate=_rate_text(progress.per_second)))
        if progress.seconds_left is not None:
            parts.append(self._time_left_text(progress.seconds_left))
        return " · ".join(parts)

    def _stage_text(self, stage: str) -> str:
        return {
            "waiting": self.tr("Getting ready"),
            "scanning": self.tr("Looking for photos"),
            "indexing": self.tr("Indexing"),
        }.get(stage, stage)

    def _time_left_text(self, seconds: float) -> str:
        if seconds < 10:
            return self.tr("a few seconds left")
        if seconds < 100:
            return self.tr("{n} s left").format(n=round(seconds / 5) * 5)
        if seconds < 90 * 60:
            return self.tr("{n} min left").format(n=round(seconds / 60))
        return self.tr("{n} h left").format(n=f"{seconds / 3600:.1f}")


def _rate_text(per_second: float) -> str:
    return f"{per_second:.1f}" if per_second < 20 else f"{per_second:,.0f}"
