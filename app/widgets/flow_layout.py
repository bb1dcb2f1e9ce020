"""A layout that sets its widgets one after another and goes on in the next line where one ends."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Left to right, as many lines as the width asks for."""

    def __init__(self, *, spacing_px: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing_px)

    def addItem(self, item: QLayoutItem) -> None:
        """Add at the end."""
        self._items.append(item)

    def count(self) -> int:
        """How many there are."""
        return len(self._items)

    # Qt asks beyond the end and takes None for "no more"; its stubs say otherwise.
    def itemAt(self, index: int) -> QLayoutItem:
        """The item at a place."""
        return self._items[index] if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def takeAt(self, index: int) -> QLayoutItem:
        """Take an item out."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def expandingDirections(self) -> Qt.Orientation:
        """None: it takes what it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """More lines where there is less width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all lines."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        """Lay out in this room."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """That of the least."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Room for the largest widget."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _place(self, rect: QRect, *, move: bool) -> int:
        margins = self.contentsMargins()
        inner = rect.marginsRemoved(margins)
        x, y, line = inner.x(), inner.y(), 0
        for item in self._items:
            size = item.sizeHint()
            if x > inner.x() and x + size.width() > inner.x() + inner.width():
                x, y, line = inner.x(), y + line + self.spacing(), 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x, line = x + size.width() + self.spacing(), max(line, size.height())
        return y + line - rect.y() + margins.bottom()
