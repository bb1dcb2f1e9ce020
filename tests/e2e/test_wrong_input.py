"""What a person gets wrong: one readable line, the right exit status, nothing lost."""

import shutil
from pathlib import Path

import pytest

from engine.cli.main import main
from tests.e2e.command import refocal
from tests.e2e.conftest import IndexedSet
from tests.fakes.rights import as_ordinary_user

pytestmark = [pytest.mark.heavy, pytest.mark.photos]


@pytest.fixture
def photo(indexed: IndexedSet) -> Path:
    return indexed.photos.folder / indexed.photos.photos[0]


@pytest.mark.parametrize(
    ("box", "said"),
    [
        ("5000,5000,10,10", "outside"),
        ("10,10,0,20", "area"),
        ("1,1,-5,5", "area"),
        ("nan,1,2,3", "finite"),
    ],
)
def test_box_that_holds_nothing(indexed: IndexedSet, photo: Path, box: str, said: str) -> None:
    outcome = refocal("search", photo, f"--box={box}", "--library", indexed.library)
    assert outcome.status == 1
    assert said in outcome.reason


def test_box_that_is_none(photo: Path) -> None:
    outcome = refocal("search", photo, "--box", "1,2,3")
    assert outcome.status == 2
    assert "X,Y,W,H" in outcome.messages


def test_missing_photo(indexed: IndexedSet, tmp_path: Path) -> None:
    outcome = refocal("search", tmp_path / "gone.jpg", "--library", indexed.library)
    assert outcome.status == 1
    assert "gone.jpg" in outcome.reason


@pytest.mark.parametrize("content", [b"", b"this is text, not a picture\n"])
def test_file_that_is_no_picture(indexed: IndexedSet, tmp_path: Path, content: bytes) -> None:
    wrong = tmp_path / "wrong.jpg"
    wrong.write_bytes(content)
    outcome = refocal("search", wrong, "--library", indexed.library)
    assert outcome.status == 1
    assert "wrong.jpg" in outcome.reason


def test_pictures_that_are_none_become_rows(photo: Path, tmp_path: Path) -> None:
    folder, library = tmp_path / "photos", tmp_path / "library"
    folder.mkdir()
    shutil.copy2(photo, folder / "good.jpg")
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "text.jpg").write_text("no picture")
    outcome = refocal("index", folder, "--library", library, "--json")
    assert outcome.status == 0, outcome.messages
    assert (outcome.json["indexed"], outcome.json["failed"]) == (1, 2)
    assert {Path(f["path"]).name for f in outcome.json["failures"]} == {"empty.jpg", "text.jpg"}
    assert all(failure["reason"] for failure in outcome.json["failures"])


def test_empty_folder(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    outcome = refocal("index", folder, "--library", tmp_path / "library")
    assert outcome.status == 1
    assert "no photo" in outcome.messages


def test_missing_folder(tmp_path: Path) -> None:
    outcome = refocal("index", tmp_path / "nowhere", "--library", tmp_path / "library")
    assert outcome.status == 1
    assert "nowhere" in outcome.reason


def test_file_instead_of_folder(photo: Path, tmp_path: Path) -> None:
    outcome = refocal("index", photo, "--library", tmp_path / "library")
    assert outcome.status == 1
    assert photo.name in outcome.reason


def test_folder_without_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # In this process: root lends its rights away for the call, and whom they are lent to need not
    # be able to start our Python.
    folder, library = tmp_path / "locked", tmp_path / "library"
    folder.mkdir(mode=0)
    library.mkdir()
    with as_ordinary_user(library):
        status = main(["index", str(folder), "--library", str(library)])
    assert status == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "locked" in said[0]
    assert "permission" in said[0].partition("locked")[2]


def test_no_library(photo: Path, tmp_path: Path) -> None:
    for command in (["search", str(photo)], ["doctor"]):
        outcome = refocal(*command, "--library", tmp_path / "none")
        assert outcome.status == 1
        assert "none" in outcome.reason
    assert not (tmp_path / "none").exists()


def test_second_writer_is_refused_with_the_reason(indexed: IndexedSet) -> None:
    from engine.service import Engine

    with Engine.open(indexed.library):
        outcome = refocal("index", "--library", indexed.library)
        assert outcome.status == 1
        assert "in use" in outcome.reason
        reading = refocal("doctor", "--library", indexed.library, "--json")
        assert reading.json["problems"] == []
