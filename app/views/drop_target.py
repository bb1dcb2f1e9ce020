"""Drag and drop, anywhere on the window."""

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.views import dropping
from app.widgets.drop_overlay import DropOverlay


class DropTarget(QObject):
    """Watches a window: says what a drop would do while something is held over it, then does it.

    Whatever comes is accepted as a copy: a refusal is told in words, not by a pointer, and the
    source must never take its file for moved.
    """

    picture_dropped = Signal(object, int)
    """The `Picture`, and how many more came with it."""
    folders_dropped = Signal(object)
    """A tuple of paths."""
    refused = Signal(object)
    """`app.bridge.errors.Words`."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.overlay = DropOverlay(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def take(self, mime: QMimeData) -> None:
        """Do what a drop of this does; pasting does the same."""
        match dropping.read(mime):
            case dropping.DroppedPicture(picture, others):
                self.picture_dropped.emit(picture, others)
            case dropping.DroppedFolders(folders):
                self.folders_dropped.emit(folders)
            case dropping.Refused(words):
                self.refused.emit(words)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The window's drag events."""
        match event:
            case QDragEnterEvent():
                self._show_offer(event.mimeData())
            case QDropEvent() if event.type() == QEvent.Type.Drop:
                self.overlay.hide()
                self.take(event.mimeData())
            case QDragMoveEvent():
                pass
            case _ if event.type() == QEvent.Type.DragLeave:
                self.overlay.hide()
                return True
            case _:
                return False
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        return True

    def _show_offer(self, mime: QMimeData) -> None:
        offer = dropping.offers(mime)
        if offer is dropping.DroppedPicture:
            self.overlay.show_offer(
                "search",
                self.tr("Search with this picture"),
                self.tr("It is looked at where it is and does not enter the library."),
            )
        elif offer is dropping.DroppedFolders:
            self.overlay.show_offer(
                "folder-add",
                self.tr("Add this folder"),
                self.tr("Its photos are read and indexed; they are never changed or moved."),
            )
        else:
            self.overlay.show_offer(
                "link-off",
                self.tr("Not a picture"),
                self.tr("Links are not fetched. Save the picture first, then drop the file."),
            )
