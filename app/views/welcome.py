"""The first start: two ways to begin."""

from PySide6.QtCore import QByteArray, QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.widgets.assets import ICONS
from app.widgets.icons import IconLabel
from app.widgets.labels import label

_CARD_WIDTH_PX = 328


class _Picture(QWidget):
    """A thing in one photo, and the same thing found in others; in the theme's colours."""

    def __init__(self) -> None:
        super().__init__()
        self._drawing = (ICONS / "found-again.svg").read_text("utf-8")
        self.setFixedSize(QSize(560, 200))

    def paintEvent(self, event: QPaintEvent) -> None:
        text = self._drawing
        for name, role in (
            ("currentColor", QPalette.ColorRole.PlaceholderText),
            ("line", QPalette.ColorRole.Shadow),
            ("paper", QPalette.ColorRole.AlternateBase),
            ("accent", QPalette.ColorRole.Highlight),
        ):
            text = text.replace(f'"{name}"', f'"{self.palette().color(role).name()}"')
        painter = QPainter(self)
        QSvgRenderer(QByteArray(text.encode())).render(painter, QRectF(self.rect()))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()


class WelcomeView(QWidget):
    """Choose a folder, or try the sample album."""

    folder_asked = Signal()
    sample_asked = Signal()

    def __init__(self, *, sample: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choose = QPushButton(self.tr("Choose a folder…"))
        self._choose.setProperty("kind", "primary")
        self._choose.clicked.connect(self.folder_asked)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.setContentsMargins(32, 16, 32, 16)
        column.addStretch(3)
        centred = Qt.AlignmentFlag.AlignHCenter
        column.addWidget(_Picture(), alignment=centred)
        column.addSpacing(24)
        column.addWidget(
            label(self.tr("Find the same thing again"), role="display"), alignment=centred
        )
        lead = self.tr("Draw a box round a thing. Refocal shows every photo of yours that has it.")
        column.addWidget(label(lead, role="lead"), alignment=centred)
        column.addSpacing(24)
        column.addLayout(self._cards(sample=sample))
        column.addSpacing(24)
        column.addLayout(self._promise())
        column.addStretch(4)

    def showEvent(self, event: QEvent) -> None:
        """The keyboard begins at the first choice."""
        self._choose.setFocus()

    def _cards(self, *, sample: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addStretch()
        row.addWidget(
            _card(
                "folder",
                self.tr("Your photos"),
                self.tr("Point Refocal at a folder. It reads the photos once, in the background."),
                self._choose,
            )
        )
        if sample:
            button = QPushButton(self.tr("Try the sample album"))
            button.clicked.connect(self.sample_asked)
            row.addWidget(
                _card(
                    "album",
                    self.tr("A look round first"),
                    self.tr("About 50 small pictures of a few things, ready in a minute."),
                    button,
                )
            )
        row.addStretch()
        return row

    def _promise(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch()
        row.addWidget(IconLabel("private", size_px=16))
        text = self.tr("Nothing leaves this computer. Your photos are never changed or moved.")
        row.addWidget(label(text, role="caption"))
        row.addStretch()
        return row


def _card(drawing: str, title: str, text: str, button: QPushButton) -> QFrame:
    card = QFrame()
    card.setProperty("role", "card")
    card.setFixedWidth(_CARD_WIDTH_PX)
    column = QVBoxLayout(card)
    column.setContentsMargins(24, 24, 24, 24)
    column.setSpacing(8)
    column.addWidget(IconLabel(drawing, size_px=24, role=QPalette.ColorRole.Highlight))
    column.addSpacing(4)
    column.addWidget(label(title, role="heading"))
    column.addWidget(label(text, role="muted", wrap=True))
    column.addStretch()
    column.addSpacing(8)
    column.addWidget(button)
    return card
