"""Pictures dropped, pasted or handed over, in the whole window over a scripted engine."""

from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.requests import (
    IndexRequest,
    SearchRequest,
)
from engine.types import Picture
from tests.app.views.conftest import OpenWindow
from tests.app.views.driving import drop, search_in, texts
from tests.fakes.painted import paint
from tests.fakes.scripted_engine import PHOTO_SIZE, library, picture

LEFT = Qt.MouseButton.LeftButton


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
    assert "for this search only" in window.search.query.header.facts


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
