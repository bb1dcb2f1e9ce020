"""What a person does in the window, for its tests."""

from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.views.main_window import MainWindow
from engine.types import Box

LEFT = Qt.MouseButton.LeftButton


def texts(widget: QWidget) -> str:
    """Everything that can be read in a widget now."""
    labels = [part.text() for part in widget.findChildren(QLabel) if part.isVisible()]
    buttons = [part.text() for part in widget.findChildren(QPushButton) if part.isVisible()]
    return "\n".join(labels + buttons)


def press(widget: QWidget, words: str) -> None:
    """Click the visible button with these words."""
    found = [
        part
        for part in widget.findChildren(QPushButton)
        if part.isVisible() and (part.text() == words or part.accessibleName().startswith(words))
    ]
    assert len(found) == 1, f"{words}: {len(found)} buttons"
    QTest.mouseClick(found[0], LEFT)


def open_first(qtbot: QtBot, window: MainWindow) -> None:
    """Open the first photo of the library by keyboard and wait for its pixels."""
    qtbot.waitUntil(lambda: window.photos.photo(0) is not None)
    window.library.grid.setCurrentIndex(window.photos.index(0))
    QTest.keyClick(window.library.grid, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.search.query.crop.photo_size is not None)


def search_in(qtbot: QtBot, window: MainWindow, box: Box | None = None) -> None:
    """Search with the open photo and wait for the hits."""
    window.search.query.crop.set_box(box)
    QTest.keyClick(window.search.query.crop, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.search.hits.rowCount() > 0)


def drop(window: MainWindow, mime: QMimeData) -> None:
    """Hold something over the window, then drop it there."""
    at, none = QPointF(300, 300), Qt.KeyboardModifier.NoModifier
    both = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
    entered = QDragEnterEvent(at.toPoint(), both, mime, LEFT, none)
    QApplication.sendEvent(window, entered)
    assert entered.isAccepted()
    assert window.drops.overlay.isVisible()
    dropped = QDropEvent(at, both, mime, LEFT, none)
    QApplication.sendEvent(window, dropped)
    assert dropped.dropAction() == Qt.DropAction.CopyAction  # the source keeps its file
    assert not window.drops.overlay.isVisible()
