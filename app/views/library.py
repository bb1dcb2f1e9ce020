"""The library: all photos as a grid."""

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QMenu, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from app.models.photos import PhotosModel
from app.views.elsewhere import add_photo_actions
from app.widgets.empty_state import EmptyState
from app.widgets.grid_view import GridView
from app.widgets.header import Header
from app.widgets.tile_slider import TileSlider
from app.widgets.tiles import TileDelegate
from engine.types import Photo


class LibraryView(QWidget):
    """A grid of photos; one is opened by double click or Enter."""

    photo_opened = Signal(object)
    """The `Photo`."""
    picture_asked = Signal()
    """Open a picture from anywhere."""
    add_folder_asked = Signal()

    def __init__(self, photos: PhotosModel, *, tile_px: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._photos = photos
        self.grid = GridView(photos, TileDelegate(), tile_px=tile_px)
        self.grid.setAccessibleName(self.tr("Photos"))
        self.grid.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.grid.customContextMenuRequested.connect(self._on_menu_asked)
        self.grid.activated.connect(self._on_activated)
        self.grid.visible_changed.connect(photos.set_visible)
        photos.counted.connect(self._on_counted)
        self._header = Header(self.tr("All photos"))
        open_picture = QPushButton(self.tr("Search with another picture…"))
        open_picture.setToolTip(self.tr("A picture that need not be in the library (Ctrl+O)"))
        open_picture.clicked.connect(self.picture_asked)
        self._header.add(TileSlider(self.grid))
        self._header.add_space(8)
        self._header.add(open_picture)
        self._pages = QStackedLayout()
        self._pages.addWidget(self.grid)
        self._nothing = self._empty()
        self._pages.addWidget(self._nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header)
        column.addLayout(self._pages, stretch=1)

    def set_indexing(self, indexing: bool) -> None:
        """Whether photos are being looked for; only changes what an empty library says."""
        if indexing:
            self._nothing.say(
                self.tr("Looking for photos…"),
                self.tr("They appear here one by one, and you can search among those that do."),
                drawing="folder",
            )
        else:
            self._nothing.say(
                self.tr("No photos here"),
                self.tr("The folders of this library hold no photos that can be read."),
                drawing="photos",
            )

    def _empty(self) -> EmptyState:
        add = QPushButton(self.tr("Add folder…"))
        add.setProperty("kind", "primary")
        add.clicked.connect(self.add_folder_asked)
        return EmptyState(
            "photos",
            self.tr("No photos here"),
            self.tr("The folders of this library hold no photos that can be read."),
            button=add,
        )

    @Slot(int)
    def _on_counted(self, total: int) -> None:
        hint = self.tr("Open one and draw a box round a thing to find it in the others")
        count = self.tr("{n} photos").format(n=f"{total:,}") if total != 1 else self.tr("1 photo")
        self._header.say(self.tr("All photos"), f"{count} · {hint}" if total else "")
        self._pages.setCurrentIndex(0 if total else 1)
        if total and not self.grid.currentIndex().isValid():
            self.grid.selectionModel().setCurrentIndex(
                self._photos.index(0), self.grid.selectionModel().SelectionFlag.NoUpdate
            )

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        photo = index.data(Qt.ItemDataRole.UserRole)
        if isinstance(photo, Photo):
            self.photo_opened.emit(photo)

    @Slot(QPoint)
    def _on_menu_asked(self, at: QPoint) -> None:
        photo = self.grid.indexAt(at).data(Qt.ItemDataRole.UserRole)
        if not isinstance(photo, Photo):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Open")).triggered.connect(lambda: self.photo_opened.emit(photo))
        add_photo_actions(menu, photo.path)
        menu.popup(self.grid.viewport().mapToGlobal(at))
