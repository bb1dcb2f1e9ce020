"""The engine behind the window's calls: opened late, on a worker, and never by two at once."""

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import QThread
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.bridge.calls import EngineCalls
from app.bridge.door import Engine, EngineDoor
from app.bridge.host import EngineHost
from engine.errors import LibraryError, LibraryInUseError
from engine.jobs import Cancelled, Ticket
from engine.requests import (
    EngineStatus,
    FocusRequest,
    IndexReport,
    IndexRequest,
    PhotoPage,
    PhotosRequest,
    PreviewRequest,
    SearchAnswer,
    SearchRequest,
    Thumbnail,
    ThumbnailRequest,
)
from engine.types import Size
from tests.app.bridge.conftest import ended, listen
from tests.fakes.scripted_engine import PHOTO_SIZE, ScriptedEngine, library, picture

SEARCH = SearchRequest(picture())


@dataclass
class Opener:
    """Opens scripted engines; another process may hold the library."""

    engine: ScriptedEngine = field(default_factory=lambda: library(3, hits=2))
    in_use: bool = False
    error: Exception | None = None
    opened: list[bool] = field(default_factory=list)
    on_main: list[bool] = field(default_factory=list)
    closed: int = 0

    def __call__(self, library: Path, *, writable: bool) -> Engine:
        self.on_main.append(QThread.isMainThread())
        if self.error is not None:
            raise self.error
        if writable and self.in_use:
            raise LibraryInUseError("the library is in use by process 7")
        self.opened.append(writable)
        return _Counted(self, **vars(self.engine))


class _Counted(ScriptedEngine):
    def __init__(self, opener: Opener, **script: object) -> None:
        super().__init__(**script)  # type: ignore[arg-type]
        self._opener = opener

    def close(self) -> None:
        self._opener.closed += 1


@pytest.fixture
def opener() -> Opener:
    return Opener()


@pytest.fixture
def calls(host: EngineHost, opener: Opener) -> EngineCalls:
    return EngineCalls(host, Path("library"), open_engine=opener)


def test_nothing_is_opened_before_the_first_call(calls: EngineCalls, opener: Opener) -> None:
    assert opener.on_main == []
    assert calls.library == Path("library")


def test_the_engine_is_opened_once_and_on_a_worker(
    calls: EngineCalls, opener: Opener, qtbot: QtBot
) -> None:
    told = [listen(calls.overview()) for _ in range(20)] + [listen(calls.warm())]
    ended(qtbot, *told)
    assert {one.ending for one in told} == {"succeeded"}
    assert opener.opened == [True]
    assert opener.on_main == [False]


def test_each_call_answers_what_it_promises(calls: EngineCalls, qtbot: QtBot) -> None:
    search = listen(calls.search(SEARCH))
    ended(qtbot, search)
    answer = search.value
    assert isinstance(answer, SearchAnswer)
    jobs = {
        EngineStatus: calls.warm(),
        IndexReport: calls.index(IndexRequest()),
        PhotoPage: calls.photos(PhotosRequest()),
        Thumbnail: calls.thumbnail(ThumbnailRequest(1)),
        QImage: calls.thumbnail_image(ThumbnailRequest(1)),
        tuple: calls.preview_image(PreviewRequest(picture(), 200)),
    }
    told = {kind: listen(job) for kind, job in jobs.items()}
    focus = listen(calls.focus(FocusRequest(answer.token, 1)))
    ended(qtbot, focus, *told.values())
    for kind, one in told.items():
        assert isinstance(one.value, kind)
    shown = told[tuple].value
    assert isinstance(shown, tuple)
    image, size = shown
    assert isinstance(image, QImage)
    assert not image.isNull()
    assert size == PHOTO_SIZE
    assert isinstance(size, Size)


def test_the_newest_search_wins(calls: EngineCalls, opener: Opener, qtbot: QtBot) -> None:
    opener.engine.hold("search")
    older = [listen(calls.search(SEARCH)) for _ in range(3)]
    qtbot.wait(30)
    newest = calls.search(SEARCH)
    told = listen(newest)
    ended(qtbot, *older)
    assert [one.ending for one in older] == ["cancelled"] * 3
    assert not told.endings
    opener.engine.gates["search"].set()
    ended(qtbot, told)
    assert told.ending == "succeeded"


def test_a_search_ends_the_exact_focus_maps_of_the_one_before(
    calls: EngineCalls, opener: Opener, qtbot: QtBot
) -> None:
    opener.engine.hold("focus")
    maps = [listen(calls.focus(FocusRequest("token", n))) for n in range(1, 4)]
    qtbot.wait(30)
    told = listen(calls.search(SEARCH))
    ended(qtbot, told, *maps)
    assert told.ending == "succeeded"
    assert [one.ending for one in maps] == ["cancelled"] * 3


