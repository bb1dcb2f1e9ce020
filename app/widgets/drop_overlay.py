"""What a person sees while something is held over the window."""

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.widgets.icons import IconLabel
from app.widgets.labels import label


class DropOverlay(QWidget):
    """Lies over all of its parent, and lets events through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._drawing = IconLabel("drop", size_px=48, role=QPalette.ColorRole.Highlight)
        self._title = label(role="title")
        self._more = label(role="muted", wrap=True)
        self._more.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addStretch()
        for part in (self._drawing, self._title, self._more):
            column.addWidget(part, alignment=Qt.AlignmentFlag.AlignHCenter)
        column.addStretch()
        parent.installEventFilter(self)
        self.hide()

    def show_offer(self, drawing: str, title: str, more: str) -> None:
        """Say what a drop would do."""
        self._drawing.show_drawing(drawing)
        self._title.setText(title)
        self._more.setText(more)
        self.setGeometry(self._over.rect())
        self._more.setMinimumWidth(min(480, self._over.width() - 96))
        self.raise_()
        self.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the parent's size."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self.setGeometry(self._over.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """A veil and a frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(self.palette().color(QPalette.ColorRole.Window))
        veil.setAlphaF(0.95)
        painter.fillRect(self.rect(), veil)
        accent = self.palette().color(QPalette.ColorRole.Highlight)
        painter.setPen(QPen(accent, 2, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(16, 16, -16, -16), 12, 12)
