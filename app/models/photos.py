"""The library's photos as rows, fetched page by page as they come into sight."""

from collections import OrderedDict
from functools import partial

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
    Slot,
)

from app.bridge.calls import EngineCalls
from app.bridge.host import Job
from app.models.thumbnails import Thumbnails
from engine.requests import PhotoPage, PhotosRequest
from engine.types import Photo

Index = QModelIndex | QPersistentModelIndex

PAGE_ROWS = 200
KEPT_PAGES = 60
_WHO = "library"
_NO_PARENT = QModelIndex()


class PhotosModel(QAbstractListModel):
    """Every photo is a row at once; what is known of it comes when somebody looks.

    ``UserRole`` is the `Photo`, or None while its page is on its way.
    """

    counted = Signal(int)
    """How many photos there are; after each `refresh`."""
    failed = Signal(object)
    """`app.bridge.errors.Words`: a page could not be had."""

    def __init__(
        self, calls: EngineCalls, thumbnails: Thumbnails, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._calls = calls
        self._thumbnails = thumbnails
        self._total = 0
        self._pages: OrderedDict[int, tuple[Photo, ...]] = OrderedDict()
        self._rows_of: dict[int, int] = {}
        self._stale: set[int] = set()
        self._jobs: dict[int, Job] = {}
        self._asked: set[int] = set()
        self._seen = range(0)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._on_soon)
        thumbnails.arrived.connect(self._on_thumbnail_arrived)

    # --- rows ---

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """How many photos there are, fetched or not."""
        return 0 if parent.isValid() else self._total

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See `app.widgets.tiles` for the roles; asks for what is not there yet."""
        photo = self.photo(index.row())
        if photo is None:
            return None
        if role == Qt.ItemDataRole.UserRole:
            return photo
        if role == Qt.ItemDataRole.DecorationRole:
            return self._thumbnails.get(photo.id)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return photo.path.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return str(photo.path) if photo.reason is None else f"{photo.path}\n{photo.reason}"
        return None

    def photo(self, row: int) -> Photo | None:
        """The photo of a row; None while its page is on its way."""
        number, at = divmod(row, PAGE_ROWS)
        page = self._pages.get(number)
        if page is None or number in self._stale:
            self._asked.add(number)
            self._soon.start()
        return page[at] if page is not None and at < len(page) else None

    # --- what is fetched ---

    def set_visible(self, first: int, last: int) -> None:
        """Say which rows are in sight: their thumbnails come first, requests for others end."""
        self._seen = range(first, last + 1)
        self._want()

    def refresh(self) -> None:
        """See what the library holds now; what is shown stays until the answer is there."""
        self._stale = set(self._pages)
        self._asked.add(self._seen.start // PAGE_ROWS if self._seen else 0)
        self._soon.start()

    def _want(self) -> None:
        photos = [self.photo(row) for row in self._seen]
        self._thumbnails.want(_WHO, [photo.id for photo in photos if photo is not None])

    @Slot()
    def _on_soon(self) -> None:
        asked, self._asked = self._asked, set()
        for number in sorted(asked):
            if number not in self._jobs:
                job = self._calls.photos(PhotosRequest(number * PAGE_ROWS, PAGE_ROWS))
                self._jobs[number] = job
                job.succeeded.connect(partial(self._on_page, number))
                job.failed.connect(partial(self._on_page_failed, number))
                job.cancelled.connect(partial(self._jobs.pop, number, None))

    def _on_page(self, number: int, page: object) -> None:
        assert isinstance(page, PhotoPage)
        self._jobs.pop(number, None)
        self._set_total(page.total)
        self._pages[number] = page.photos
        self._pages.move_to_end(number)
        self._stale.discard(number)
        first = number * PAGE_ROWS
        self._rows_of.update({photo.id: first + n for n, photo in enumerate(page.photos)})
        while len(self._pages) > KEPT_PAGES:
            old, photos = self._pages.popitem(last=False)
            self._stale.discard(old)
            for photo in photos:
                self._rows_of.pop(photo.id, None)
        if page.photos:
            last = min(first + len(page.photos), self._total) - 1
            self.dataChanged.emit(self.index(first), self.index(last))
        self._want()
        self.counted.emit(self._total)

    def _on_page_failed(self, number: int, words: object) -> None:
        self._jobs.pop(number, None)
        self.failed.emit(words)

    def _set_total(self, total: int) -> None:
        if total > self._total:
            self.beginInsertRows(_NO_PARENT, self._total, total - 1)
            self._total = total
            self.endInsertRows()
        elif total < self._total:
            self.beginRemoveRows(_NO_PARENT, total, self._total - 1)
            self._total = total
            self.endRemoveRows()

    @Slot(int)
    def _on_thumbnail_arrived(self, photo_id: int) -> None:
        row = self._rows_of.get(photo_id)
        if row is not None and row < self._total:
            index = self.index(row)
            self.dataChanged.emit(index, index, [Qt.ItemDataRole.DecorationRole])
