"""The query: a photo or picture, and the box on it."""

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from app.bridge.errors import Words
from app.widgets.crop_view import CropView
from app.widgets.empty_state import EmptyState
from app.widgets.header import Header
from app.widgets.labels import ElidedLabel
from engine.types import Box, Size

_LOADING, _PHOTO, _FAILED = range(3)


class QueryPane(QWidget):
    """The picture's name, the crop view, and below it what the box is and what to do with it."""

    search_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.header = Header(back=self.tr("Back (Esc)"))
        self.crop = CropView()
        self.crop.box_changed.connect(self._on_box_changed)
        self.crop.search_asked.connect(self._on_search_asked)
        self._failure = EmptyState("picture")
        self._readout = ElidedLabel(role="muted", mode=Qt.TextElideMode.ElideRight)
        self._clear = QPushButton(self.tr("Clear box"))
        self._clear.setProperty("kind", "quiet")
        self._clear.setToolTip(self.tr("Take the box away (Esc)"))
        self._clear.clicked.connect(lambda: self.crop.set_box(None))
        self._search = QPushButton()
        self._search.setProperty("kind", "primary")
        self._search.setToolTip(self.tr("Search (Enter)"))
        self._search.clicked.connect(self._on_search_asked)
        self._searching = False
        self._pages = QStackedLayout()
        for page in (QWidget(), self.crop, self._failure):
            self._pages.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addLayout(self._pages, stretch=1)
        column.addWidget(self._footer())
        self._show_what_can_be_done()

    def show_loading(self) -> None:
        """A picture is on its way."""
        self.crop.clear()
        self._turn_to(_LOADING)

    def show_photo(self, image: QImage, size: Size, *, box: Box | None = None) -> None:
        """Show a picture to draw on, with a box that was drawn before."""
        self.crop.show_photo(image, size)
        self.crop.set_box(box)
        self._turn_to(_PHOTO)

    def show_failure(self, words: Words) -> None:
        """Say why there is no picture."""
        self._failure.say_words(words)
        self._turn_to(_FAILED)

    def show_searching(self, searching: bool) -> None:
        """A search is on its way, or is not any more."""
        self._searching = searching
        self._show_what_can_be_done()

    def sizeHint(self) -> QSize:
        """As much as there is."""
        return QSize(480, 480)

    def _turn_to(self, page: int) -> None:
        self._pages.setCurrentIndex(page)
        self._show_what_can_be_done()

    def _show_what_can_be_done(self) -> None:
        box, ready = self.crop.box, self._pages.currentIndex() == _PHOTO
        self._clear.setVisible(box is not None)
        self._search.setEnabled(ready and not self._searching)
        if self._searching:
            self._search.setText(self.tr("Searching…"))
        elif box is not None:
            self._search.setText(self.tr("Find this thing"))
        else:
            self._search.setText(self.tr("Find similar photos"))
        self._readout.setText(self._readout_text(box) if ready else "")

    def _readout_text(self, box: Box | None) -> str:
        if box is None:
            return self.tr("Drag a box round a thing")
        return self.tr("{w} × {h} px at {x}, {y}").format(
            w=round(box.w), h=round(box.h), x=round(box.x), y=round(box.y)
        )

    def _footer(self) -> QFrame:
        footer = QFrame()
        footer.setProperty("role", "footer")
        row = QHBoxLayout(footer)
        row.setContentsMargins(16, 11, 12, 12)
        row.setSpacing(8)
        row.addWidget(self._readout, stretch=1)
        row.addWidget(self._clear)
        row.addWidget(self._search)
        return footer

    @Slot(object)
    def _on_box_changed(self, _box: object) -> None:
        self._show_what_can_be_done()

    @Slot()
    def _on_search_asked(self) -> None:
        if self._search.isEnabled():
            self.search_asked.emit()
