"""The strip on top of a page: what it shows, and what can be done with it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.widgets.icons import IconButton
from app.widgets.labels import ElidedLabel

HEIGHT_PX = 56


class Header(QFrame):
    """A way back (if there is one), a title over a line of facts, and room on the right."""

    back_asked = Signal()

    def __init__(
        self, title: str = "", *, back: str | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "header")
        self.setFixedHeight(HEIGHT_PX)
        self._title = ElidedLabel(title, role="heading")
        self._facts = ElidedLabel(role="caption", mode=Qt.TextElideMode.ElideRight)
        self._facts.hide()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(16 if back is None else 8, 0, 12, 0)
        self._row.setSpacing(8)
        if back is not None:
            button = IconButton("back", back)
            button.clicked.connect(self.back_asked)
            self._row.addWidget(button)
        texts = QVBoxLayout()
        texts.setSpacing(1)
        texts.setContentsMargins(0, 0, 0, 0)
        texts.addStretch()
        texts.addWidget(self._title)
        texts.addWidget(self._facts)
        texts.addStretch()
        self._row.addLayout(texts, stretch=1)

    @property
    def title(self) -> str:
        """The title as it is set."""
        return self._title.text()

    @property
    def facts(self) -> str:
        """The line below the title."""
        return self._facts.text()

    def say(self, title: str, facts: str = "") -> None:
        """Show another title and facts."""
        self._title.setText(title)
        self._facts.setText(facts)
        self._facts.setVisible(bool(facts))

    def lead_with(self, widget: QWidget) -> None:
        """Put a widget at the left end."""
        self._row.insertWidget(0, widget)

    def add(self, widget: QWidget) -> None:
        """Put a widget at the right end."""
        self._row.addWidget(widget)

    def add_space(self, width_px: int = 8) -> None:
        """Keep things apart."""
        self._row.addSpacing(width_px)
