"""What was left out and why, as rows: photos that failed, places that could not be looked at."""

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.bridge.calls import EngineCalls
from app.bridge.host import Job
from engine.requests import PhotoFilter, PhotoPage, PhotosRequest
from engine.types import Failure

Index = QModelIndex | QPersistentModelIndex

_PAGE_ROWS = 500
_NO_PARENT = QModelIndex()


class ProblemsModel(QAbstractListModel):
    """``UserRole`` is a `Failure`. What the last indexing skipped comes first."""

    counted = Signal(int)
    """How many problems there are in all, fetched or not."""
    failed = Signal(object)
    """`app.bridge.errors.Words`: the list could not be had."""

    def __init__(self, calls: EngineCalls, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._calls = calls
        self._skipped: tuple[Failure, ...] = ()
        self._failed: list[Failure] = []
        self._total_failed = 0
        self._job: Job | None = None

    @property
    def total(self) -> int:
        """How many problems there are in all."""
        return len(self._skipped) + self._total_failed

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """How many are fetched."""
        return 0 if parent.isValid() else len(self._skipped) + len(self._failed)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """``DisplayRole`` the name, ``ToolTipRole`` path and reason, ``UserRole`` the `Failure`."""
        failure = self.failure(index.row())
        if failure is None:
            return None
        if role == Qt.ItemDataRole.UserRole:
            return failure
        if role == Qt.ItemDataRole.DisplayRole:
            return failure.path.name
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{failure.path}\n{failure.reason}"
        return None

    def failure(self, row: int) -> Failure | None:
        """What a row tells, or None beyond the last one."""
        both = (self._skipped, self._failed)
        part, at = (0, row) if row < len(self._skipped) else (1, row - len(self._skipped))
        return both[part][at] if 0 <= at < len(both[part]) else None

    def refresh(self, skipped: tuple[Failure, ...] | None = None) -> None:
        """See what the library holds now; ``skipped``: what an indexing run has just left out."""
        if self._job is not None:
            self._job.cancel()
        self._ask(0, skipped)

    def canFetchMore(self, parent: Index) -> bool:
        """Whether more have failed than are here."""
        return not parent.isValid() and len(self._failed) < self._total_failed

    def fetchMore(self, parent: Index) -> None:
        """Get the next page."""
        if self._job is None and self.canFetchMore(parent):
            self._ask(len(self._failed), None)

    def _ask(self, offset: int, skipped: tuple[Failure, ...] | None) -> None:
        job = self._calls.photos(PhotosRequest(offset, _PAGE_ROWS, PhotoFilter.FAILED))
        self._job = job

        def succeeded(page: object) -> None:
            assert isinstance(page, PhotoPage)
            self._job = None
            self._take(page, skipped)

        def failed(words: object) -> None:
            self._job = None
            self.failed.emit(words)

        job.succeeded.connect(succeeded)
        job.failed.connect(failed)

    def _take(self, page: PhotoPage, skipped: tuple[Failure, ...] | None) -> None:
        more = [Failure(photo.path, photo.reason or "") for photo in page.photos]
        self._total_failed = page.total
        if page.offset == 0:
            self.beginResetModel()
            self._skipped = self._skipped if skipped is None else skipped
            self._failed = more
            self.endResetModel()
        elif more:
            first = self.rowCount()
            self.beginInsertRows(_NO_PARENT, first, first + len(more) - 1)
            self._failed.extend(more)
            self.endInsertRows()
        self.counted.emit(self.total)
