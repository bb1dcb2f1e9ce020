"""Field reports 24, 28 and 33 in the whole window: a score to cut at, hits without an end and out
into files, and a search that can be steered and gone back in."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.views.main_window import MainWindow
from app.widgets.steer_buttons import Steer, button_rects
from engine.errors import ExportError, SettingsError
from engine.requests import Cutoff, ExportRequest, MoreHitsRequest, SearchRequest
from engine.types import Box, Picture
from tests.app.views.conftest import OpenWindow
from tests.app.views.driving import LEFT, open_first, search_in, texts
from tests.fakes.scripted_engine import ScriptedEngine, hit, library, picture

BOX = Box(10, 10, 100, 100)


def searched(qtbot: QtBot, open_window: OpenWindow, engine: ScriptedEngine) -> MainWindow:
    """A window with the hits of a box."""
    window = open_window(engine)
    open_first(qtbot, window)
    search_in(qtbot, window, BOX)
    return window


def asked(engine: ScriptedEngine) -> list[SearchRequest]:
    """The searches so far."""
    return [one for one in engine.requests(SearchRequest) if isinstance(one, SearchRequest)]


def idle(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until nothing is on its way."""
    qtbot.waitUntil(lambda: not window._calls.host.jobs)


def chips(window: MainWindow) -> list[QPushButton]:
    bar = window.search.results.steering
    return [part for part in bar.findChildren(QPushButton) if part.isVisible()]


# --- 24: a score, a cut-off, a slider, "no good match" ---


