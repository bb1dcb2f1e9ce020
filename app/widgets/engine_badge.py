"""How the engine is: opening, loading, ready on which device, or failed."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.bridge.errors import Words
from app.widgets.labels import ElidedLabel
from engine.requests import EngineStatus

_DEVICES = {"cpu": "CPU", "cuda": "GPU (CUDA)"}


class _Dot(QWidget):
    """Filled: ready. Hollow: not yet. In the palette's colour of danger: failed."""

    def __init__(self) -> None:
        super().__init__()
        self._ready = False
        self._failed = False
        self.setFixedSize(8, 8)

    def show_state(self, *, ready: bool, failed: bool) -> None:
        self._ready, self._failed = ready, failed
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        roles = QPalette.ColorRole
        role = roles.BrightText if self._failed else roles.Highlight
        colour = self.palette().color(
            role if self._ready or self._failed else roles.PlaceholderText
        )
        painter.setPen(colour)
        painter.setBrush(
            colour if self._ready or self._failed else QColor(Qt.GlobalColor.transparent)
        )
        painter.drawEllipse(self.rect().adjusted(1, 1, -2, -2))


class EngineBadge(QWidget):
    """One line; the reasons for device and index stand in its tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dot = _Dot()
        self._text = ElidedLabel(role="caption", mode=Qt.TextElideMode.ElideRight)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._dot)
        row.addWidget(self._text, stretch=1)
        self.show_loading()

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def show_loading(self) -> None:
        """The network is on its way; looking at photos works already."""
        self._say(self.tr("Engine loading…"), ready=False)
        self._tip(self.tr("You can look at photos and draw a box now; a search waits for it."))

    def show_status(self, status: EngineStatus) -> None:
        """Ready, and where it runs."""
        device = _DEVICES.get(status.device, status.device)
        self._say(
            self.tr("{network} on {device}").format(network=status.network, device=device),
            ready=True,
        )
        index = self.tr("Index: {kind}").format(kind=status.index)
        reasons = (status.device_reason, f"{index} – {status.index_reason}")
        self._tip("\n".join(reasons))

    def show_failed(self, words: Words) -> None:
        """It cannot run."""
        self._say(self.tr("Engine not available"), ready=False, failed=True)
        self._tip(f"{words.message}\n{words.cause}".strip())

    def _say(self, text: str, *, ready: bool, failed: bool = False) -> None:
        self._text.setText(text)
        self._dot.show_state(ready=ready, failed=failed)

    def _tip(self, text: str) -> None:
        self.setToolTip(text)
        self.setAccessibleName(f"{self._text.text()}. {text}")
