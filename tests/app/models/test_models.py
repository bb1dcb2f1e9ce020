"""The models: pages, thumbnails, exact maps, problems; asked for when seen, dropped when not."""

from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QPixmap
from pytestqt.qtbot import QtBot

from app.bridge.calls import EngineCalls
from app.models.hits import FOCUS_AT_ONCE, HitsModel
from app.models.photos import KEPT_PAGES, PAGE_ROWS, PhotosModel
from app.models.problems import ProblemsModel
from app.models.thumbnails import AT_ONCE, Thumbnails
from engine.errors import LibraryError, PhotoMissingError
from engine.requests import FocusRequest, PhotosRequest, SearchAnswer, ThumbnailRequest
from engine.types import Failure, Hit, Photo, Picture, SearchTimings
from tests.app.conftest import MakeCalls
from tests.fakes.scripted_engine import (
    PHOTO_SIZE,
    TOKEN,
    ScriptedEngine,
    hit,
    library,
    offline,
    photo,
)

MANY = 100_000


def answer(*hits: Hit, token: str = TOKEN) -> SearchAnswer:
    query = Picture(path=Path("query.jpg"))
    timings = SearchTimings(0, 0, 0, 0, 0, 0)
    return SearchAnswer(token, query, PHOTO_SIZE, None, "lite0", "qam", hits, timings)


@pytest.fixture
def engine() -> ScriptedEngine:
    return library(MANY)


@pytest.fixture
def calls(engine: ScriptedEngine, make_calls: MakeCalls) -> EngineCalls:
    return make_calls(engine)


@pytest.fixture
def thumbnails(calls: EngineCalls) -> Thumbnails:
    return Thumbnails(calls)


@pytest.fixture
def photos(calls: EngineCalls, thumbnails: Thumbnails) -> PhotosModel:
    return PhotosModel(calls, thumbnails)


def test_all_rows_are_there_after_one_page(
    qtbot: QtBot, photos: PhotosModel, engine: ScriptedEngine
) -> None:
    with qtbot.waitSignal(photos.counted):
        photos.refresh()
    assert photos.rowCount() == MANY
    assert engine.requests(PhotosRequest) == [PhotosRequest(0, PAGE_ROWS)]
    index = photos.index(3)
    assert index.data(Qt.ItemDataRole.UserRole) == photo(4)
    assert index.data() == "photo_000004.jpg"
    assert photos.rowCount(index) == 0


def test_a_far_page_comes_when_it_is_looked_at(
    qtbot: QtBot, photos: PhotosModel, engine: ScriptedEngine
) -> None:
    with qtbot.waitSignal(photos.counted):
        photos.refresh()
    far = photos.index(70_123)
    assert far.data(Qt.ItemDataRole.UserRole) is None
    with qtbot.waitSignal(photos.dataChanged):
        photos.photo(70_124)  # the same page: asked for once
    shown = far.data(Qt.ItemDataRole.UserRole)
    assert isinstance(shown, Photo)
    assert shown.id == 70_124
    assert engine.requests(PhotosRequest)[1:] == [PhotosRequest(70_000, PAGE_ROWS)]


def test_pages_that_nobody_looks_at_are_forgotten(qtbot: QtBot, photos: PhotosModel) -> None:
    with qtbot.waitSignal(photos.counted):
        photos.refresh()
    for page in range(1, KEPT_PAGES + 5):
        with qtbot.waitSignal(photos.counted):
            photos.photo(page * PAGE_ROWS)
    kept = sum(photos.photo(page * PAGE_ROWS) is not None for page in range(KEPT_PAGES + 5))
    assert kept == KEPT_PAGES


def test_a_refresh_shows_what_is_new_and_what_is_gone(
    qtbot: QtBot, photos: PhotosModel, engine: ScriptedEngine
) -> None:
    engine.photos_ = [photo(n + 1) for n in range(10)]
    with qtbot.waitSignal(photos.counted):
        photos.refresh()
    engine.photos_ = [photo(n + 100) for n in range(25)]
    with qtbot.waitSignal(photos.rowsInserted):
        photos.refresh()
    assert photos.photo(0) == photo(100)
    engine.photos_ = engine.photos_[:4]
    with qtbot.waitSignal(photos.rowsRemoved):
        photos.refresh()
    assert photos.rowCount() == 4


