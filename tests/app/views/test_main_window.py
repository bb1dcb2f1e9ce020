"""The window as a person uses it: mouse, keys and drops in, what is seen out."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.bridge.errors import Words
from app.views.main_window import MainWindow
from app.widgets.assets import SAMPLE_ALBUM
from app.widgets.theme import Theme, ThemeChoice
from engine.errors import (
    LibraryError,
    LibraryInUseError,
    NetworkError,
    NothingIndexedError,
    PhotoUnreadableError,
)
from engine.requests import (
    FocusRequest,
    IndexReport,
    IndexRequest,
    PhotosRequest,
    SearchRequest,
    WarmRequest,
)
from engine.types import Box, Failure, Folder, PhotoState, Picture
from tests.app.views.conftest import OpenWindow
from tests.fakes.painted import paint
from tests.fakes.scripted_engine import PHOTO_SIZE, ScriptedEngine, hit, library, offline, picture

MANY = 100_000
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


# --- first start ---


def test_the_first_start_offers_two_ways(
    qtbot: QtBot, open_window: OpenWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("app.views.main_window.SAMPLE_ALBUM", tmp_path)
    engine = ScriptedEngine()
    window = open_window(engine)
    qtbot.waitUntil(window.welcome.isVisible)
    seen = texts(window.welcome)
    assert "Choose a folder…" in seen
    assert "Nothing leaves this computer" in seen
    press(window.welcome, "Try the sample album")
    qtbot.waitUntil(lambda: window.photos.rowCount() == 3)
    assert engine.requests(IndexRequest) == [IndexRequest(folders=(tmp_path,))]
    assert window.library.isVisible()


def test_the_sample_album_is_looked_for_in_the_tree() -> None:
    assert SAMPLE_ALBUM.parent.name == "assets"
    assert (SAMPLE_ALBUM.parents[1] / "pyproject.toml").exists()


def test_without_a_sample_album_only_one_way_is_offered(
    qtbot: QtBot, open_window: OpenWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("app.views.main_window.SAMPLE_ALBUM", tmp_path / "none")
    window = open_window(ScriptedEngine())
    qtbot.waitUntil(window.welcome.isVisible)
    assert "Try the sample album" not in texts(window.welcome)


# --- library ---


def test_the_library_shows_photos_and_folders(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(1234)
    engine.folders.append(Folder(2, Path("/media/nas/Old"), False, 99))
    window = open_window(engine)
    qtbot.waitUntil(lambda: window.photos.rowCount() == 1234)
    qtbot.waitUntil(lambda: "1,234" in texts(window.sidebar))
    seen = texts(window.sidebar)
    assert "album" in seen
    assert "Old" in seen
    assert "offline" in seen
    assert "Problems" not in seen


def test_report_39_a_hundred_thousand_photos_are_paged(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(MANY)
    window = open_window(engine)
    qtbot.waitUntil(lambda: window.photos.rowCount() == MANY)
    window.library.grid.scrollToBottom()
    qtbot.waitUntil(lambda: window.photos.photo(MANY - 1) is not None)
    assert len(engine.requests(PhotosRequest)) < 8


def test_the_selected_photo_stays_selected_while_the_library_grows(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(20)
    window = open_window(engine)
    qtbot.waitUntil(lambda: window.photos.rowCount() == 20)
    window.library.grid.setCurrentIndex(window.photos.index(7))
    window._index(Path("/more"))
    qtbot.waitUntil(lambda: window.photos.rowCount() == 23)
    assert window.library.grid.currentIndex().row() == 7


def test_problems_are_listed_with_reasons_and_can_be_tried_again(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(5)
    engine.failed = [Failure(Path("/album/torn.jpg"), "the file ends before the picture does")]
    window = open_window(engine)
    qtbot.waitUntil(lambda: "Problems" in texts(window.sidebar))
    press(window.sidebar, "Problems")
    assert window.problem_list.isVisible()
    assert window.problems.failure(0) == engine.failed[0]
    press(window.problem_list, "Try all again")
    qtbot.waitUntil(lambda: engine.requests(IndexRequest) != [])
    assert engine.requests(IndexRequest) == [IndexRequest(retry_failed=True)]


def test_a_chosen_folder_is_added_and_told(
    qtbot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    engine = library(5)
    window = open_window(engine)
    qtbot.waitUntil(window.library.isVisible)
    press(window.sidebar, "Add folder…")
    dialog = window.findChild(QFileDialog)
    assert dialog is not None
    dialog.selectFile(str(tmp_path))
    with qtbot.waitSignal(window.folder_chosen) as told:
        dialog.accept()
    assert told.args == [tmp_path]
    qtbot.waitUntil(lambda: engine.requests(IndexRequest) == [IndexRequest(folders=(tmp_path,))])


# --- from a photo to a hit ---


def test_a_box_is_searched_for_by_keyboard_alone(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=12)
    window = open_window(engine)
    open_first(qtbot, window)
    crop = window.search.query.crop
    assert "Find similar photos" in texts(window.search)
    qtbot.waitUntil(crop.hasFocus)
    QTest.keyClick(crop, Qt.Key.Key_Space)
    assert "Find this thing" in texts(window.search)
    QTest.keyClick(crop, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.search.hits.rowCount() == 12)
    request = engine.requests(SearchRequest)[0]
    assert isinstance(request, SearchRequest)
    assert request.box == Box(100, 75, 200, 150)
    assert request.picture == Picture(path=Path("/album/photo_000001.jpg"))
    grid = window.search.results.grid
    qtbot.waitUntil(grid.hasFocus)
    QTest.keyClick(grid, Qt.Key.Key_Right)
    QTest.keyClick(grid, Qt.Key.Key_Return)
    assert window.search.one_hit.isVisible()
    assert window.search.one_hit.row == 1
    QTest.keyClick(window.search.one_hit.view, Qt.Key.Key_Right)
    assert window.search.one_hit.row == 2
    for shown in ("one_hit", "results", "query"):
        assert getattr(window.search, shown).isVisible()
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Escape)
    # The box is still there: Escape takes it away before it leads out.
    QTest.keyClick(crop, Qt.Key.Key_Escape)
    qtbot.waitUntil(window.library.isVisible)
    assert window.library.grid.hasFocus()


def test_hits_are_shown_best_first_with_their_way(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=12)
    window = open_window(engine)
    open_first(qtbot, window)
    search_in(qtbot, window, Box(10, 10, 100, 100))
    assert "12 hits" in texts(window.search.results)
    assert "regions merged" in texts(window.search.results)
    assert "No good match" not in texts(window.search.results)


def test_visible_hits_get_exact_maps(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(300, hits=200)
    window = open_window(engine)
    open_first(qtbot, window)
    search_in(qtbot, window, Box(10, 10, 100, 100))

    def exact() -> list[int]:
        shown = (window.search.hits.hit(row) for row in range(200))
        return [h.photo.id for h in shown if h and h.focus and h.focus.exact]

    qtbot.waitUntil(lambda: len(exact()) > 0 and not window._calls.host.jobs)
    seen = window.search.results.grid.visible_rows()
    assert exact() == [row + 1 for row in seen]
    assert len(engine.requests(FocusRequest)) == len(seen) < 60


def test_no_good_match_is_said_and_the_nearest_are_shown(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(40)
    engine.hits = [hit(n, 0.55 - n / 1000) for n in range(1, 31)]
    window = open_window(engine)
    open_first(qtbot, window)
    search_in(qtbot, window, Box(10, 10, 100, 100))
    assert "No good match" in texts(window.search.results)
    assert window.search.hits.rowCount() == 30


def test_a_library_of_one_photo_has_nothing_to_compare_with(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    window = open_window(library(1))
    open_first(qtbot, window)
    QTest.keyClick(window.search.query.crop, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "No other photos" in texts(window.search.results))


def test_a_failed_search_says_why_and_what_to_do(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(3)
    engine.errors["search"] = NothingIndexedError("the library holds no photo for this network")
    window = open_window(engine)
    open_first(qtbot, window)
    QTest.keyClick(window.search.query.crop, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "nothing to search in" in texts(window.search.results))
    seen = texts(window.search.results)
    assert "The library holds no photo for this network" in seen
    assert "Add a folder" in seen


def test_the_newest_search_wins(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=5)
    gate = engine.hold("search")
    window = open_window(engine)
    open_first(qtbot, window)
    window.search.query.crop.set_box(Box(0, 0, 50, 50))
    window.search.search()
    qtbot.waitUntil(lambda: len(engine.requests(SearchRequest)) == 1)
    window.search.query.crop.set_box(Box(100, 100, 50, 50))
    window.search.search()
    gate.set()
    qtbot.waitUntil(lambda: window.search.hits.rowCount() == 5)
    last = engine.requests(SearchRequest)[-1]
    assert isinstance(last, SearchRequest)
    assert last.box == Box(100, 100, 50, 50)
    assert "Searching" not in texts(window.search)


def test_report_27_a_search_before_the_engine_is_ready_waits_and_says_so(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(40, hits=5)
    warm = engine.hold("warm")
    window = open_window(engine)
    assert "loading" in window.badge.text
    open_first(qtbot, window)
    QTest.keyClick(window.search.query.crop, Qt.Key.Key_Return)
    assert "The network is being loaded" in texts(window.search.results)
    warm.set()
    qtbot.waitUntil(lambda: window.search.hits.rowCount() == 5)
    assert window.badge.text == "lite0 on CPU"
    assert len(engine.requests(WarmRequest)) == 1


def test_an_offline_hit_can_be_opened(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40)
    engine.hits = [offline(hit(3, 0.8))]
    window = open_window(engine)
    open_first(qtbot, window)
    search_in(qtbot, window, Box(10, 10, 100, 100))
    QTest.keyClick(window.search.results.grid, Qt.Key.Key_Return)
    assert "Offline: the stored footprint is shown" in texts(window.search.one_hit)


def test_an_offline_photo_says_why_it_cannot_be_opened(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(1)
    engine.errors["preview"] = PhotoUnreadableError("the folder is offline")
    window = open_window(engine)
    qtbot.waitUntil(lambda: window.photos.photo(0) is not None)
    QTest.keyClick(window.library.grid, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "The folder is offline" in texts(window.search))
    QTest.keyClick(window.search, Qt.Key.Key_Escape)
    assert window.library.isVisible()


def test_a_hit_can_become_the_query(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=5)
    window = open_window(engine)
    open_first(qtbot, window)
    search_in(qtbot, window, Box(10, 10, 100, 100))
    window.search.results.show_row(3)
    QTest.keyClick(window.search.results.grid, Qt.Key.Key_Return)
    press(window.search.one_hit, "Search with this photo")
    qtbot.waitUntil(lambda: window.search.query.header.title == "photo_000004.jpg")
    assert window.search.hits.rowCount() == 0
    assert window.search.query.crop.box is None


def test_focus_map_and_box_have_shortcuts(qtbot: QtBot, open_window: OpenWindow) -> None:
    window = open_window(library(40, hits=5))
    open_first(qtbot, window)
    search_in(qtbot, window, Box(10, 10, 100, 100))
    window.activateWindow()
    qtbot.waitUntil(window.search.results.grid.hasFocus)
    before = (window.overlay.focus, window.overlay.box)
    QTest.keyClick(window.search.results.grid, Qt.Key.Key_F)
    QTest.keyClick(window.search.results.grid, Qt.Key.Key_B)
    assert (window.overlay.focus, window.overlay.box) == (not before[0], not before[1])


# --- pictures from elsewhere ---


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


def test_report_40_a_dropped_file_becomes_the_query(
    qtbot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    window = open_window(library(5))
    file = paint(tmp_path / "elsewhere.jpg", 3)
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file))])
    drop(window, mime)
    qtbot.waitUntil(lambda: window.search.query.crop.photo_size == PHOTO_SIZE)
    assert window.search.query.header.title == "elsewhere.jpg"
    assert "Not added to the library" in window.search.query.header.facts


def test_report_25_a_dropped_picture_is_searched_with_and_not_added(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(5, hits=3)
    window = open_window(engine)
    mime = QMimeData()
    data = picture().data
    assert data is not None
    mime.setData("application/octet-stream", data)
    drop(window, mime)
    qtbot.waitUntil(lambda: window.search.query.crop.photo_size is not None)
    search_in(qtbot, window)
    assert engine.requests(IndexRequest) == []
    request = engine.requests(SearchRequest)[0]
    assert isinstance(request, SearchRequest)
    assert request.picture.data == data


def test_report_40_a_link_is_refused_in_the_window(qtbot: QtBot, open_window: OpenWindow) -> None:
    window = open_window(library(5))
    mime = QMimeData()
    mime.setUrls([QUrl("https://example.org/cat.jpg")])
    drop(window, mime)
    assert window.banner.isVisible()
    assert "never fetches" in texts(window.banner)


def test_a_dropped_folder_is_added(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    engine = library(5)
    window = open_window(engine)
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    drop(window, mime)
    qtbot.waitUntil(lambda: engine.requests(IndexRequest) != [])
    assert engine.requests(IndexRequest) == [IndexRequest(folders=(tmp_path,))]


def test_what_leaves_the_window_again_leaves_no_veil(qtbot: QtBot, open_window: OpenWindow) -> None:
    window = open_window(library(5))
    mime = QMimeData()
    mime.setText("hello")
    entered = QDragEnterEvent(
        QPointF(9, 9).toPoint(), Qt.DropAction.CopyAction, mime, LEFT, Qt.KeyboardModifier(0)
    )
    QApplication.sendEvent(window, entered)
    assert window.drops.overlay.isVisible()
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not window.drops.overlay.isVisible()


def test_a_picture_can_be_pasted(qtbot: QtBot, open_window: OpenWindow) -> None:
    window = open_window(library(5))
    mime = QMimeData()
    data = picture().data
    assert data is not None
    mime.setData("image/jpeg", data)
    QGuiApplication.clipboard().setMimeData(mime)
    window.menu.paste_asked.emit()
    qtbot.waitUntil(lambda: window.search.query.crop.photo_size is not None)
    QGuiApplication.clipboard().clear()


def test_a_query_from_the_command_line_opens_before_the_library_does(
    qtbot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    engine = library(5)
    gate = engine.hold("overview")
    window = open_window(engine)
    window.open_query(Picture(path=tmp_path / "given.jpg"))
    assert window.search.isVisible()
    gate.set()
    qtbot.waitUntil(lambda: window.photos.rowCount() == 5)
    assert window.search.isVisible()
    qtbot.waitUntil(lambda: window.search.query.crop.photo_size is not None)
    QTest.keyClick(window.search.query.crop, Qt.Key.Key_Escape)
    assert window.library.isVisible()


# --- indexing ---


def test_indexing_is_told_cancelled_and_gone_on_with(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(5)
    gate = engine.hold("index")
    window = open_window(engine)
    qtbot.waitUntil(window.library.isVisible)
    window._index(Path("/more"))
    qtbot.waitUntil(lambda: "1 of 3" in window.strip.text)
    press(window.strip, "Cancel")
    qtbot.waitUntil(lambda: "stopped" in window.strip.text)
    gate.set()
    press(window.strip, "Go on")
    qtbot.waitUntil(lambda: "3 photos indexed" in window.strip.text)
    assert engine.requests(IndexRequest)[-1] == IndexRequest()


def test_the_end_of_indexing_leads_to_the_problems(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(5)
    skipped = (Failure(Path("/more/locked"), "no permission"),)
    engine.report = IndexReport(9, 7, 1, 1, 0, 7, 83.0, skipped=skipped)
    engine.failed = [Failure(Path("/more/torn.jpg"), "the file is empty")]
    window = open_window(engine)
    qtbot.waitUntil(window.library.isVisible)
    window._index(Path("/more"))
    qtbot.waitUntil(lambda: "7 photos indexed in 1 min 23 s" in window.strip.text)
    assert "1 could not be read" in window.strip.text
    assert "1 skipped" in window.strip.text
    press(window.strip, "Show")
    assert window.problem_list.isVisible()
    qtbot.waitUntil(lambda: window.problems.rowCount() == 2)
    assert window.problems.failure(0) == skipped[0]


def test_two_runs_follow_each_other(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(5)
    gate = engine.hold("index")
    window = open_window(engine)
    qtbot.waitUntil(window.library.isVisible)
    window._index(Path("/one"))
    window._index(Path("/two"))
    gate.set()
    qtbot.waitUntil(lambda: len(engine.folders) == 3 and not window.indexing.running)
    assert "3 photos indexed" in window.strip.text


def test_photos_that_wait_are_offered_for_indexing(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(50)
    engine.pending = 12
    window = open_window(engine)
    qtbot.waitUntil(lambda: "12 photos are not indexed yet" in window.strip.text)
    press(window.strip, "Index them")
    qtbot.waitUntil(lambda: engine.requests(IndexRequest) == [IndexRequest()])


# --- errors ---


def test_errors_are_told_without_stopping_anybody(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(5)
    engine.errors["index"] = LibraryInUseError("process 4711 holds it")
    window = open_window(engine)
    qtbot.waitUntil(window.library.isVisible)
    window._index(Path("/more"))
    qtbot.waitUntil(window.banner.isVisible)
    seen = texts(window.banner)
    assert "Another Refocal" in seen
    assert "Process 4711 holds it" in seen
    assert QApplication.activeModalWidget() is None
    open_first(qtbot, window)


def test_a_library_that_cannot_be_opened_is_told(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(5)
    engine.errors["overview"] = LibraryError("the database is damaged")
    window = open_window(engine)
    qtbot.waitUntil(window.banner.isVisible)
    assert "The database is damaged" in texts(window.banner)
    assert "not available" in window.badge.text


def test_a_network_that_cannot_be_loaded_is_told(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(5)
    engine.errors["warm"] = NetworkError("its weights fail their checksum")
    window = open_window(engine)
    qtbot.waitUntil(window.banner.isVisible)
    assert "checksum" in texts(window.banner)
    qtbot.waitUntil(lambda: window.photos.rowCount() == 5)


def test_report_41_a_mistake_of_the_engine_becomes_words(
    qtbot: QtBot, open_window: OpenWindow, caplog: pytest.LogCaptureFixture
) -> None:
    engine = library(5)
    engine.errors["search"] = ZeroDivisionError("oh")  # type: ignore[assignment]
    window = open_window(engine)
    open_first(qtbot, window)
    QTest.keyClick(window.search.query.crop, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Refocal made a mistake" in texts(window.search.results))


def test_a_notice_of_the_host_is_shown(qtbot: QtBot, open_window: OpenWindow) -> None:
    window = open_window(library(5))
    window._calls.host.notify(Words("Reading only.", "another one writes", ""))
    qtbot.waitUntil(window.banner.isVisible)
    assert "Reading only." in texts(window.banner)


# --- looks ---


def test_the_theme_can_be_changed_from_the_menu(
    qtbot: QtBot, open_window: OpenWindow, theme: Theme
) -> None:
    window = open_window(library(5))
    dark = window.palette().window().color().lightness()
    window.menu.theme_chosen.emit(ThemeChoice.LIGHT)
    assert theme.choice is ThemeChoice.LIGHT
    assert window.palette().window().color().lightness() > dark


def test_everything_fits_a_small_window(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=12)
    window = open_window(engine)
    window.resize(900, 600)
    open_first(qtbot, window)
    search_in(qtbot, window, Box(10, 10, 100, 100))
    assert window.width() <= 900
    assert window.minimumSizeHint().width() <= 900


def test_every_button_has_a_name(qtbot: QtBot, open_window: OpenWindow) -> None:
    window = open_window(library(5))
    for button in window.findChildren(QPushButton):
        named = button.text() or button.accessibleName()
        internal = button.parent() is not None and button.isHidden()
        assert named or internal, button


def test_states_of_photos_are_shown(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(3)
    engine.photos_[1] = engine.photos_[1].__class__(
        2, Path("/album/a very long name " + "x" * 200 + ".jpg"), PhotoState.OFFLINE, PHOTO_SIZE
    )
    engine.photos_[2] = engine.photos_[2].__class__(
        -3, Path("/album/bad.jpg"), PhotoState.FAILED, reason="the file is empty"
    )
    window = open_window(engine)
    qtbot.waitUntil(lambda: window.photos.photo(2) is not None)
    window.library.grid.grab()
    tip = window.photos.index(2).data(Qt.ItemDataRole.ToolTipRole)
    assert "the file is empty" in tip
