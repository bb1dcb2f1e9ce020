"""What stands where there is nothing to show: why, and what to do."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.bridge.errors import Words
from app.widgets.icons import IconLabel
from app.widgets.labels import label, sentence

_TEXT_WIDTH_PX = 420


class EmptyState(QWidget):
    """A drawing, a line, a sentence or two, and at most one button."""

    def __init__(
        self,
        drawing: str,
        title: str = "",
        text: str = "",
        *,
        button: QPushButton | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._drawing = IconLabel(drawing, size_px=40)
        self._title = label(role="title")
        self._text = label(role="muted", wrap=True)
        self._text.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addStretch(2)
        centred = Qt.AlignmentFlag.AlignHCenter
        column.addWidget(self._drawing, alignment=centred)
        column.addSpacing(4)
        column.addWidget(self._title, alignment=centred)
        column.addWidget(self._text, alignment=centred)
        if button is not None:
            column.addSpacing(8)
            column.addWidget(button, alignment=centred)
        column.addStretch(3)
        self.say(title, text)

    def say(self, title: str, text: str, *, drawing: str | None = None) -> None:
        """Say something else."""
        if drawing is not None:
            self._drawing.show_drawing(drawing)
        self._title.setText(title)
        self._text.setText(text)
        self._fit()

    def say_words(self, words: Words, *, drawing: str | None = None) -> None:
        """Say what went wrong, why, and what to do."""
        parts = (sentence(words.cause), words.what_to_do)
        self.say(words.message, "\n\n".join(part for part in parts if part), drawing=drawing)

    def changeEvent(self, event: QEvent) -> None:
        """Another font takes another room."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        # A layout does not ask an aligned label how high its text is at its width.
        self._text.ensurePolished()
        height = max(0, self._text.heightForWidth(_TEXT_WIDTH_PX))
        self._text.setFixedSize(_TEXT_WIDTH_PX, height)
