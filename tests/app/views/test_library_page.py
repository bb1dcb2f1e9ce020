"""The first start, the library and its indexing, in the whole window over a scripted engine."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.widgets.assets import SAMPLE_ALBUM
from engine.requests import (
    IndexReport,
    IndexRequest,
    PhotosRequest,
)
from engine.types import Failure, Folder
from tests.app.views.conftest import OpenWindow
from tests.app.views.driving import press, texts
from tests.fakes.scripted_engine import ScriptedEngine, library

MANY = 100_000


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
