"""Field reports 24 and 28 in the whole window: a score to cut at, and hits without an end that go
out into files."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.views.main_window import MainWindow
from engine.errors import ExportError, SettingsError
from engine.requests import Cutoff, ExportRequest, MoreHitsRequest
from tests.app.views.conftest import OpenWindow
from tests.app.views.driving import LEFT, open_first, search_in, texts
from tests.app.views.searches import BOX, asked, idle, searched
from tests.fakes.scripted_engine import hit, library, picture

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