def test_a_page_that_cannot_be_had_is_told(
    qtbot: QtBot, photos: PhotosModel, engine: ScriptedEngine
) -> None:
    engine.errors["photos"] = LibraryError("the disk is gone")
    with qtbot.waitSignal(photos.failed) as told:
        photos.refresh()
    assert told.args is not None
    assert told.args[0].cause == "the disk is gone"


def test_thumbnails_of_what_is_in_sight_arrive(
    qtbot: QtBot, photos: PhotosModel, engine: ScriptedEngine
) -> None:
    with qtbot.waitSignal(photos.counted):
        photos.refresh()
    photos.set_visible(0, 19)
    last = photos.index(19)
    qtbot.waitUntil(lambda: isinstance(last.data(Qt.ItemDataRole.DecorationRole), QPixmap))
    asked = {request.photo_id for request in engine.requests(ThumbnailRequest)}  # type: ignore[attr-defined]
    assert asked == set(range(1, 21))


def test_thumbnails_scrolled_away_are_not_fetched(
    qtbot: QtBot, photos: PhotosModel, engine: ScriptedEngine, calls: EngineCalls
) -> None:
    gate = engine.hold("thumbnail")
    with qtbot.waitSignal(photos.counted):
        photos.refresh()
    photos.set_visible(0, 199)
    qtbot.waitUntil(lambda: len(engine.requests(ThumbnailRequest)) >= 3)
    photos.set_visible(150, 159)
    qtbot.waitUntil(lambda: all(r.photo_id > 150 for r in engine.requests(ThumbnailRequest)[3:]))  # type: ignore[attr-defined]
    gate.set()
    shown = photos.index(159)
    qtbot.waitUntil(lambda: isinstance(shown.data(Qt.ItemDataRole.DecorationRole), QPixmap))
    asked = [request.photo_id for request in engine.requests(ThumbnailRequest)]  # type: ignore[attr-defined]
    assert len(asked) <= 10 + AT_ONCE
    assert photos.index(50).data(Qt.ItemDataRole.DecorationRole) is None


def test_thumbnails_stay_within_their_memory(qtbot: QtBot, make_calls: MakeCalls) -> None:
    calls = make_calls(library(300))
    kept = Thumbnails(calls, kept_bytes=10 * (32 * 24 * 4 + 256))
    arrived: list[int] = []
    kept.arrived.connect(arrived.append)
    kept.want("test", range(1, 41))
    qtbot.waitUntil(lambda: 40 in arrived)
    assert sum(kept.get(n) is not None for n in range(1, 41)) <= 10
    assert kept.get(40) is not None


def test_a_thumbnail_that_cannot_be_had_is_asked_for_once(
    qtbot: QtBot, thumbnails: Thumbnails, engine: ScriptedEngine
) -> None:
    with qtbot.waitSignal(thumbnails.arrived):
        thumbnails.want("test", [-5])
    missing = thumbnails.get(-5)
    assert missing is not None
    assert missing.isNull()
    thumbnails.want("test", [-5])
    assert len(engine.requests(ThumbnailRequest)) == 1
    thumbnails.forget_missing()
    thumbnails.want("test", [-5])
    qtbot.waitUntil(lambda: len(engine.requests(ThumbnailRequest)) == 2)


# --- hits ---


@pytest.fixture
def hits(calls: EngineCalls, thumbnails: Thumbnails) -> HitsModel:
    return HitsModel(calls, thumbnails)


def shown_hit(model: HitsModel, row: int) -> Hit:
    found = model.hit(row)
    assert found is not None
    return found


def test_hits_are_rows_in_their_order(hits: HitsModel) -> None:
    hits.show(answer(hit(5, 0.9), hit(2, 0.7)))
    assert [hits.index(row).data() for row in range(2)] == ["photo_000005.jpg", "photo_000002.jpg"]
    tip = hits.index(0).data(Qt.ItemDataRole.ToolTipRole)
    assert "0.9000" in tip
    assert "Hit 1" in hits.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert hits.hit(2) is None
    hits.show(None)
    assert hits.rowCount() == 0


def test_exact_maps_come_for_what_is_in_sight_only(
    qtbot: QtBot, hits: HitsModel, engine: ScriptedEngine
) -> None:
    hits.show(answer(*(hit(n, 0.9) for n in range(1, 51))))
    footprint = shown_hit(hits, 0).focus
    hits.set_visible(0, 4)
    qtbot.waitUntil(lambda: all(_exact(shown_hit(hits, row)) for row in range(5)))
    asked = [request.photo_id for request in engine.requests(FocusRequest)]  # type: ignore[attr-defined]
    assert asked == [1, 2, 3, 4, 5]
    assert shown_hit(hits, 0).focus is not footprint
    assert shown_hit(hits, 0).box is not None
    assert not _exact(shown_hit(hits, 5))


