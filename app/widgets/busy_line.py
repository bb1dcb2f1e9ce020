"""A thin line that moves while something is on its way."""

from PySide6.QtCore import QElapsedTimer, QRectF, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QWidget

_HEIGHT_PX = 2
_FRAME_MS = 33
_ROUND_MS = 1_400
_SHARE = 0.3


class BusyLine(QWidget):
    """Takes the same room whether it moves or not."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._busy = False
        self._since = QElapsedTimer()
        self._frames = QTimer(self)
        self._frames.setInterval(_FRAME_MS)
        self._frames.timeout.connect(self.update)
        self.setFixedHeight(_HEIGHT_PX)

    @property
    def moving(self) -> bool:
        """Whether it moves now; it rests while nobody sees it."""
        return self._frames.isActive()

    def set_busy(self, busy: bool) -> None:
        """Move or not."""
        if busy and not self._busy:
            self._since.start()
        self._busy = busy
        self._run()

    def showEvent(self, event: QShowEvent) -> None:
        """Move if it should."""
        super().showEvent(event)
        self._run()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody sees it: rest."""
        super().hideEvent(event)
        self._frames.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A piece on its way from left to right."""
        if not self._busy:
            return
        at = (self._since.elapsed() % _ROUND_MS) / _ROUND_MS
        length = self.width() * _SHARE
        left = at * (self.width() + length) - length
        painter = QPainter(self)
        accent = self.palette().color(QPalette.ColorRole.Highlight)
        painter.fillRect(QRectF(left, 0, length, self.height()), accent)

    def _run(self) -> None:
        if self._busy and self.isVisible():
            self._frames.start()
        else:
            self._frames.stop()
        self.update()
