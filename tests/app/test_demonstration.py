"""The window drives itself through a search and leaves a picture of it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import demonstration
from app.demonstration import Demonstration
from app.views.main_window import MainWindow
from app.widgets.overlay import Overlay
from app.widgets.theme import Theme
from engine.requests import IndexRequest, SearchRequest
from engine.types import Box, Picture
from tests.app.conftest import MakeCalls
from tests.fakes.scripted_engine import ScriptedEngine, library

Drive = Callable[[ScriptedEngine, Path], int]


@pytest.fixture
def album(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "sample"
    folder.mkdir()
    truth = {"queries": [{"photo": "cup.jpg", "box": [10, 20, 100, 80]}]}
    (folder / "gt.json").write_text(json.dumps(truth))
    monkeypatch.setattr(demonstration, "SAMPLE_ALBUM", folder)
    monkeypatch.setattr(demonstration, "_SETTLE_S", 0.1)
    return folder


@pytest.fixture
def drive(qtbot: QtBot, qapp: QApplication, make_calls: MakeCalls) -> Iterator[Drive]:
    """Drives a window over an engine; the exit status."""
    theme = Theme(qapp)
    windows: list[MainWindow] = []

    def drive(engine: ScriptedEngine, picture: Path) -> int:
        window = MainWindow(make_calls(engine), theme=theme, overlay=Overlay())
        windows.append(window)
        window.show()
        window.start()
        demo = Demonstration(window, picture)
        with qtbot.waitSignal(demo.finished, timeout=20_000) as finished:
            demo.begin()
        assert finished.args is not None
        return int(finished.args[0])

    yield drive
    for window in windows:
        window.close()
        window.deleteLater()
    theme.deleteLater()


def test_the_sample_album_is_indexed_and_searched(
    drive: Drive, album: Path, tmp_path: Path
) -> None:
    engine = library(5, hits=5)
    assert drive(engine, tmp_path / "window.png") == 0
    assert engine.requests(IndexRequest) == [IndexRequest(folders=(album,))]
    (search,) = engine.requests(SearchRequest)
    assert isinstance(search, SearchRequest)
    assert search.picture == Picture(path=album / "cup.jpg")
    assert search.box == Box(10, 20, 100, 80)
    image = QImage(str(tmp_path / "window.png"))
    assert image.width() >= 640
    assert len({image.pixel(x, y) for x in range(0, 640, 7) for y in range(0, 400, 7)}) > 5


def test_what_is_in_the_way_is_told(
    drive: Drive, album: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert drive(library(5, hits=5), tmp_path / "missing" / "window.png") == 1
    assert "cannot be written" in caplog.text
    (album / "gt.json").unlink()
    assert drive(library(5, hits=5), tmp_path / "window.png") == 1
    assert "gt.json" in caplog.text


def test_a_search_that_finds_nothing_does_not_wait_for_ever(
    drive: Drive,
    album: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(demonstration, "_LIMIT_S", 1.0)
    assert drive(library(5, hits=0), tmp_path / "window.png") == 1
    assert "waited too long for the hits" in caplog.text
