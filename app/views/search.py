"""A query, and beside it what was found with it."""

from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.bridge.calls import EngineCalls
from app.bridge.errors import Words
from app.bridge.host import Job
from app.models.hits import HitsModel
from app.models.steps import SearchHistory, SearchStep, Steering
from app.models.thumbnails import Thumbnails
from app.views.exporting import Exporting
from app.views.hit_pane import PREVIEW_PX, HitPane
from app.views.hits_pane import HitsPane
from app.views.query_pane import QueryPane
from app.widgets.overlay import Overlay
from app.widgets.steer_buttons import Steer
from engine.requests import ExportReport, PreviewRequest, SearchAnswer, SearchRequest
from engine.types import Box, Hit, Photo, Picture, Size

TOP_HITS = 200
_SHARES = (2, 3)


class SearchView(QWidget):
    """Three steps forward (photo, hits, one hit) and, by Escape, three steps back."""

    closed = Signal()
    """The person is done with this query."""
    searched = Signal()
    """A search went well."""
    failed = Signal(object)
    """`Words` of what went wrong beside a search."""

    def __init__(
        self,
        calls: EngineCalls,
        thumbnails: Thumbnails,
        overlay: Overlay,
        *,
        tile_px: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._calls = calls
        self._picture: Picture | None = None
        self._facts = ""
        self._box_to_come: Box | None = None
        self._step: SearchStep | None = None
        self._history = SearchHistory()
        self._preview_job: Job | None = None
        self._search_job: Job | None = None
        self._engine_ready = False
        self.hits = HitsModel(calls, thumbnails, self)
        self.hits.failed.connect(self.failed)
        self._exporting = Exporting(calls, self)
        self._exporting.exported.connect(self._on_exported)
        self._exporting.failed.connect(self.failed)
        self.query = QueryPane()
        self.query.header.back_asked.connect(self.go_back)
        self.query.search_asked.connect(self.search)
        self.results = HitsPane(self.hits, overlay, tile_px=tile_px)
        self.results.hit_opened.connect(self._on_hit_opened)
        self.results.query_asked.connect(self._on_query_asked)
        self.results.steered.connect(self._on_steered)
        self.results.steering.photo_dropped.connect(self._on_photo_dropped)
        self.results.earlier_asked.connect(self.go_to_earlier)
        self.results.later_asked.connect(self.go_to_later)
        self.results.bar.export_asked.connect(self.export)
        self.one_hit = HitPane(calls, self.hits, thumbnails, overlay)
        self.one_hit.closed.connect(self._on_hit_closed)
        self.one_hit.query_asked.connect(self._on_query_asked)
        self.one_hit.steered.connect(self._on_steered)
        self._right = QStackedWidget()
        self._right.addWidget(self.results)
        self._right.addWidget(self.one_hit)
        self._lay_out()
        self._add_shortcuts(overlay)

    # --- the query ---

    def open_photo(self, photo: Photo) -> None:
        """Begin with a photo of the library."""
        facts = [str(photo.path.parent)]
        if photo.taken:
            facts.insert(0, photo.taken.replace("T", " "))
        self._open(Picture(path=photo.path), photo.path.name, " · ".join(facts))

    def open_picture(self, picture: Picture, *, others: int = 0) -> None:
        """Begin with a picture from anywhere; it does not enter the library.

        ``others``: how many more came with it and are left aside.
        """
        name = picture.path.name if picture.path else self.tr("Dropped picture")
        facts = self.tr("Opened for this search only")
        if others:
            first = self.tr("The first of {n} pictures").format(n=others + 1)
            facts = f"{first} · {facts}"
        self._open(picture, name, facts)

    def set_engine_ready(self, ready: bool) -> None:
        """Whether a search can start at once; only changes what is said while one waits."""
        self._engine_ready = ready
        if self._search_job is not None:
            self.results.show_searching(loading=not ready)

    def _open(self, picture: Picture, name: str, facts: str, *, box: Box | None = None) -> None:
        self._stop()
        self._picture = picture
        self._facts = facts
        self._box_to_come = box
        self._step = None
        self.hits.show(None)
        self.results.bar.reset()
        self._right.hide()
        self._right.setCurrentWidget(self.results)
        self.query.header.say(name, facts)
        self.query.show_loading()
        job = self._calls.preview_image(PreviewRequest(picture, PREVIEW_PX))
        self._preview_job = job
        job.succeeded.connect(lambda answer: self._on_preview(job, answer))
        job.failed.connect(lambda words: self._on_preview_failed(job, words))

    def _on_preview(self, job: Job, answer: tuple[object, Size]) -> None:
        if job is not self._preview_job:
            return
        self._preview_job = None
        image, size = answer
        self.query.show_photo(image, size, box=self._box_to_come)  # type: ignore[arg-type]
        if self._right.isHidden():
            self.query.crop.setFocus()
        self.query.header.say(self.query.header.title, f"{size.w} × {size.h} · {self._facts}")

    def _on_preview_failed(self, job: Job, words: Words) -> None:
        if job is self._preview_job:
            self._preview_job = None
            self.query.show_failure(words)

    # --- the search ---

    @Slot()
    def search(self) -> None:
        """Search with the picture and the box that are shown; another query is not steered by the
        photos that steered the one before."""
        if self._picture is None:
            return
        box = self._box_to_come if self._preview_job else self.query.crop.box
        step = SearchStep(self._picture, self.query.header.title, self._facts, box)
        if self._step is not None and step.same_query(self._step):
            step = self._step
        self._visit(step)

    def _visit(self, step: SearchStep) -> None:
        self._history.visit(step)
        self._run(step)

    def _run(self, step: SearchStep) -> None:
        self._step = step
        self.results.show_steering(step.steering)
        self.one_hit.show_steering(step.steering)
        self.results.show_history(
            earlier=self._history.can_go_back, later=self._history.can_go_forward
        )
        job = self._calls.search(
            SearchRequest(
                step.picture,
                box=step.box,
                top=TOP_HITS,
                liked=step.steering.liked_ids,
                disliked=step.steering.disliked_ids,
            )
        )
        self._search_job = job
        job.succeeded.connect(lambda answer: self._on_answer(job, answer))
        job.failed.connect(lambda words: self._on_search_failed(job, words))
        self.query.show_searching(True)
        self._right.setCurrentWidget(self.results)
        if self._right.isHidden():
            self._right.show()
            total = self._splitter.width()
            self._splitter.setSizes([total * share // sum(_SHARES) for share in _SHARES])
        self.results.show_searching(loading=not self._engine_ready)

    def _on_answer(self, job: Job, answer: SearchAnswer) -> None:
        if job is not self._search_job:
            return
        self._search_job = None
        self.query.show_searching(False)
        self.results.show_answer(answer)
        self.searched.emit()

    def _on_search_failed(self, job: Job, words: Words) -> None:
        if job is self._search_job:
            self._search_job = None
            self.query.show_searching(False)
            self.results.show_failure(words)

    def _stop(self) -> None:
        for job in (self._preview_job, self._search_job):
            if job is not None:
                job.cancel()
        self._preview_job = self._search_job = None
        self.query.show_searching(False)

    # --- steering, and the way back ---

    @Slot(object, object)
    def _on_steered(self, hit: Hit, steer: Steer) -> None:
        if self._step is not None:
            before = self._step.steering
            self._steer(
                before.like(hit.photo) if steer is Steer.LIKE else before.dislike(hit.photo)
            )

    @Slot(int)
    def _on_photo_dropped(self, photo_id: int) -> None:
        if self._step is not None:
            self._steer(self._step.steering.without(photo_id))

    def _steer(self, steering: Steering) -> None:
        assert self._step is not None
        self._visit(replace(self._step, steering=steering))

    def _steer_shown(self, steer: Steer) -> None:
        """Steer by the hit that is open or selected."""
        if self._right.isHidden():
            return
        open_alone = self._right.currentWidget() is self.one_hit
        hit = self.one_hit.view.hit if open_alone else self.results.current_hit()
        if hit is not None:
            self._on_steered(hit, steer)

    @Slot()
    def go_to_earlier(self) -> None:
        """Search once more what was searched for before."""
        self._return_to(self._history.back())

    @Slot()
    def go_to_later(self) -> None:
        """Search once more what one has gone back from."""
        self._return_to(self._history.forward())

    def _return_to(self, step: SearchStep | None) -> None:
        if step is None:
            return
        if step.picture != self._picture:
            self._open(step.picture, step.name, step.facts, box=step.box)
        elif self._preview_job is not None:
            self._box_to_come = step.box
        else:
            self.query.crop.set_box(step.box)
        self._run(step)

    # --- export ---

    @Slot()
    def export(self) -> None:
        """Ask for a file and write to it the hits that reach the least score."""
        if self.hits.token is not None and self.hits.total:
            self._exporting.ask(self.hits.token, self.hits.min_score)

    @Slot(object)
    def _on_exported(self, report: ExportReport) -> None:
        self.results.bar.show_exported(self._exporting.summary(report))

    # --- steps ---

    @Slot()
    def go_back(self) -> None:
        """One step: from one hit to all, from the hits to the photo alone, then out."""
        if not self._right.isHidden() and self._right.currentWidget() is self.one_hit:
            self._on_hit_closed(self.one_hit.row)
        elif not self._right.isHidden():
            self._stop()
            self.hits.show(None)
            self._right.hide()
            self.query.crop.setFocus()
        else:
            self._stop()
            self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape that nobody else had a use for leads one step back."""
        if event.key() == Qt.Key.Key_Escape:
            self.go_back()
        else:
            super().keyPressEvent(event)

    @Slot(int)
    def _on_hit_opened(self, row: int) -> None:
        self._right.setCurrentWidget(self.one_hit)
        self.one_hit.show_row(row)

    @Slot(int)
    def _on_hit_closed(self, row: int) -> None:
        self._right.setCurrentWidget(self.results)
        if row >= 0:
            self.results.show_row(row)
        seen = self.results.grid.visible_rows()
        self.hits.set_visible(seen.start, seen.stop - 1)

    @Slot(object)
    def _on_query_asked(self, hit: Hit) -> None:
        self.open_photo(hit.photo)

    # --- making ---

    def _lay_out(self) -> None:
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.query)
        self._splitter.addWidget(self._right)
        for part, share in enumerate(_SHARES):
            self._splitter.setStretchFactor(part, share)
        self._right.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._splitter, stretch=1)

    def _add_shortcuts(self, overlay: Overlay) -> None:
        here = Qt.ShortcutContext.WidgetWithChildrenShortcut
        for keys, action in (
            ("F", lambda: overlay.set_focus(not overlay.focus)),
            ("B", lambda: overlay.set_box(not overlay.box)),
            ("M", lambda: self._steer_shown(Steer.LIKE)),
            ("N", lambda: self._steer_shown(Steer.DISLIKE)),
            ("Alt+Left", self.go_to_earlier),
            ("Alt+Right", self.go_to_later),
        ):
            shortcut = QShortcut(QKeySequence(keys), self, context=here)
            shortcut.activated.connect(action)

    def sizeHint(self) -> QSize:
        """A window of its own."""
        return QSize(1024, 640)
