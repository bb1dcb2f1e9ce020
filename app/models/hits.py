"""The hits of a search as rows, best first, without an end: further ones come as one scrolls, and
exact focus maps as hits are looked at."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    Slot,
)

from app.bridge.calls import EngineCalls
from app.bridge.host import Job
from app.models.thumbnails import Thumbnails
from engine.requests import FocusAnswer, FocusRequest, HitPage, MoreHitsRequest, SearchAnswer
from engine.types import Hit, PhotoState

Index = QModelIndex | QPersistentModelIndex

FOCUS_AT_ONCE = 2
"""Exact maps on their way. One runs, one waits: more would only be cancelled by scrolling."""
PAGE_HITS = 200
NEAR_END = 60
"""So few rows below those in sight, and the next page is asked for."""
_WHO = "hits"
_NO_PARENT = QModelIndex()


class HitsModel(QAbstractListModel):
    """``UserRole`` is the `Hit`, with its footprint at first and its exact focus map later.

    Rows are the hits that have come and reach ``min_score``.
    """

    counted = Signal()
    """How many there are, are likely or have come is another number now."""
    failed = Signal(object)
    """`Words`: why no further hits come."""

    def __init__(
        self, calls: EngineCalls, thumbnails: Thumbnails, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._calls = calls
        self._thumbnails = thumbnails
        self._min_score: float | None = None
        self._round = 0
        self._begin(None)
        thumbnails.arrived.connect(self._on_thumbnail_arrived)

    def _begin(self, answer: SearchAnswer | None) -> None:
        self._token = answer.token if answer else None
        self._cutoff = answer.cutoff if answer else None
        self._all: list[Hit] = []
        self._places: dict[int, int] = {}  # of photo ids in _all
        self._shown: list[int] = []  # places of the hits that are rows
        self._take(answer.hits if answer else ())
        self._offset = len(answer.hits) if answer else 0
        self._total = max(answer.total, self._offset) if answer else 0
        self._page_job: Job | None = None
        self._page_wanted = True
        self._seen: Sequence[int] = range(0)
        self._jobs: dict[int, Job] = {}
        self._dropped: set[int] = set()
        self._hopeless: set[int] = set()
        self._stopped = False

    # --- rows ---

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """How many hits are shown now."""
        return 0 if parent.isValid() else len(self._shown)

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
        return self._all[self._shown[row]] if 0 <= row < len(self._shown) else None

    def show(self, answer: SearchAnswer | None) -> None:
        """Show another search's hits; None: none."""
        for job in self._jobs.values():
            job.cancel()
        if self._page_job is not None:
            self._page_job.cancel()
        self.beginResetModel()
        self._round += 1
        self._begin(answer)
        self._shown = self._reaching()
        self.endResetModel()
        self.counted.emit()

    # --- how many ---

    @property
    def token(self) -> str | None:
        """Of the search whose hits these are, if there is one."""
        return self._token

    @property
    def total(self) -> int:
        """How many hits the search has in all, whether they have come or not."""
        return self._total

    @property
    def complete(self) -> bool:
        """Whether every hit that reaches the least score is a row."""
        return not self._page_wanted or self._offset >= self._total

    @property
    def likely(self) -> int | None:
        """How many rows, from the first on, the engine takes for the thing; None: it cannot tell.
        All others are only near."""
        if self._cutoff is None:
            return None
        if not self._cutoff.good:
            return 0
        least = self._cutoff.score
        # Below those that were re-ranked scores mean another thing: once under it, under it.
        found = sum(1 for _ in takewhile(lambda hit: hit.score >= least, self._all))
        return bisect_left(self._shown, found)

    @property
    def min_score(self) -> float | None:
        """Hits below it are no rows; None: all are."""
        return self._min_score

    def set_min_score(self, score: float | None) -> None:
        """Show only hits that score at least this; None: all."""
        if score == self._min_score:
            return
        self._min_score = score
        self._page_wanted = True
        self._sift()
        self.counted.emit()
        self._want_page()

    def _reaching(self) -> list[int]:
        least = self._min_score
        return [n for n, hit in enumerate(self._all) if least is None or hit.score >= least]

    def _sift(self) -> None:
        """Let rows go and come so that those which stay keep their selection."""
        wanted = self._reaching()
        kept, before = set(wanted), set(self._shown)
        gone = [row for row, place in enumerate(self._shown) if place not in kept]
        for first, last in reversed(list(_runs(gone))):
            self.beginRemoveRows(_NO_PARENT, first, last)
            del self._shown[first : last + 1]
            self.endRemoveRows()
        come = [row for row, place in enumerate(wanted) if place not in before]
        for first, last in _runs(come):
            self.beginInsertRows(_NO_PARENT, first, last)
            self._shown[first:first] = wanted[first : last + 1]
            self.endInsertRows()
        self._seen = [row for row in self._seen if row < len(self._shown)]

    # --- further hits ---

    def _want_page(self) -> None:
        near = max(self._seen, default=-1) >= len(self._shown) - NEAR_END
        if self._token is None or self._page_job is not None or self.complete or not near:
            return
        job = self._calls.more(MoreHitsRequest(self._token, self._offset, PAGE_HITS))
        self._page_job = job
        # Another search's hits cancel the page, and then it ends in no other way.
        job.succeeded.connect(self._on_page)
        job.failed.connect(self._on_page_failed)
        job.cancelled.connect(partial(self._on_page_cancelled, self._round))

    def _on_page(self, page: object) -> None:
        assert isinstance(page, HitPage)
        self._page_job = None
        before = len(self._shown)
        self._take(page.hits)
        self._offset += len(page.hits)
        self._total = page.total if page.hits else self._offset
        self._sift()
        # The best come first: where none of a page reaches the score, none below it will.
        self._page_wanted = len(self._shown) > before
        self.counted.emit()
        self._want_page()

    def _on_page_failed(self, words: object) -> None:
        self._page_job = None
        self._page_wanted = False
        self.counted.emit()
        self.failed.emit(words)

    def _on_page_cancelled(self, of: int) -> None:
        if of == self._round:
            self._page_job = None

    def _take(self, hits: Sequence[Hit]) -> None:
        """Keep each photo once, though a page may overlap the one before."""
        for hit in hits:
            if hit.photo.id not in self._places:
                self._places[hit.photo.id] = len(self._all)
                self._all.append(hit)

    # --- what is fetched for those in sight ---

    def set_visible(self, first: int, last: int) -> None:
        """Say which rows are in sight: they are given thumbnails and exact focus maps."""
        self.set_visible_rows(range(first, last + 1))

    def set_visible_rows(self, rows: Sequence[int]) -> None:
        """The same for any rows; the first ones come first."""
        self._seen = [row for row in rows if 0 <= row < len(self._shown)]
        ids = [self._all[self._shown[row]].photo.id for row in self._seen]
        self._thumbnails.want(_WHO, ids)
        for photo_id, job in self._jobs.items():
            if photo_id not in ids:
                self._dropped.add(photo_id)
                job.cancel()
        self._fetch()
        self._want_page()

    def _fetch(self) -> None:
        if self._token is None or self._stopped:
            return
        for row in self._seen:
            if len(self._jobs) >= FOCUS_AT_ONCE:
                return
            hit = self._all[self._shown[row]]
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
        place = self._places.get(answer.photo_id)
        if place is not None:
            self._all[place] = replace(self._all[place], focus=answer.focus, box=answer.box)
            self._tell_changed(answer.photo_id, Qt.ItemDataRole.UserRole)
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
        self._tell_changed(photo_id, Qt.ItemDataRole.DecorationRole)

    def _tell_changed(self, photo_id: int, role: Qt.ItemDataRole) -> None:
        place = self._places.get(photo_id)
        if place is None:
            return
        row = bisect_left(self._shown, place)
        if row < len(self._shown) and self._shown[row] == place:
            self.dataChanged.emit(self.index(row), self.index(row), [role])


def _runs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each stretch of neighbours among rows in ascending order."""
    start = 0
    for n in range(1, len(rows) + 1):
        if n == len(rows) or rows[n] != rows[n - 1] + 1:
            yield rows[start], rows[n - 1]
            start = n