def test_maps_scrolled_away_are_cancelled(
    qtbot: QtBot, hits: HitsModel, engine: ScriptedEngine, calls: EngineCalls
) -> None:
    gate = engine.hold("focus")
    hits.show(answer(*(hit(n, 0.9) for n in range(1, 51))))
    hits.set_visible(0, 9)
    qtbot.waitUntil(lambda: len(engine.requests(FocusRequest)) == 1)
    hits.set_visible(30, 31)
    gate.set()
    qtbot.waitUntil(lambda: _exact(shown_hit(hits, 31)))
    asked = [request.photo_id for request in engine.requests(FocusRequest)]  # type: ignore[attr-defined]
    assert asked[-2:] == [31, 32]
    assert len(asked) <= 2 + FOCUS_AT_ONCE
    assert not _exact(shown_hit(hits, 5))


def test_a_new_search_forgets_the_maps_of_the_old(
    qtbot: QtBot, hits: HitsModel, engine: ScriptedEngine, calls: EngineCalls
) -> None:
    gate = engine.hold("focus")
    hits.show(answer(hit(1, 0.9)))
    hits.set_visible(0, 0)
    qtbot.waitUntil(lambda: len(engine.requests(FocusRequest)) == 1)
    hits.show(answer(hit(1, 0.8), token="newer"))
    gate.set()
    qtbot.waitUntil(lambda: not calls.host.jobs)
    assert not _exact(shown_hit(hits, 0))


def test_an_offline_hit_keeps_its_footprint(
    qtbot: QtBot, hits: HitsModel, engine: ScriptedEngine
) -> None:
    hits.show(answer(offline(hit(1, 0.9)), hit(2, 0.8)))
    hits.set_visible(0, 1)
    qtbot.waitUntil(lambda: _exact(shown_hit(hits, 1)))
    assert [request.photo_id for request in engine.requests(FocusRequest)] == [2]  # type: ignore[attr-defined]
    assert shown_hit(hits, 0).focus is not None


def test_a_map_that_cannot_be_had_is_not_asked_for_again(
    qtbot: QtBot, hits: HitsModel, engine: ScriptedEngine, calls: EngineCalls
) -> None:
    engine.errors["focus"] = PhotoMissingError("it is gone")
    hits.show(answer(hit(1, 0.9)))
    hits.set_visible(0, 0)
    qtbot.waitUntil(lambda: len(engine.requests(FocusRequest)) == 1 and not calls.host.jobs)
    hits.set_visible(0, 0)
    assert not calls.host.jobs
    assert not _exact(shown_hit(hits, 0))


def _exact(found: Hit) -> bool:
    return found.focus is not None and found.focus.exact


# --- problems ---


def test_problems_have_reasons(qtbot: QtBot, calls: EngineCalls, engine: ScriptedEngine) -> None:
    engine.failed = [Failure(Path(f"/album/bad_{n}.jpg"), "the file is empty") for n in range(700)]
    problems = ProblemsModel(calls)
    with qtbot.waitSignal(problems.counted) as counted:
        problems.refresh((Failure(Path("/album/locked"), "no permission"),))
    assert counted.args == [701]
    assert problems.index(0).data(Qt.ItemDataRole.UserRole).reason == "no permission"
    assert "the file is empty" in problems.index(1).data(Qt.ItemDataRole.ToolTipRole)
    assert problems.rowCount() == 501
    assert problems.canFetchMore(QModelIndex())
    with qtbot.waitSignal(problems.rowsInserted):
        problems.fetchMore(QModelIndex())
    assert problems.rowCount() == 701
    assert not problems.canFetchMore(QModelIndex())


def test_problems_go_when_they_are_solved(
    qtbot: QtBot, calls: EngineCalls, engine: ScriptedEngine
) -> None:
    engine.failed = [Failure(Path("/album/bad.jpg"), "the file is empty")]
    problems = ProblemsModel(calls)
    with qtbot.waitSignal(problems.counted):
        problems.refresh()
    engine.failed = []
    with qtbot.waitSignal(problems.counted) as counted:
        problems.refresh(())
    assert counted.args == [0]
    assert problems.rowCount() == 0
