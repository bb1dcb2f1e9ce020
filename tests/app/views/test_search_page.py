"""From a photo to a hit, in the whole window over a scripted engine."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.errors import (
    NothingIndexedError,
    PhotoUnreadableError,
)
from engine.requests import (
    Cutoff,
    FocusRequest,
    SearchRequest,
    WarmRequest,
)
from engine.types import Box, Picture
from tests.app.views.conftest import OpenWindow
from tests.app.views.driving import open_first, press, search_in, texts
from tests.fakes.scripted_engine import hit, library, offline


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
    engine = library(40)
    engine.hits = [hit(1, 0.8), hit(2, 0.7), *(hit(n, 0.5) for n in range(3, 40))]
    engine.cutoff = Cutoff(0.7, good=True)
    window = open_window(engine)
    open_first(qtbot, window)
    search_in(qtbot, window, Box(10, 10, 100, 100))
    assert "2 likely hits" in texts(window.search.results)
    assert "39 in all" in texts(window.search.results)
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


def test_report_24_no_good_match_is_said_and_the_nearest_are_shown(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(40)
    engine.hits = [hit(n, 0.55 - n / 1000) for n in range(1, 31)]
    engine.cutoff = Cutoff(0.5, good=False)
    window = open_window(engine)
    open_first(qtbot, window)
    search_in(qtbot, window, Box(10, 10, 100, 100))
    assert "No good match" in texts(window.search.results)
    assert window.search.hits.rowCount() == 30
    assert window.search.hits.likely == 0


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
