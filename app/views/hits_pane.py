"""The hits: a ranked grid, and one hit at full size beside the query."""

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app.bridge.errors import Words
from app.models.hits import HitsModel
from app.models.steps import Steering
from app.views.elsewhere import add_photo_actions
from app.views.overlay_tools import OverlayTools
from app.views.results_bar import ResultsBar
from app.views.steering_bar import SteeringBar
from app.widgets.busy_line import BusyLine
from app.widgets.empty_state import EmptyState
from app.widgets.grid_view import GridView
from app.widgets.header import Header
from app.widgets.hit_tiles import HitDelegate
from app.widgets.icons import IconButton, IconLabel
from app.widgets.labels import label
from app.widgets.overlay import Overlay
from app.widgets.steer_buttons import Steer
from app.widgets.tile_slider import TileSlider
from engine.requests import SearchAnswer
from engine.types import Hit

_GRID, _MESSAGE = range(2)


class HitsPane(QWidget):
    """Shows what a search found, or why it found nothing."""

    hit_opened = Signal(int)
    """The row."""
    query_asked = Signal(object)
    """The `Hit` whose photo shall be searched with."""
    steered = Signal(object, object)
    """A `Hit` and a `Steer`: more like it, or not it."""
    earlier_asked = Signal()
    later_asked = Signal()

    def __init__(
        self, hits: HitsModel, overlay: Overlay, *, tile_px: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._hits = hits
        self._answer: SearchAnswer | None = None
        self._tiles = HitDelegate(overlay)
        self._tiles.steered.connect(self.steered)
        self.grid = GridView(hits, self._tiles, tile_px=tile_px)
        self.grid.setAccessibleName(self.tr("Hits, best first"))
        self.grid.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.grid.customContextMenuRequested.connect(self._on_menu_asked)
        self.grid.activated.connect(self._on_activated)
        self.grid.visible_changed.connect(hits.set_visible)
        overlay.changed.connect(self.grid.viewport().update)
        self._header = Header(self.tr("Hits"))
        self._earlier = IconButton("earlier", self.tr("Earlier search (Alt+Left)"))
        self._earlier.clicked.connect(self.earlier_asked)
        self._later = IconButton("later", self.tr("Later search (Alt+Right)"))
        self._later.clicked.connect(self.later_asked)
        for button in (self._later, self._earlier):
            self._header.lead_with(button)
        self._header.add(OverlayTools(overlay))
        self.bar = ResultsBar(hits, TileSlider(self.grid))
        self.steering = SteeringBar()
        self._notice = self._make_notice()
        self._busy = BusyLine()
        self._message = EmptyState("search")
        self._pages = QStackedLayout()
        self._pages.addWidget(self.grid)
        self._pages.addWidget(self._message)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header)
        column.addWidget(self._busy)
        column.addWidget(self.bar)
        column.addWidget(self.steering)
        column.addWidget(self._notice)
        column.addLayout(self._pages, stretch=1)
        hits.counted.connect(self._on_counted)

    @property
    def header(self) -> Header:
        """How many hits there are, and how they were found."""
        return self._header

    def show_steering(self, steering: Steering) -> None:
        """The photos that steer the search: as chips, and marked among the hits."""
        self.steering.show_steering(steering)
        self._tiles.set_said(steering.liked_ids, steering.disliked_ids)
        self.grid.viewport().update()

    def show_history(self, *, earlier: bool, later: bool) -> None:
        """Whether there are searches to go back and forward to."""
        self._earlier.setEnabled(earlier)
        self._later.setEnabled(later)

    def current_hit(self) -> Hit | None:
        """The hit that is selected."""
        return self._hits.hit(self.grid.currentIndex().row())

    def show_searching(self, *, loading: bool) -> None:
        """A search is on its way; ``loading``: it waits for the engine."""
        if loading:
            text = self.tr("The network is being loaded. This happens once after a start.")
        else:
            text = self.tr("Looking through the library.")
        if self._hits.rowCount() == 0 or loading:
            self._tell("search", self.tr("Searching…"), text)
        self._header.say(self.tr("Searching…"), "")
        self._busy.set_busy(True)
        self._notice.hide()

    def show_answer(self, answer: SearchAnswer) -> None:
        """Show what was found."""
        self._answer = answer
        self._busy.set_busy(False)
        self._hits.show(answer)
        if not answer.hits:
            self._header.say(self.tr("No hits"))
            self._tell(
                "search",
                self.tr("No other photos to compare with"),
                self.tr("The library holds no photo but this one. Add a folder, then search."),
            )
            return
        self.grid.setCurrentIndex(self._hits.index(0))
        self.grid.setFocus()

    @Slot()
    def _on_counted(self) -> None:
        """Draw the engine's line between the likely hits and the rest."""
        likely = self._hits.likely
        self._tiles.set_likely(likely)
        self.grid.viewport().update()
        if self._answer is None or not self._hits.total:
            return
        cutoff = self._answer.cutoff
        self._notice.setVisible(cutoff is not None and not cutoff.good)
        self._header.say(self._title(likely), self._facts(self._answer))
        if self._hits.rowCount():
            self._pages.setCurrentIndex(_GRID)
        else:
            self._tell(
                "search",
                self.tr("No hit reaches this score"),
                self.tr("Move the slider to the left to see more."),
            )

    def _title(self, likely: int | None) -> str:
        if likely is None:
            return self.tr("Hits")
        if self._answer is not None and self._answer.cutoff and not self._answer.cutoff.good:
            return self.tr("No good match")
        if likely == 1:
            return self.tr("1 likely hit")
        if likely == self._hits.rowCount() and not self._hits.complete:
            return self.tr("{n} likely hits so far").format(n=f"{likely:,}")
        return self.tr("{n} likely hits").format(n=f"{likely:,}")

    def _facts(self, answer: SearchAnswer) -> str:
        how = (
            self.tr("regions merged to fit the box")
            if answer.method == "qam"
            else self.tr("whole photos compared")
        )
        total = self.tr("{n} in all").format(n=f"{self._hits.total:,}")
        took = self.tr("{n} ms").format(n=f"{answer.timings_ms.total:,.0f}")
        return " · ".join((total, how, took))

    def show_failure(self, words: Words) -> None:
        """Say why nothing was found."""
        self._answer = None
        self._hits.show(None)
        self._notice.hide()
        self._header.say(self.tr("No hits"))
        self._busy.set_busy(False)
        self._message.say_words(words, drawing="warning")
        self._pages.setCurrentIndex(_MESSAGE)

    def show_row(self, row: int) -> None:
        """Select a row and bring it into sight."""
        index = self._hits.index(row)
        self.grid.setCurrentIndex(index)
        self.grid.scrollTo(index)
        self.grid.setFocus()

    def _tell(self, drawing: str, title: str, text: str) -> None:
        self._message.say(title, text, drawing=drawing)
        self._pages.setCurrentIndex(_MESSAGE)

    def _make_notice(self) -> QFrame:
        notice = QFrame()
        notice.setProperty("role", "notice")
        row = QHBoxLayout(notice)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        row.addWidget(IconLabel("info"), alignment=Qt.AlignmentFlag.AlignTop)
        text = self.tr(
            "No good match. These photos come nearest; a tighter box round the thing may help."
        )
        row.addWidget(label(text, wrap=True), stretch=1)
        notice.hide()
        return notice

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        self.hit_opened.emit(index.row())

    @Slot(QPoint)
    def _on_menu_asked(self, at: QPoint) -> None:
        index = self.grid.indexAt(at)
        hit = index.data(Qt.ItemDataRole.UserRole)
        if not isinstance(hit, Hit):
            return
        row = index.row()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Open")).triggered.connect(lambda: self.hit_opened.emit(row))
        search = menu.addAction(self.tr("Search with this photo"))
        search.triggered.connect(lambda: self.query_asked.emit(hit))
        menu.addSeparator()
        like = menu.addAction(self.tr("More like this"))
        like.triggered.connect(lambda: self.steered.emit(hit, Steer.LIKE))
        dislike = menu.addAction(self.tr("Not this"))
        dislike.triggered.connect(lambda: self.steered.emit(hit, Steer.DISLIKE))
        menu.addSeparator()
        add_photo_actions(menu, hit.photo.path)
        menu.popup(self.grid.viewport().mapToGlobal(at))
