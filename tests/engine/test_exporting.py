"""Hits as files: what stands in them, and what stays where they cannot be written."""

import csv
import errno
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import ExportError
from engine.exporting import PAGE_HITS, export, reaching, write_hits
from engine.jobs import Cancelled, Ticket
from engine.requests import ExportRequest, HitPage
from engine.types import Hit, Photo, PhotoState
from tests.fakes.rights import as_ordinary_user
from tests.fakes.scripted_engine import hit

HITS = [hit(n + 1, 0.9 - n / 10) for n in range(4)]


def at(path: str, one: Hit) -> Hit:
    """The same hit with its photo in another place."""
    return replace(one, photo=replace(one.photo, path=Path(path)))


def pages(hits: list[Hit]) -> Callable[[int, int], HitPage]:
    """What the engine gives of these hits."""
    return lambda offset, limit: HitPage(offset, len(hits), tuple(hits[offset : offset + limit]))


def rows(target: Path) -> list[dict[str, str]]:
    with target.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_has_a_header_and_a_row_for_each_hit(tmp_path: Path) -> None:
    target = tmp_path / "hits.csv"
    taken = replace(HITS[0], photo=replace(HITS[0].photo, taken="2019-07-01T10:00:00"))
    bare = replace(HITS[1], box=None)
    assert write_hits([taken, bare], target) == 2
    first, second = rows(target)
    assert first == {
        "path": "/album/photo_000001.jpg",
        "score": "0.900000",
        "global_score": "0.900000",
        "x": "150.0",
        "y": "100.0",
        "w": "100.0",
        "h": "100.0",
        "id": "1",
        "taken": "2019-07-01T10:00:00",
    }
    assert (second["x"], second["h"], second["taken"]) == ("", "", "")


def test_json_is_what_a_search_prints(tmp_path: Path) -> None:
    target = tmp_path / "hits.JSON"
    write_hits(HITS[:2], target)
    assert json.loads(target.read_text("utf-8"))["hits"][0] == {
        "photo": "/album/photo_000001.jpg",
        "score": 0.9,
        "global_score": 0.9,
        "box": [150.0, 100.0, 100.0, 100.0],
        "focus": None,
    }


@pytest.mark.parametrize("suffix", [".csv", ".json", ".txt"])
def test_no_hits_make_an_empty_file_of_the_kind(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"hits{suffix}"
    assert write_hits([], target) == 0
    if suffix == ".json":
        assert json.loads(target.read_text()) == {"hits": []}
    else:
        assert len(target.read_text().splitlines()) == (1 if suffix == ".csv" else 0)


def test_paths_stand_one_on_a_line(tmp_path: Path) -> None:
    target = tmp_path / "hits.txt"
    write_hits([at("/a/é, ü.jpg", HITS[0]), at('/b/"x".jpg', HITS[1])], target)
    assert target.read_text("utf-8") == '/a/é, ü.jpg\n/b/"x".jpg\n'


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_a_formula(tmp_path: Path, start: str) -> None:
    target = tmp_path / "hits.csv"
    write_hits([at(f'{start}HYPERLINK("x","y").jpg', HITS[0])], target)
    assert rows(target)[0]["path"] == f'\'{start}HYPERLINK("x","y").jpg'


def test_a_score_below_zero_stays_a_number(tmp_path: Path) -> None:
    write_hits([hit(1, -0.25)], tmp_path / "hits.csv")
    assert float(rows(tmp_path / "hits.csv")[0]["score"]) == -0.25


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes are Linux's")
@pytest.mark.parametrize("suffix", [".csv", ".json", ".txt"])
def test_a_name_that_is_no_text_keeps_its_bytes(tmp_path: Path, suffix: str) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9.jpg")
    odd.write_bytes(b"")
    target = tmp_path / f"hits{suffix}"
    write_hits([at(str(odd), HITS[0])], target)
    if suffix == ".json":
        found = json.loads(target.read_bytes())["hits"][0]["photo"]
        assert Path(found).exists()
    else:
        assert b"caf\xe9.jpg" in target.read_bytes()


def test_a_name_with_a_line_break_does_not_become_two_lines(tmp_path: Path) -> None:
    broken = at("/album/a\nb.jpg", HITS[0])
    target = tmp_path / "hits.txt"
    with pytest.raises(ExportError, match=r"a\\nb\.jpg has a line break"):
        write_hits([HITS[1], broken], target)
    assert list(tmp_path.iterdir()) == []
    write_hits([broken], tmp_path / "hits.csv")
    assert rows(tmp_path / "hits.csv")[0]["path"] == "/album/a\nb.jpg"


# --- where it cannot be written ---


def test_what_was_there_is_kept_until_the_new_file_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "hits.csv"
    target.write_text("before")

    def failing() -> Iterator[Hit]:
        yield HITS[0]
        raise OSError(errno.ENOSPC, "no space left on device")

    with pytest.raises(ExportError, match="the disk is full"):
        write_hits(failing(), target)
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]
    write_hits(HITS, target)
    assert len(rows(target)) == len(HITS)
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_leads_on_to_the_file(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("before")
    link.symlink_to(real)
    write_hits(HITS[:1], link)
    assert link.is_symlink()
    assert real.read_text() == "/album/photo_000001.jpg\n"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"there is no folder .*nowhere"):
        write_hits(HITS, tmp_path / "nowhere" / "hits.csv")


