"""Labels that keep their shape whatever their text."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


def label(text: str = "", *, role: str | None = None, wrap: bool = False) -> QLabel:
    """A label in one of the type scale's roles: display, title, heading, lead, muted, caption,
    section (see the style sheet); plain text only."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    return made


def sentence(text: str) -> str:
    """A reason as a sentence: the engine's begin small, to be put after a name."""
    return text[:1].upper() + text[1:]


class ElidedLabel(QLabel):
    """One line that is cut when there is no room, and then tells its whole text as a tip."""

    def __init__(
        self,
        text: str = "",
        *,
        role: str | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters."""
        return QSize(min(48, super().sizeHint().width()), super().sizeHint().height())

    def setText(self, text: str) -> None:
        """Show another text, as one line."""
        super().setText(" ".join(text.split()))
        self.updateGeometry()
        self._tell()

    def shown_text(self) -> str:
        """What there is room for."""
        return self.fontMetrics().elidedText(self.text(), self._mode, self.width())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The text as far as there is room."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(self.rect(), self.alignment(), self.shown_text())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell what is cut."""
        super().resizeEvent(event)
        self._tell()

    def changeEvent(self, event: QEvent) -> None:
        """Another font takes another room."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def _tell(self) -> None:
        whole = self.text()
        self.setToolTip("" if self.shown_text() == whole else whole)
