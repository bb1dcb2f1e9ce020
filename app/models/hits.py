"""The hits of a search as rows, best first; their exact focus maps come as they are looked at."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Slot

from app.bridge.calls import EngineCalls
from app.bridge.host import Job
from app.models.thumbnails import Thumbnails
from engine.requests import FocusAnswer, FocusRequest, SearchAnswer
from engine.types import Hit, PhotoState

Index = QModelIndex | QPersistentModelIndex

FOCUS_AT_ONCE = 2
"""Exact maps on their way. One runs, one waits: more would only be cancelled by scrolling."""
_WHO = "hits"
_NO_PARENT = QModelIndex()


class HitsModel(QAbstractListModel):
    """``UserRole`` is the `Hit`, with its footprint at first and its exact focus map later."""

    def __init__(
        self, calls: EngineCalls, thumbnails: Thumbnails, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._calls = calls
        self._thumbnails = thumbnails
        self._token: str | None = None
        self._round = 0
        self._hits: list[Hit] = []
        self._rows_of: dict[int, int] = {}
        self._seen: Sequence[int] = range(0)
        self._jobs: dict[int, Job] = {}
        self._dropped: set[int] = set()
        self._hopeless: set[int] = set()
        self._stopped = False
        thumbnails.arrived.connect(self._on_thumbnail_arrived)

    # --- rows ---

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """How many hits there are."""
        return 0 if parent.isValid() else len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See `app.widgets.tiles` for the roles."""
        hit = self.hit(index.row())
        if hit is None:
            return None
        if role == Qt.ItemDataRole.UserRole:
            return hit
        if role == Qt.ItemDataRole.DecorationRole:
            return self._thumbnails.get(hit.photo.id)
        if role == Qt.ItemDataRole.DisplayRole:
            return hit.photo.path.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.tr("Hit {n}: {name}, score {score}").format(
                n=index.row() + 1, name=hit.photo.path.name, score=f"{hit.score:.3f}"
            )
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.tr("{path}\nScore {score} · whole photo {whole}").format(
                path=hit.photo.path, score=f"{hit.score:.4f}", whole=f"{hit.global_score:.4f}"
            )
        return None

    def hit(self, row: int) -> Hit | None:
        """The hit of a row, or None beyond the last one."""
        return self._hits[row] if 0 <= row < len(self._hits) else None

    def show(self, answer: SearchAnswer | None) -> None:
        """Show another search's hits; None: none."""
        for job in self._jobs.values():
            job.cancel()
        self.beginResetModel()
        self._token = answer.token if answer else None
        self._round += 1
        self._hits = list(answer.hits) if answer else []
        self._rows_of = {hit.photo.id: row for row, hit in enumerate(self._hits)}
        self._seen = range(0)
        self._jobs = {}
        self._dropped = set()
        self._hopeless = set()
        self._stopped = False
        self.endResetModel()

    # --- what is fetched ---

    def set_visible(self, first: int, last: int) -> None:
        """Say which rows are in sight: they are given thumbnails and exact focus maps."""
        self.set_visible_rows(range(first, last + 1))

    def set_visible_rows(self, rows: Sequence[int]) -> None:
        """The same for any rows; the first ones come first."""
        self._seen = [row for row in rows if 0 <= row < len(self._hits)]
        ids = [self._hits[row].photo.id for row in self._seen]
        self._thumbnails.want(_WHO, ids)
        for photo_id, job in self._jobs.items():
            if photo_id not in ids:
                self._dropped.add(photo_id)
                job.cancel()
        self._fetch()

    def _fetch(self) -> None:
        if self._token is None or self._stopped:
            return
        for row in self._seen:
            if len(self._jobs) >= FOCUS_AT_ONCE:
                return
            hit = self._hits[row]
            if self._lacks_map(hit):
                self._ask(self._token, hit.photo.id)

    def _lacks_map(self, hit: Hit) -> bool:
        return (
            hit.focus is not None
            and not hit.focus.exact
            and hit.photo.state is not PhotoState.OFFLINE
            and hit.photo.id not in self._jobs
            and hit.photo.id not in self._hopeless
        )

    def _ask(self, token: str, photo_id: int) -> None:
        job = self._calls.focus(FocusRequest(token, photo_id))
        self._jobs[photo_id] = job
        job.succeeded.connect(partial(self._on_focus, self._round))
        # The footprint stays where there can be no map, and nobody need be told.
        job.failed.connect(partial(self._on_focus_failed, self._round, photo_id))
        job.cancelled.connect(partial(self._on_focus_cancelled, self._round, photo_id))

    def _on_focus(self, of: int, answer: object) -> None:
        assert isinstance(answer, FocusAnswer)
        if of != self._round:
            return
        self._jobs.pop(answer.photo_id, None)
        row = self._rows_of.get(answer.photo_id)
        if row is not None:
            self._hits[row] = replace(self._hits[row], focus=answer.focus, box=answer.box)
            self.dataChanged.emit(self.index(row), self.index(row), [Qt.ItemDataRole.UserRole])
        self._fetch()

    def _on_focus_failed(self, of: int, photo_id: int, _words: object) -> None:
        if of == self._round:
            self._jobs.pop(photo_id, None)
            self._hopeless.add(photo_id)
            self._fetch()

    def _on_focus_cancelled(self, of: int, photo_id: int) -> None:
        if of == self._round:
            self._jobs.pop(photo_id, None)
            # Not by us: a new search has begun or the host is closing. These hits are done with.
            self._stopped = self._stopped or photo_id not in self._dropped
            self._dropped.discard(photo_id)
            self._fetch()

    @Slot(int)
    def _on_thumbnail_arrived(self, photo_id: int) -> None:
        row = self._rows_of.get(photo_id)
        if row is not None:
            index = self.index(row)
            self.dataChanged.emit(index, index, [Qt.ItemDataRole.DecorationRole])