def test_focus_maps_do_not_end_each_other(calls: EngineCalls, qtbot: QtBot) -> None:
    maps = [listen(calls.focus(FocusRequest("token", n))) for n in range(1, 3)]
    ended(qtbot, *maps)
    assert [one.ending for one in maps] == ["succeeded"] * 2


def test_a_page_of_photos_overtakes_the_waiting_thumbnails(
    calls: EngineCalls, opener: Opener, qtbot: QtBot
) -> None:
    gate = opener.engine.hold("thumbnail")
    told = [listen(calls.thumbnail(ThumbnailRequest(n))) for n in range(1, 30)]
    qtbot.waitUntil(lambda: len(opener.engine.asked) == 3, timeout=5_000)  # the others wait
    page = PhotosRequest()
    told.append(listen(calls.photos(page)))
    gate.set()
    ended(qtbot, *told)
    assert opener.engine.asked.index(page) < 6


# --- a library that another process writes ---------------------------------------------------


def test_a_library_in_use_is_opened_for_reading_and_the_window_is_told_once(
    host: EngineHost, calls: EngineCalls, opener: Opener, qtbot: QtBot
) -> None:
    opener.in_use = True
    notices: list[object] = []
    host.noticed.connect(notices.append)
    told = [listen(calls.photos(PhotosRequest())), listen(calls.search(SEARCH))]
    ended(qtbot, *told)
    assert [one.ending for one in told] == ["succeeded"] * 2
    assert opener.opened == [False]
    (notice,) = notices
    assert "process 7" in str(notice)


def test_indexing_a_library_in_use_says_so(
    calls: EngineCalls, opener: Opener, qtbot: QtBot
) -> None:
    opener.in_use = True
    ended(qtbot, listen(calls.overview()))
    told = listen(calls.index(IndexRequest()))
    ended(qtbot, told)
    assert told.words.cause == "the library is in use by process 7"
    assert opener.opened == [False]


def test_once_the_other_process_is_done_indexing_makes_this_one_the_writer(
    calls: EngineCalls, opener: Opener, qtbot: QtBot
) -> None:
    opener.in_use = True
    ended(qtbot, listen(calls.overview()))
    opener.in_use = False
    told = listen(calls.index(IndexRequest()))
    ended(qtbot, told)
    assert told.ending == "succeeded"
    assert opener.opened == [False, True]
    assert opener.closed == 1


def test_the_engine_that_reads_is_closed_when_its_last_call_is_through(
    calls: EngineCalls, opener: Opener, qtbot: QtBot
) -> None:
    opener.in_use = True
    gate = opener.engine.hold("preview")
    shown = listen(calls.preview(PreviewRequest(picture(), 100)))
    qtbot.waitUntil(lambda: bool(opener.engine.asked), timeout=5_000)
    opener.in_use = False
    indexed = listen(calls.index(IndexRequest()))
    ended(qtbot, indexed)
    assert opener.closed == 0
    gate.set()
    ended(qtbot, shown)
    assert shown.ending == "succeeded"
    assert opener.closed == 1


def test_a_library_that_cannot_be_opened_is_tried_again_by_the_next_call(
    calls: EngineCalls, opener: Opener, qtbot: QtBot
) -> None:
    opener.error = LibraryError("the disk is full")
    told = listen(calls.overview())
    ended(qtbot, told)
    assert told.words.cause == "the disk is full"
    opener.error = None
    told = listen(calls.overview())
    ended(qtbot, told)
    assert told.ending == "succeeded"


# --- the end --------------------------------------------------------------------------------


def test_close_ends_the_calls_and_closes_the_engine(
    calls: EngineCalls, opener: Opener, qtbot: QtBot
) -> None:
    opener.engine.hold("index")
    told = listen(calls.index(IndexRequest()))
    qtbot.waitUntil(lambda: bool(opener.engine.asked), timeout=5_000)
    assert calls.close()
    assert told.ending == "cancelled"
    assert opener.closed == 1
    assert not [one for one in threading.enumerate() if one.name.startswith("refocal-")]


def test_close_before_the_first_call_opens_nothing(calls: EngineCalls, opener: Opener) -> None:
    assert calls.close()
    assert opener.opened == []


def test_a_call_that_comes_to_the_door_too_late_opens_nothing(
    host: EngineHost, opener: Opener
) -> None:
    door = EngineDoor(Path("library"), host, opener)
    door.close()
    with pytest.raises(Cancelled), door.engine(Ticket()):
        pass
    assert opener.opened == []