def test_a_folder_in_the_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "hits.csv").mkdir()
    with pytest.raises(ExportError, match="is a folder"):
        write_hits(HITS, tmp_path / "hits.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["hits.csv"]


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    with as_ordinary_user(tmp_path), pytest.raises(ExportError, match="no permission"):
        write_hits(HITS, locked / "hits.csv")


@pytest.mark.parametrize("name", ["hits", "hits.xlsx", "csv"])
def test_another_kind_of_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ExportError, match=r"\.csv, \.json, \.txt"):
        write_hits(HITS, tmp_path / name)


# --- page by page ---


def test_every_page_is_written_down_to_the_score(tmp_path: Path) -> None:
    count = 2 * PAGE_HITS + 17
    hits = [hit(n + 1, 1 - n / count) for n in range(count)]
    target = tmp_path / "hits.txt"
    report = export(ExportRequest("t", target), Ticket(), page=pages(hits))
    assert (report.hits, len(target.read_text().splitlines())) == (count, count)
    report = export(ExportRequest("t", target, min_score=0.5), Ticket(), page=pages(hits))
    assert report.hits == sum(one.score >= 0.5 for one in hits)


def test_pages_that_overlap_write_each_photo_once(tmp_path: Path) -> None:
    def page(offset: int, limit: int) -> HitPage:
        two = HITS[offset : offset + 2]  # and the second photo of all has gone since
        return HitPage(offset, len(HITS), tuple(one for one in two if one is not HITS[1]))

    target = tmp_path / "hits.txt"
    assert export(ExportRequest("t", target), Ticket(), page=page).hits == len(HITS) - 1
    assert len(set(target.read_text().splitlines())) == len(HITS) - 1


def test_a_page_that_is_empty_ends_it(tmp_path: Path) -> None:
    def page(offset: int, limit: int) -> HitPage:
        return HitPage(offset, 1000, tuple(HITS) if not offset else ())

    report = export(ExportRequest("t", tmp_path / "hits.txt"), Ticket(), page=page)
    assert report.hits == len(HITS)


def test_a_cancelled_export_leaves_nothing(tmp_path: Path) -> None:
    ticket = Ticket()

    def page(offset: int, limit: int) -> HitPage:
        ticket.cancel()
        return HitPage(offset, 1000, tuple(HITS))

    with pytest.raises(Cancelled):
        export(ExportRequest("t", tmp_path / "hits.csv"), ticket, page=page)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_kind_is_refused_before_the_first_page(tmp_path: Path) -> None:
    def page(offset: int, limit: int) -> HitPage:
        raise AssertionError("asked for hits")

    with pytest.raises(ExportError):
        export(ExportRequest("t", tmp_path / "hits.doc"), Ticket(), page=page)


def test_the_least_score_itself_is_reached() -> None:
    assert [one.score for one in reaching(HITS, HITS[1].score)] == [HITS[0].score, HITS[1].score]
    assert list(reaching(HITS, None)) == HITS


def test_a_photo_that_was_never_decoded_can_be_written(tmp_path: Path) -> None:
    one = Hit(Photo(7, Path("/a.jpg"), PhotoState.OFFLINE), 0.5, 0.4)
    write_hits([one], tmp_path / "hits.json")
    assert json.loads((tmp_path / "hits.json").read_text())["hits"][0]["box"] is None
