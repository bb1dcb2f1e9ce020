"""One hit at full size, beside the query."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.bridge.calls import EngineCalls
from app.bridge.host import Job
from app.models.hits import HitsModel
from app.models.steps import Steering
from app.models.thumbnails import Thumbnails
from app.views.elsewhere import show_in_folder
from app.views.overlay_tools import OverlayTools
from app.widgets.header import Header
from app.widgets.hit_tiles import paint_score_bar, score_text
from app.widgets.hit_view import HitView
from app.widgets.icons import IconButton
from app.widgets.labels import ElidedLabel, label
from app.widgets.overlay import Overlay
from app.widgets.steer_buttons import Steer
from engine.requests import PreviewRequest
from engine.types import Hit, PhotoState, Picture

PREVIEW_PX = 2048


class _ScoreBar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._score = 0.0
        self.setFixedSize(96, 4)

    def show_score(self, score: float) -> None:
        self._score = score
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_score_bar(painter, self.rect().toRectF(), self._score, self.palette())


class HitPane(QWidget):
    """Steps through the hits; each is there at once as a thumbnail, then as a photo."""

    closed = Signal(int)
    """The row that was shown."""
    query_asked = Signal(object)
    """The `Hit` whose photo shall be searched with."""
    steered = Signal(object, object)
    """The `Hit` and a `Steer`: more like it, or not it."""

    def __init__(
        self,
        calls: EngineCalls,
        hits: HitsModel,
        thumbnails: Thumbnails,
        overlay: Overlay,
        *,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._calls = calls
        self._hits = hits
        self._thumbnails = thumbnails
        self._row = -1
        self._steering = Steering()
        self._job: Job | None = None
        self.view = HitView(overlay)
        self._header = Header(back=self.tr("All hits (Esc)"))
        self._header.back_asked.connect(self._on_back_asked)
        self._previous = IconButton("previous", self.tr("Better hit (Left)"))
        self._previous.clicked.connect(lambda: self.step(-1))
        self._next = IconButton("next", self.tr("Next hit (Right)"))
        self._next.clicked.connect(lambda: self.step(1))
        for part in (OverlayTools(overlay), self._previous, self._next):
            self._header.add(part)
        self._score = label(role="heading")
        self._bar = _ScoreBar()
        self._state = ElidedLabel(role="caption", mode=Qt.TextElideMode.ElideRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header)
        column.addWidget(self.view, stretch=1)
        column.addWidget(self._footer())
        hits.dataChanged.connect(self._on_data_changed)
        hits.modelReset.connect(self._on_model_reset)
        hits.rowsInserted.connect(self._on_rows_inserted)

    @property
    def row(self) -> int:
        """The row that is shown, or -1."""
        return self._row

    def show_row(self, row: int) -> None:
        """Show a hit."""
        hit = self._hits.hit(row)
        if hit is None:
            return
        self._row = row
        self._show_hit(hit)
        # What is looked at comes first, then what the next key leads to.
        self._hits.set_visible_rows([row, row + 1, row - 1])
        self._previous.setEnabled(row > 0)
        self._show_way_on()
        self._load(hit)
        self.view.setFocus()

    def step(self, by: int) -> None:
        """Show a hit further on, or further back."""
        if 0 <= self._row + by < self._hits.rowCount():
            self.show_row(self._row + by)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right step, Escape leads back to all hits."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() in steps:
            self.step(steps[Qt.Key(event.key())])
        elif event.key() == Qt.Key.Key_Escape:
            self._on_back_asked()
        else:
            super().keyPressEvent(event)

    def show_steering(self, steering: Steering) -> None:
        """The photos that steer the search."""
        self._steering = steering

    def _show_way_on(self) -> None:
        self._next.setEnabled(self._row + 1 < self._hits.rowCount())

    def _show_hit(self, hit: Hit) -> None:
        self.view.show_hit(hit, self._thumbnails.get(hit.photo.id))
        shown = self._hits.rowCount() if self._hits.complete else self._hits.total
        rank = self.tr("Hit {n} of {total}").format(n=f"{self._row + 1:,}", total=f"{shown:,}")
        self._header.say(hit.photo.path.name, f"{rank} · {hit.photo.path.parent}")
        self._score.setText(score_text(hit.score))
        self._bar.show_score(hit.score)
        self._state.setText(self._state_text(hit))
        self._like.setChecked(hit.photo.id in self._steering.liked_ids)
        self._dislike.setChecked(hit.photo.id in self._steering.disliked_ids)

    def _state_text(self, hit: Hit) -> str:
        if hit.photo.state is PhotoState.OFFLINE:
            return self.tr("Offline: the stored footprint is shown")
        if hit.focus is None:
            return self.tr("Compared as a whole photo")
        if hit.focus.exact:
            return self.tr("Exact focus map")
        return self.tr("Footprint; the exact focus map is on its way")

    def _load(self, hit: Hit) -> None:
        if self._job is not None:
            self._job.cancel()
            self._job = None
        if hit.photo.state is PhotoState.OFFLINE:
            return
        job = self._calls.preview_image(PreviewRequest(Picture(path=hit.photo.path), PREVIEW_PX))
        self._job = job

        def arrived(answer: object) -> None:
            assert isinstance(answer, tuple)
            if job is self._job:
                self._job = None
                self.view.show_image(*answer)

        def failed(words: object) -> None:
            if job is self._job:
                self._job = None
                self._state.setText(getattr(words, "cause", ""))

        job.succeeded.connect(arrived)
        job.failed.connect(failed)

    def _footer(self) -> QFrame:
        search = QPushButton(self.tr("Search with this photo"))
        search.clicked.connect(self._on_query_clicked)
        self._like = IconButton("like", self.tr("More like this (M)"), checkable=True)
        self._like.clicked.connect(lambda: self._steer(Steer.LIKE))
        self._dislike = IconButton("dislike", self.tr("Not this (N)"), checkable=True)
        self._dislike.clicked.connect(lambda: self._steer(Steer.DISLIKE))
        show = IconButton("show-in-folder", self.tr("Show in folder"))
        show.clicked.connect(self._on_show_clicked)
        footer = QFrame()
        footer.setProperty("role", "footer")
        row = QHBoxLayout(footer)
        row.setContentsMargins(16, 11, 12, 12)
        row.setSpacing(8)
        row.addWidget(self._score)
        row.addWidget(self._bar)
        row.addSpacing(8)
        row.addWidget(self._state, stretch=1)
        row.addWidget(self._like)
        row.addWidget(self._dislike)
        row.addWidget(show)
        row.addWidget(search)
        return footer

    @Slot()
    def _on_back_asked(self) -> None:
        row, self._row = self._row, -1
        self.closed.emit(row)

    @Slot()
    def _on_query_clicked(self) -> None:
        if self.view.hit is not None:
            self.query_asked.emit(self.view.hit)

    def _steer(self, steer: Steer) -> None:
        if self.view.hit is not None:
            self.steered.emit(self.view.hit, steer)

    @Slot()
    def _on_rows_inserted(self) -> None:
        hit = self._hits.hit(self._row)
        if hit is not None:
            self._show_hit(hit)
            self._show_way_on()

    @Slot()
    def _on_show_clicked(self) -> None:
        if self.view.hit is not None:
            show_in_folder(self.view.hit.photo.path)

    @Slot()
    def _on_data_changed(self) -> None:
        hit = self._hits.hit(self._row)
        if hit is not None:
            self._show_hit(hit)

    @Slot()
    def _on_model_reset(self) -> None:
        self._row = -1
