"""The whole window over a scripted engine: what it tells, and how it looks."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.bridge.errors import Words
from app.widgets.theme import Theme, ThemeChoice
from engine.errors import (
    LibraryError,
    LibraryInUseError,
    NetworkError,
)
from engine.requests import IndexRequest
from engine.types import Box, PhotoState
from tests.app.views.conftest import OpenWindow
from tests.app.views.driving import open_first, search_in, texts
from tests.fakes.scripted_engine import PHOTO_SIZE, ScriptedEngine, library

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


def test_a_library_that_is_filled_from_elsewhere_is_shown(
    qtbot: QtBot, open_window: OpenWindow
) -> None:
    window = open_window(ScriptedEngine())
    qtbot.waitUntil(window.welcome.isVisible)
    # Not by a button of the first page: by a drop, a second process, or whoever holds the window.
    window.indexing.start(IndexRequest(folders=(Path("/more"),)))
    qtbot.waitUntil(window.library.isVisible)
    assert not window.welcome.isVisible()


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
