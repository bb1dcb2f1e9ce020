"""The search job and the focus job over a real library of painted scenes."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.config import Method, SearchSettings
from engine.errors import (
    BoxError,
    NothingIndexedError,
    PhotoMissingError,
    PhotoUnreadableError,
    SettingsError,
)
from engine.jobs import Cancelled, Ticket
from engine.rank.focus import peak
from engine.requests import FocusRequest, MoreHitsRequest, SearchAnswer, SearchRequest
from engine.searching.focus import focus
from engine.searching.job import more, search
from engine.types import Box, FocusMap, Hit, Picture
from tests.engine.searching.conftest import (
    BLUE_PLACES,
    RED_AND_GREEN,
    RED_PLACES,
    SCENE_H,
    SCENE_W,
    Searchable,
    paint_scene,
)


def ask(
    library: Searchable,
    path: Path,
    box: Box | None = None,
    *,
    settings: SearchSettings | None = None,
    top: int | None = None,
) -> SearchAnswer:
    request = SearchRequest(Picture(path), box, top=top, settings=settings)
    return search(request, Ticket(), parts=library.parts)


def red_search(library: Searchable, settings: SearchSettings | None = None) -> SearchAnswer:
    return ask(library, library.folder / "red_0.png", RED_PLACES[0], settings=settings)


def names(answer: SearchAnswer) -> list[str]:
    return [hit.photo.path.stem for hit in answer.hits]


def hit_of(answer: SearchAnswer, name: str) -> Hit:
    return next(hit for hit in answer.hits if hit.photo.path.stem == name)


def points_at(found: FocusMap | None, place: Box) -> bool:
    middle = peak(found.values) if found else None
    if middle is None:
        return False
    x, y = middle[0] * SCENE_W, middle[1] * SCENE_H
    return place.x <= x <= place.x + place.w and place.y <= y <= place.y + place.h


# --- search ---------------------------------------------------------------------------------


def test_the_photo_that_asks_is_found_if_wanted(library: Searchable) -> None:
    picture = Picture(library.folder / "red_0.png")
    for wanted in (False, True):
        request = SearchRequest(picture, RED_PLACES[0], with_own=wanted)
        answer = search(request, Ticket(), parts=library.parts)
        assert ("red_0" in names(answer)) is wanted


def test_a_box_finds_the_thing_and_says_where(library: Searchable) -> None:
    answer = red_search(library)
    assert answer.method == Method.SPARSE
    assert set(names(answer)[:2]) == {"red_1", "red_2"}
    assert set(names(answer)[2:]) == {"blue_0", "blue_1"}
    for number in (1, 2):
        hit = hit_of(answer, f"red_{number}")
        assert hit.score > hit.global_score
        assert points_at(hit.focus, RED_PLACES[number])
        assert hit.focus is not None
        assert not hit.focus.exact
        assert hit.box is not None
        assert hit.box.within(hit.photo.size) == hit.box  # type: ignore[arg-type]


def test_the_answer_repeats_the_question(library: Searchable) -> None:
    answer = red_search(library)
    assert answer.query.name == "red_0.png"
    assert (answer.query_size.w, answer.query_size.h) == (SCENE_W, SCENE_H)
    assert answer.box == RED_PLACES[0]
    assert answer.network == "colours"
    spent = answer.timings_ms
    stages = (spent.decode, spent.network, spent.shortlist, spent.rerank, spent.expand)
    assert all(stage >= 0 for stage in stages)
    assert sum(stages) <= spent.total


def test_a_whole_photo_asks_with_its_parts(library: Searchable) -> None:
    answer = ask(library, library.folder / "blue_0.png")
    assert answer.method == Method.SPARSE
    assert names(answer)[0] == "blue_1"
    assert all(hit.box is not None and hit.focus is not None for hit in answer.hits)


def test_the_global_method_compares_wholes_and_has_no_stored_map(library: Searchable) -> None:
    settings = SearchSettings(method=Method.GLOBAL)
    answer = ask(library, library.folder / "blue_0.png", settings=settings)
    assert names(answer)[0] == "blue_1"
    assert all(hit.box is None and hit.focus is None for hit in answer.hits)
    assert all(hit.score == hit.global_score for hit in answer.hits)


def test_report_28_pages_are_one_long_list(library: Searchable) -> None:
    whole = red_search(library)
    first = ask(library, library.folder / "red_0.png", RED_PLACES[0], top=1)
    assert first.total == whole.total == len(whole.hits) == 4
    seen = [hit.photo.id for hit in first.hits]
    for offset in (1, 3):
        request = MoreHitsRequest(first.token, offset, limit=2)
        page = more(request, Ticket(), parts=library.parts)
        assert (page.offset, page.total) == (offset, 4)
        seen += [hit.photo.id for hit in page.hits]
    assert seen == [hit.photo.id for hit in whole.hits]


def test_report_33_a_searcher_steers(library: Searchable) -> None:
    """Liking what is blue pulls blue things up; what is not liked leaves, and comes back."""
    before = red_search(library)
    blue = hit_of(before, "blue_0").photo.id
    red = hit_of(before, "red_1").photo.id
    request = SearchRequest(
        Picture(library.folder / "red_0.png"), RED_PLACES[0], top=None, liked=(blue,)
    )
    liked = search(request, Ticket(), parts=library.parts)
    assert hit_of(liked, "blue_1").score > hit_of(before, "blue_1").score
    request = replace(request, liked=(), disliked=(red,))
    without = search(request, Ticket(), parts=library.parts)
    assert set(names(without)) == {"red_2", "blue_0", "blue_1"}
    assert without.total == 3
    assert names(red_search(library)) == names(before)


def test_an_unknown_photo_steers_nothing(library: Searchable) -> None:
    request = SearchRequest(
        Picture(library.folder / "red_0.png"), RED_PLACES[0], top=None, liked=(999,)
    )
    assert names(search(request, Ticket(), parts=library.parts)) == names(red_search(library))


def test_top_cuts_the_hits(library: Searchable) -> None:
    request = SearchRequest(Picture(library.folder / "red_0.png"), RED_PLACES[0], top=2)
    assert len(search(request, Ticket(), parts=library.parts).hits) == 2


def test_a_part_of_the_box_outside_the_photo_is_cut_off(library: Searchable) -> None:
    answer = ask(library, library.folder / "red_0.png", Box(-50, -50, 166, 166))
    assert answer.box == Box(0, 0, 116, 116)


def test_report_25_a_query_is_not_added_and_not_found(library: Searchable, tmp_path: Path) -> None:
    """In the library under two names, or from elsewhere with the same content, or quite new."""
    shutil.copy(library.folder / "red_0.png", library.folder / "copy.png")
    library.index()
    elsewhere = shutil.copy(library.folder / "red_0.png", tmp_path / "elsewhere.png")
    for path in (library.folder / "copy.png", Path(elsewhere)):
        assert sorted(names(ask(library, path, RED_PLACES[0]))) == [
            "blue_0", "blue_1", "red_1", "red_2",
        ]  # fmt: skip
    new = paint_scene(tmp_path / "new.png", seed=77, thing=RED_AND_GREEN, at=RED_PLACES[2])
    before = len(library.collection.snapshot(Ticket()))
    assert len(ask(library, new, RED_PLACES[2]).hits) == before == 5
    library.index()
    assert len(library.collection.snapshot(Ticket())) == before


def test_a_dropped_picture_without_a_file_is_a_query(library: Searchable) -> None:
    data = (library.folder / "red_0.png").read_bytes()
    request = SearchRequest(Picture(data=data), RED_PLACES[0])
    answer = search(request, Ticket(), parts=library.parts)
    assert set(names(answer)[:2]) == {"red_1", "red_2"}
    assert "red_0" not in names(answer)


def test_a_photo_that_is_offline_is_found_with_its_footprint(
    library: Searchable, tmp_path: Path
) -> None:
    query = Path(shutil.copy(library.folder / "red_0.png", tmp_path / "query.png"))
    library.folder.rename(tmp_path / "unplugged")
    library.index_parts.publish()
    answer = ask(library, query, RED_PLACES[0])
    hit = hit_of(answer, "red_1")
    assert points_at(hit.focus, RED_PLACES[1])
    with pytest.raises(PhotoMissingError):
        focus(FocusRequest(answer.token, hit.photo.id), Ticket(), parts=library.parts)
    stored = focus(
        FocusRequest(answer.token, hit.photo.id, exact=False), Ticket(), parts=library.parts
    )
    np.testing.assert_array_equal(stored.focus.values, hit.focus.values)  # type: ignore[union-attr]


def test_a_photo_that_was_edited_is_no_hit_any_more(library: Searchable) -> None:
    """Its old content lies nowhere."""
    paint_scene(library.folder / "red_1.png", seed=5, thing=RED_AND_GREEN, at=RED_PLACES[1])
    library.index()
    answer = red_search(library)
    assert sorted(names(answer)) == ["blue_0", "blue_1", "red_1", "red_2"]


def test_nothing_indexed(empty: Searchable, tmp_path: Path) -> None:
    photo = paint_scene(tmp_path / "q.png", seed=1, thing=RED_AND_GREEN, at=RED_PLACES[0])
    with pytest.raises(NothingIndexedError):
        ask(empty, photo)


@pytest.mark.parametrize("box", [Box(0, 0, 0, 10), Box(5000, 0, 10, 10), Box(-20, -20, 10, 10)])
def test_boxes_that_hold_nothing(library: Searchable, box: Box) -> None:
    with pytest.raises(BoxError):
        ask(library, library.folder / "red_0.png", box)


def test_pictures_that_cannot_be_read(library: Searchable, tmp_path: Path) -> None:
    with pytest.raises(PhotoMissingError):
        ask(library, tmp_path / "nowhere.jpg")
    (tmp_path / "text.jpg").write_text("no picture")
    with pytest.raises(PhotoUnreadableError):
        ask(library, tmp_path / "text.jpg")


def test_a_newer_search_stops_an_older_one(library: Searchable) -> None:
    ticket = Ticket()
    ticket.cancel()
    with pytest.raises(Cancelled):
        search(SearchRequest(Picture(library.folder / "red_0.png")), ticket, parts=library.parts)


# --- focus ----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2])
def test_the_exact_map_lies_on_the_thing(library: Searchable, number: int) -> None:
    answer = red_search(library)
    hit = hit_of(answer, f"red_{number}")
    sharp = focus(FocusRequest(answer.token, hit.photo.id), Ticket(), parts=library.parts)
    assert sharp.focus.exact
    assert points_at(sharp.focus, RED_PLACES[number])
    # One value for each cell of the feature map: 256 pixels, cells of 8.
    assert sharp.focus.values.shape[1] == 32
    assert sharp.box is not None
    assert _overlap(sharp.box, RED_PLACES[number]) > 0.5
    assert hit.box is not None
    assert _overlap(hit.box, RED_PLACES[number]) > 0.4


def _overlap(one: Box, other: Box) -> float:
    """Intersection over union."""
    w = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    h = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    shared = max(w, 0) * max(h, 0)
    return shared / (one.area + other.area - shared)


def test_the_global_method_has_an_exact_map_too(library: Searchable) -> None:
    answer = ask(
        library,
        library.folder / "blue_0.png",
        BLUE_PLACES[0],
        settings=SearchSettings(method=Method.GLOBAL),
    )
    hit = hit_of(answer, "blue_1")
    sharp = focus(FocusRequest(answer.token, hit.photo.id), Ticket(), parts=library.parts)
    assert points_at(sharp.focus, BLUE_PLACES[1])
    with pytest.raises(PhotoMissingError, match="no stored"):
        focus(FocusRequest(answer.token, hit.photo.id, exact=False), Ticket(), parts=library.parts)


@pytest.mark.parametrize("exact", [True, False])
def test_a_photo_below_the_shortlist_has_the_same_map(library: Searchable, exact: bool) -> None:
    long = red_search(library)
    short = red_search(library, SearchSettings(shortlist=1))
    hit = short.hits[-1]
    assert hit.focus is None
    maps = [
        focus(FocusRequest(token, hit.photo.id, exact=exact), Ticket(), parts=library.parts)
        for token in (long.token, short.token)
    ]
    np.testing.assert_allclose(maps[0].focus.values, maps[1].focus.values, atol=1e-6)


def test_a_photo_that_changed_since_has_no_exact_map(library: Searchable) -> None:
    answer = red_search(library)
    hit = hit_of(answer, "red_1")
    request = FocusRequest(answer.token, hit.photo.id)
    shutil.copy(library.folder / "red_2.png", hit.photo.path)
    with pytest.raises(PhotoMissingError, match="changed"):
        focus(request, Ticket(), parts=library.parts)
    hit.photo.path.write_bytes(hit.photo.path.read_bytes()[:2000])
    with pytest.raises(PhotoUnreadableError):
        focus(request, Ticket(), parts=library.parts)


def test_a_search_too_long_ago_is_forgotten(library: Searchable) -> None:
    first = red_search(library)
    request = FocusRequest(first.token, first.hits[0].photo.id)
    for _ in range(31):
        red_search(library)
    focus(request, Ticket(), parts=library.parts)
    red_search(library)
    with pytest.raises(SettingsError, match="search again"):
        focus(request, Ticket(), parts=library.parts)


def test_an_unknown_photo_has_no_map(library: Searchable) -> None:
    answer = red_search(library)
    with pytest.raises(PhotoMissingError):
        focus(FocusRequest(answer.token, 12345), Ticket(), parts=library.parts)