def test_report_24_the_engines_cutoff_divides_the_hits(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(300, hits=250)
    engine.cutoff = Cutoff(engine.hits[6].score, good=True)
    window = searched(qtbot, open_window, engine)
    assert window.search.hits.likely == 7
    assert "7 likely hits" in texts(window.search.results)
    assert "250 in all" in texts(window.search.results)
    assert "No good match" not in texts(window.search.results)


def test_report_24_likely_hits_end_where_they_first_fall_below(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(40)
    # Below the re-ranked ones come others by another score, which may be higher.
    engine.hits = [hit(1, 0.8), hit(2, 0.6), hit(3, 0.75), hit(4, 0.7)]
    engine.cutoff = Cutoff(0.7, good=True)
    window = searched(qtbot, open_window, engine)
    assert "1 likely hit\n" in texts(window.search.results)
    window.search.hits.set_min_score(0.65)
    assert [window.search.hits.hit(row).photo.id for row in range(3)] == [1, 3, 4]  # type: ignore[union-attr]
    assert window.search.hits.likely == 1


def test_report_24_without_a_cutoff_nothing_is_claimed(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    window = searched(qtbot, open_window, library(5, hits=4))
    assert window.search.hits.likely is None
    assert window.search.results.header.title == "Hits"


def test_report_24_the_slider_hides_what_scores_less(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(100, hits=100)  # 0.900, 0.899, ... 0.801
    window = searched(qtbot, open_window, engine)
    bar, grid, hits = window.search.results.bar, window.search.results.grid, window.search.hits
    assert (bar.slider.value(), hits.min_score, bar.text) == (0, None, "all shown")
    window.search.results.show_row(4)
    QTest.keyClick(bar.slider, Qt.Key.Key_End)
    for _ in range(14):
        QTest.keyClick(bar.slider, Qt.Key.Key_Left)
    assert hits.min_score == 0.86
    assert hits.rowCount() == sum(one.score >= 0.86 for one in engine.hits)
    assert bar.text == f"{hits.rowCount()} of 100"
    bottom = grid.visualRect(hits.index(hits.rowCount() - 1)).bottom() + grid.verticalOffset()
    end = grid.verticalScrollBar().maximum() + grid.viewport().height()
    assert bottom < max(end, grid.viewport().height()) < bottom + 50
    assert "≥ 0.86" in texts(bar)
    # All of it without a search, and what stays keeps its selection.
    assert len(asked(engine)) == 1
    assert grid.currentIndex().row() == -1 or grid.currentIndex().row() == 4
    QTest.keyClick(bar.slider, Qt.Key.Key_Home)
    assert hits.rowCount() == 100
    assert "any" in texts(bar)


def test_report_24_a_lower_limit_keeps_the_selected_hit(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    window = searched(qtbot, open_window, library(100, hits=100))
    window.search.results.show_row(4)
    bar = window.search.results.grid.verticalScrollBar()
    before = bar.maximum()
    for value in (89, 85, 0):
        window.search.results.bar.slider.setValue(value)
        selected = window.search.results.current_hit()
        assert selected is not None
        assert selected.photo.id == 5
        assert (bar.maximum() == before) is (value == 0)  # no further than the last tile


def test_report_24_a_limit_above_all_says_so(qtbot: QtBot, open_window: OpenWindow) -> None:
    window = searched(qtbot, open_window, library(100, hits=100))
    window.search.results.bar.slider.setValue(99)
    assert "No hit reaches this score" in texts(window.search.results)
    assert window.search.results.bar.text == "0 of 100"
    window.search.results.bar.slider.setValue(0)
    assert "No hit reaches this score" not in texts(window.search.results)
    assert window.search.results.grid.isVisible()


def test_report_24_another_picture_begins_without_a_limit(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    window = searched(qtbot, open_window, library(100, hits=100))
    window.search.results.bar.slider.setValue(85)
    window.open_query(picture())
    assert window.search.hits.min_score is None
    assert window.search.results.bar.slider.value() == 0


# --- 28: endless hits, export ---


def test_report_28_hits_go_on_as_one_scrolls(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(1000, hits=700)
    window = searched(qtbot, open_window, engine)
    hits, grid = window.search.hits, window.search.results.grid
    assert hits.rowCount() == 200
    assert "700 in all" in texts(window.search.results)
    idle(qtbot, window)
    assert engine.requests(MoreHitsRequest) == []
    window.search.results.show_row(150)
    offset = grid.verticalOffset()
    resets: list[int] = []
    hits.modelReset.connect(lambda: resets.append(1))
    qtbot.waitUntil(lambda: hits.rowCount() == 400)
    assert grid.currentIndex().row() == 150
    assert grid.verticalOffset() == offset
    for rows in (400, 600):
        qtbot.waitUntil(lambda rows=rows: hits.rowCount() >= rows)  # type: ignore[misc]
        grid.verticalScrollBar().setValue(grid.verticalScrollBar().maximum())
    qtbot.waitUntil(lambda: hits.rowCount() == 700)
    grid.verticalScrollBar().setValue(grid.verticalScrollBar().maximum())
    idle(qtbot, window)
    assert resets == []
    pages = engine.requests(MoreHitsRequest)
    assert [one.offset for one in pages if isinstance(one, MoreHitsRequest)] == [200, 400, 600]
    assert [hits.hit(row).photo.id for row in range(700)] == list(range(1, 701))  # type: ignore[union-attr]


def test_report_28_stepping_through_single_hits_has_no_end_either(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    window = searched(qtbot, open_window, library(1000, hits=300))
    window.search.results.hit_opened.emit(199)
    assert "Hit 200 of 300" in texts(window.search.one_hit)
    assert not window.search.one_hit._next.isEnabled()
    qtbot.waitUntil(lambda: window.search.hits.rowCount() == 300)
    assert window.search.one_hit._next.isEnabled()
    QTest.keyClick(window.search.one_hit.view, Qt.Key.Key_Right)
    assert window.search.one_hit.row == 200


def test_report_28_an_overtaken_page_is_dropped(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(1000, hits=700)
    window = searched(qtbot, open_window, engine)
    gate = engine.hold("more")
    window.search.results.show_row(199)
    qtbot.waitUntil(lambda: len(engine.requests(MoreHitsRequest)) == 1)
    engine.hits = [hit(n, 0.5) for n in range(2001, 2011)]
    window.search.search()
    gate.set()
    qtbot.waitUntil(lambda: window.search.hits.total == 10)
    idle(qtbot, window)
    assert window.search.hits.rowCount() == 10


def test_report_28_a_page_is_not_waited_for_once_its_hits_are_gone(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(1000, hits=700)
    window = searched(qtbot, open_window, engine)

    def pages() -> list[object]:
        return [job for job in window._calls.host.jobs if job.group == "more"]

    engine.hold("more")
    window.search.results.show_row(199)
    qtbot.waitUntil(lambda: len(pages()) == 1)
    gate = engine.hold("search")
    window.search.search()
    qtbot.waitUntil(lambda: pages() == [])
    gate.set()
    idle(qtbot, window)
    window.search.results.show_row(199)
    qtbot.waitUntil(lambda: len(pages()) == 1)
    window.open_query(picture())
    qtbot.waitUntil(lambda: pages() == [])


def test_report_28_a_page_that_fails_is_told_once(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(1000, hits=700)
    engine.errors["more"] = SettingsError("this search is too long ago: search again")
    window = searched(qtbot, open_window, engine)
    window.search.results.show_row(199)
    qtbot.waitUntil(window.banner.isVisible)
    assert "This search is too long ago" in texts(window.banner)
    window.search.results.show_row(190)
    idle(qtbot, window)
    assert len(engine.requests(MoreHitsRequest)) == 1


def test_report_28_a_limit_is_not_looked_for_below_the_first_page_without(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(3000, hits=900)  # 0.900 ... 0.001
    window = searched(qtbot, open_window, engine)
    window.search.results.bar.slider.setValue(60)
    assert "more than 200 of 900" in texts(window.search.results.bar)
    window.search.results.show_row(199)
    qtbot.waitUntil(lambda: window.search.hits.rowCount() == 301)
    window.search.results.show_row(300)
    qtbot.waitUntil(lambda: window.search.results.bar.text == "301 of 900")
    idle(qtbot, window)
    assert len(engine.requests(MoreHitsRequest)) == 2


def save(qtbot: QtBot, window: MainWindow, target: Path, *, kind: str = "Table") -> None:
    """Fill in the file dialog that is open."""
    dialogs = [d for d in window.findChildren(QFileDialog) if d.isVisible()]
    assert len(dialogs) == 1
    (words,) = [name for name in dialogs[0].nameFilters() if name.startswith(kind)]
    dialogs[0].selectNameFilter(words)
    dialogs[0].filterSelected.emit(words)
    dialogs[0].setDirectory(str(target.parent))
    dialogs[0].selectFile(target.name)
    dialogs[0].accept()


@pytest.mark.parametrize(
    ("kind", "suffix"), [("Table", ".csv"), ("JSON", ".json"), ("List", ".txt")]
)
def test_report_28_all_hits_above_the_score_are_exported(
    qtbot: QtBot, open_window: OpenWindow, tmp_path: Path, kind: str, suffix: str
) -> None:
    engine = library(3000, hits=800)
    window = searched(qtbot, open_window, engine)
    window.search.results.bar.slider.setValue(50)
    QTest.mouseClick(window.search.results.bar.export_button, LEFT)
    save(qtbot, window, tmp_path / "found", kind=kind)  # the suffix comes by itself
    target = tmp_path / f"found{suffix}"
    qtbot.waitUntil(target.exists)
    wanted = sum(one.score >= 0.5 for one in engine.hits)
    qtbot.waitUntil(lambda: "written to" in window.search.results.bar.text)
    assert window.search.results.bar.text == f"{wanted} hits written to found{suffix}"
    if suffix == ".json":
        assert len(json.loads(target.read_text())["hits"]) == wanted
    else:
        assert len(target.read_text().splitlines()) == wanted + (suffix == ".csv")
    assert window.search.hits.rowCount() == 200  # and not one of them had to be loaded


def test_report_28_the_menu_exports_too_once_there_are_hits(
    qtbot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    engine = library(40, hits=5)
    window = open_window(engine)
    (action,) = [a for a in window.menu.actions() if a.text().startswith("Export")]
    assert not action.isEnabled()
    open_first(qtbot, window)
    search_in(qtbot, window, BOX)
    assert action.isEnabled()
    action.trigger()
    save(qtbot, window, tmp_path / "found.csv")
    qtbot.waitUntil((tmp_path / "found.csv").exists)
    (request,) = engine.requests(ExportRequest)
    assert request == ExportRequest("token", tmp_path / "found.csv", None)
    idle(qtbot, window)


def test_report_28_an_export_that_fails_says_why(
    qtbot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    engine = library(40, hits=5)
    engine.errors["export"] = ExportError("found.csv cannot be written: the disk is full")
    window = searched(qtbot, open_window, engine)
    window.menu.export_asked.emit()
    save(qtbot, window, tmp_path / "found.csv")
    qtbot.waitUntil(window.banner.isVisible)
    assert "The hits could not be exported" in texts(window.banner)
    assert "the disk is full" in texts(window.banner)


# --- 33: steering, history, back ---


def test_report_33_more_like_this_and_not_this_by_keys(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    window.activateWindow()
    grid = window.search.results.grid
    qtbot.waitUntil(grid.hasFocus)
    window.search.results.show_row(4)
    QTest.keyClick(grid, Qt.Key.Key_M)
    qtbot.waitUntil(lambda: window.search.hits.hit(0) == engine.hits[4])
    assert (asked(engine)[-1].liked, asked(engine)[-1].disliked) == ((5,), ())
    assert asked(engine)[-1].box == BOX
    window.search.results.show_row(1)  # photo 1
    QTest.keyClick(grid, Qt.Key.Key_N)
    qtbot.waitUntil(lambda: window.search.hits.hit(11) == engine.hits[0])
    assert (asked(engine)[-1].liked, asked(engine)[-1].disliked) == ((5,), (1,))
    assert [chip.accessibleName() for chip in chips(window)] == [
        "More like photo_000005.jpg; take it away",
        "Not photo_000001.jpg; take it away",
    ]


def test_report_33_a_chip_takes_its_photo_away(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    window.search.results.steered.emit(engine.hits[4], Steer.LIKE)
    window.search.results.steered.emit(engine.hits[5], Steer.DISLIKE)
    qtbot.waitUntil(lambda: len(chips(window)) == 2)
    QTest.mouseClick(chips(window)[0], LEFT)
    idle(qtbot, window)
    assert (asked(engine)[-1].liked, asked(engine)[-1].disliked) == ((), (6,))
    QTest.mouseClick(chips(window)[0], LEFT)
    assert chips(window) == []
    assert not window.search.results.steering.isVisible()


def test_report_33_the_other_word_replaces_the_first_and_the_same_takes_it_back(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    for steer in (Steer.LIKE, Steer.DISLIKE, Steer.DISLIKE):
        window.search.results.steered.emit(engine.hits[4], steer)
        idle(qtbot, window)
    said = [(one.liked, one.disliked) for one in asked(engine)]
    assert said == [((), ()), ((5,), ()), ((), (5,)), ((), ())]


def test_report_33_buttons_on_the_tile(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    idle(qtbot, window)
    grid = window.search.results.grid
    area = window.search.results._tiles.image_area(grid.visualRect(grid.model().index(2, 0)))
    rects = button_rects(area)
    QTest.mouseClick(grid.viewport(), LEFT, pos=rects[Steer.LIKE].center().toPoint())
    qtbot.waitUntil(lambda: asked(engine)[-1].liked == (3,))
    idle(qtbot, window)
    opened: list[int] = []
    window.search.results.hit_opened.connect(opened.append)
    button = rects[Steer.DISLIKE].center().toPoint()
    QTest.mouseClick(grid.viewport(), LEFT, pos=button)
    QTest.mouseDClick(grid.viewport(), LEFT, pos=button)
    assert opened == []  # a button is no way into the hit
    assert area.contains(rects[Steer.LIKE].toRect())
    assert area.contains(rects[Steer.DISLIKE].toRect())
    idle(qtbot, window)
    before = len(asked(engine))
    QTest.mouseClick(grid.viewport(), LEFT, pos=area.center())
    idle(qtbot, window)
    assert len(asked(engine)) == before


def test_report_33_the_open_hit_steers_too(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    window.search.results.hit_opened.emit(6)
    QTest.mouseClick(window.search.one_hit._like, LEFT)
    qtbot.waitUntil(lambda: asked(engine)[-1].liked == (7,))
    idle(qtbot, window)
    assert window.search.results.isVisible()
    window.search.results.hit_opened.emit(0)
    assert window.search.one_hit._like.isChecked()
    window.activateWindow()
    qtbot.waitUntil(window.search.one_hit.view.hasFocus)
    QTest.keyClick(window.search.one_hit.view, Qt.Key.Key_N)
    qtbot.waitUntil(lambda: asked(engine)[-1].disliked == (7,))
    idle(qtbot, window)


def test_report_33_the_context_menu_steers(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    grid = window.search.results.grid
    at = grid.visualRect(grid.model().index(3, 0)).center()
    grid.customContextMenuRequested.emit(QPoint(at))
    (menu,) = [m for m in window.search.results.findChildren(QMenu) if m.isVisible()]
    (action,) = [a for a in menu.actions() if a.text() == "Not this"]
    action.trigger()
    menu.close()
    qtbot.waitUntil(lambda: asked(engine)[-1].disliked == (4,))
    idle(qtbot, window)


def test_report_33_another_box_is_not_steered_by_the_old_photos(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    window.search.results.steered.emit(engine.hits[4], Steer.LIKE)
    idle(qtbot, window)
    window.search.search()
    idle(qtbot, window)
    assert asked(engine)[-1].liked == (5,)  # the same query, asked again
    window.search.query.crop.set_box(Box(50, 50, 60, 60))
    window.search.search()
    idle(qtbot, window)
    assert asked(engine)[-1].liked == ()
    assert chips(window) == []


def test_report_33_back_and_forward_through_the_searches(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    view = window.search
    assert not view.results._earlier.isEnabled()
    view.results.steered.emit(engine.hits[4], Steer.LIKE)
    idle(qtbot, window)
    window.open_query(picture())
    qtbot.waitUntil(lambda: view.query.crop.photo_size is not None)
    search_in(qtbot, window)
    idle(qtbot, window)
    window.activateWindow()
    qtbot.waitUntil(view.results.grid.hasFocus)
    assert view.results._earlier.isEnabled()
    assert not view.results._later.isEnabled()

    QTest.keyClick(view.results.grid, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    idle(qtbot, window)
    assert asked(engine)[-1].picture == Picture(path=Path("/album/photo_000001.jpg"))
    assert (asked(engine)[-1].box, asked(engine)[-1].liked) == (BOX, (5,))
    assert view.query.header.title == "photo_000001.jpg"
    assert view.query.crop.box == BOX
    assert len(chips(window)) == 1
    assert view.results.grid.hasFocus()

    QTest.mouseClick(view.results._earlier, LEFT)
    idle(qtbot, window)
    assert (asked(engine)[-1].box, asked(engine)[-1].liked) == (BOX, ())
    assert not view.results._earlier.isEnabled()

    for _ in range(2):
        QTest.keyClick(view.results.grid, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
        idle(qtbot, window)
    assert asked(engine)[-1].picture == picture()
    assert asked(engine)[-1].box is None
    assert not view.results._later.isEnabled()
    assert view.hits.rowCount() == 12


def test_report_33_a_photo_that_comes_after_its_hits_leaves_them_the_keys(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    window.open_query(picture())
    qtbot.waitUntil(lambda: window.search.query.crop.photo_size is not None)
    search_in(qtbot, window)
    idle(qtbot, window)
    gate = engine.hold("preview")
    window.activateWindow()
    window.search.go_to_earlier()
    qtbot.waitUntil(lambda: window.search.hits.rowCount() == 12)
    gate.set()
    qtbot.waitUntil(lambda: window.search.query.crop.box == BOX)
    assert window.search.results.grid.hasFocus()


def test_report_33_quick_steps_end_at_the_newest(qtbot: QtBot, open_window: OpenWindow) -> None:
    engine = library(40, hits=12)
    window = searched(qtbot, open_window, engine)
    gate = engine.hold("search")
    for n in (4, 5, 6):
        window.search.results.steered.emit(engine.hits[n], Steer.LIKE)
    window.search.go_to_earlier()
    gate.set()
    idle(qtbot, window)
    assert asked(engine)[-1].liked == (5, 6)
    assert [window.search.hits.hit(row).photo.id for row in range(3)] == [5, 6, 1]  # type: ignore[union-attr]
