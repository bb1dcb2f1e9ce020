"""The bridge over the real engine and a real library, as far as that needs no network."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.bridge.calls import EngineCalls
from app.bridge.errors import Words
from app.bridge.host import EngineHost
from engine.requests import (
    IndexReport,
    IndexRequest,
    LibraryOverview,
    PhotosRequest,
    PreviewRequest,
    ThumbnailRequest,
)
from engine.service import Engine
from engine.types import Picture
from tests.app.bridge.conftest import ended, listen


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "no photos"
    made.mkdir()
    (made / "notes.txt").write_text("nothing to see")
    return made


def test_a_new_library_is_made_and_looked_at(
    host: EngineHost, qtbot: QtBot, tmp_path: Path, folder: Path
) -> None:
    calls = EngineCalls(host, tmp_path / "library")
    told = listen(calls.overview())
    page = listen(calls.photos(PhotosRequest()))
    ended(qtbot, told, page)
    assert told.value == LibraryOverview((), 0, 0, 0, writable=True)
    told = listen(calls.index(IndexRequest(folders=(folder,))))
    ended(qtbot, told)
    assert isinstance(told.value, IndexReport)
    assert told.value.found == 0
    assert calls.close()
    Engine.open(tmp_path / "library").close()  # it was let go


def test_what_is_not_there_is_told_in_words(host: EngineHost, qtbot: QtBot, tmp_path: Path) -> None:
    calls = EngineCalls(host, tmp_path / "library")
    told = [
        listen(calls.preview_image(PreviewRequest(Picture(path=tmp_path / "gone.jpg"), 100))),
        listen(calls.thumbnail_image(ThumbnailRequest(7))),
        listen(calls.index(IndexRequest(folders=(tmp_path / "gone",)))),
    ]
    ended(qtbot, *told)
    assert [one.words.message for one in told] == [
        "The photo is not there.",
        "The photo is not there.",
        "The folder could not be used.",
    ]
    assert all(one.words.cause for one in told)
    assert calls.close()


def test_beside_a_process_that_writes_the_window_reads_and_later_writes(
    host: EngineHost, qtbot: QtBot, tmp_path: Path, folder: Path
) -> None:
    notices: list[Words] = []
    host.noticed.connect(notices.append)
    calls = EngineCalls(host, tmp_path / "library")
    with Engine.open(tmp_path / "library"):
        told = listen(calls.overview())
        ended(qtbot, told)
        assert isinstance(told.value, LibraryOverview)
        assert not told.value.writable
        (notice,) = notices
        assert "in use" in notice.cause
        refused = listen(calls.index(IndexRequest(folders=(folder,))))
        ended(qtbot, refused)
        assert refused.words.message == notice.message
    told = listen(calls.index(IndexRequest(folders=(folder,))))
    ended(qtbot, told)
    assert isinstance(told.value, IndexReport)
    told = listen(calls.overview())
    ended(qtbot, told)
    assert isinstance(told.value, LibraryOverview)
    assert told.value.writable
    assert calls.close()
