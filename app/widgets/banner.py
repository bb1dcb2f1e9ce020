"""A message across the window that stops nobody: what happened, why, and what to do."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.bridge.errors import Words
from app.widgets.icons import IconButton, IconLabel
from app.widgets.labels import label, sentence


class Banner(QFrame):
    """Shows one message at a time, the newest; a person closes it, or the next success does."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._words: Words | None = None
        self._message = label(role="heading", wrap=True)
        self._cause = label(wrap=True)
        self._cause.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._what_to_do = label(role="muted", wrap=True)
        self._close = IconButton("close", self.tr("Close this message"))
        self._close.clicked.connect(self.close_message)
        self._lay_out()
        self.hide()

    @property
    def words(self) -> Words | None:
        """What it says now, or None."""
        return self._words

    def show_words(self, words: Words) -> None:
        """Say this instead of what it said."""
        self._words = words
        for part, text in (
            (self._message, words.message),
            (self._cause, sentence(words.cause)),
            (self._what_to_do, words.what_to_do),
        ):
            part.setText(text)
            part.setVisible(bool(text))
        self.setAccessibleName(" ".join((words.message, words.cause, words.what_to_do)).strip())
        self.show()

    @Slot()
    def close_message(self) -> None:
        """Say nothing any more."""
        if self._words is not None:
            self._words = None
            self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_message()
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._message)
        texts.addWidget(self._cause)
        texts.addWidget(self._what_to_do)
        drawing = IconLabel("warning", size_px=20, role=QPalette.ColorRole.BrightText)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 8, 12)
        row.setSpacing(12)
        row.addWidget(drawing, alignment=Qt.AlignmentFlag.AlignTop)
        row.addLayout(texts, stretch=1)
        row.addWidget(self._close, alignment=Qt.AlignmentFlag.AlignTop)
