"""Field report 33 in the whole window: a search that can be steered and gone back in."""

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.views.main_window import MainWindow
from app.widgets.steer_buttons import Steer, button_rects
from engine.types import Box, Picture
from tests.app.views.conftest import OpenWindow
from tests.app.views.driving import LEFT, search_in
from tests.app.views.searches import BOX, asked, idle, searched
from tests.fakes.scripted_engine import library, picture


def chips(window: MainWindow) -> list[QPushButton]:
    bar = window.search.results.steering
    return [part for part in bar.findChildren(QPushButton) if part.isVisible()]


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
