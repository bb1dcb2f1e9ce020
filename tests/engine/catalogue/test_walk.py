import os
import sys
from pathlib import Path

import pytest

from engine.catalogue.walk import FoundFile, LeftOut, folder_key, walk
from tests.fakes.rights import as_ordinary_user


def _walk(folder: Path) -> tuple[list[bytes], list[LeftOut]]:
    items = list(walk(folder, below=b"", avoid=frozenset()))
    files = [item.relpath for item in items if isinstance(item, FoundFile)]
    return files, [item for item in items if isinstance(item, LeftOut)]


def _touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def test_photos_of_all_folders_come_in_order_and_nothing_else(tmp_path: Path) -> None:
    _touch(tmp_path, "b.JPG", "a.jpg", "notes.txt", "trip/2.png", "trip/1.heic", "jpg", "c.jpg.xmp")
    (tmp_path / "folder.jpg").mkdir()
    files, left_out = _walk(tmp_path)
    assert files == [b"a.jpg", b"b.JPG", b"trip/1.heic", b"trip/2.png"]
    assert left_out == []


def test_report_15_litter_of_systems_is_passed_over(tmp_path: Path) -> None:
    _touch(
        tmp_path,
        "good.jpg",
        "._good.jpg",
        ".hidden.jpg",
        "@eaDir/good.jpg/SYNOPHOTO_THUMB_M.jpg",
        "#recycle/old.jpg",
        "$RECYCLE.BIN/S-1-5/old.jpg",
        "System Volume Information/x.jpg",
        ".Trash-1000/files/old.jpg",
        ".thumbnails/t.jpg",
        "lost+found/x.jpg",
        "__MACOSX/x.jpg",
        "Catalog Previews.lrdata/p.jpg",
        "in/deep/@EADIR/t.jpg",
        "in/deep/good.jpg",
    )
    files, left_out = _walk(tmp_path)
    assert files == [b"good.jpg", b"in/deep/good.jpg"]
    assert left_out == []


def test_report_15_a_nomedia_folder_is_left_out_with_all_below_and_listed(tmp_path: Path) -> None:
    _touch(tmp_path, "a.jpg", "game/.nomedia", "game/b.jpg", "game/art/c.jpg")
    files, left_out = _walk(tmp_path)
    assert files == [b"a.jpg"]
    assert [(item.relpath, item.unknown) for item in left_out] == [(b"game/", False)]
    assert ".nomedia" in left_out[0].reason


def test_report_14_an_unreadable_sub_folder_is_listed_and_the_rest_goes_on(tmp_path: Path) -> None:
    _touch(tmp_path / "album", "a.jpg", "closed/b.jpg", "open/c.jpg")
    with as_ordinary_user(tmp_path / "album"):
        (tmp_path / "album" / "closed").chmod(0)
        files, left_out = _walk(tmp_path / "album")
        (tmp_path / "album" / "closed").chmod(0o700)
    assert files == [b"a.jpg", b"open/c.jpg"]
    assert [(item.relpath, item.unknown) for item in left_out] == [(b"closed/", True)]
    assert "no permission" in left_out[0].reason


def test_the_folder_itself_unreadable_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        _walk(tmp_path / "none")


def test_links_are_counted_not_followed_and_loops_end(tmp_path: Path) -> None:
    _touch(tmp_path, "a.jpg", "sub/b.jpg")
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    (tmp_path / "sub" / "itself").symlink_to(tmp_path / "sub" / "itself")
    (tmp_path / "sub" / "other.jpg").symlink_to(tmp_path / "a.jpg")
    (tmp_path / "sub" / "words.txt").symlink_to(tmp_path / "a.jpg")
    files, left_out = _walk(tmp_path)
    assert files == [b"a.jpg", b"sub/b.jpg"]
    assert [(item.path, item.reason) for item in left_out] == [
        (tmp_path / "sub", "2 links were not followed")
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_pipes_and_sockets_are_no_photos(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    assert _walk(tmp_path) == ([], [])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems demand text as names")
def test_names_that_are_no_text_survive(tmp_path: Path) -> None:
    for name in (b"gr\xfc\xdfe.jpg", b"two\nlines.jpg", b"tab\t.jpg", b"back\\slash.jpg"):
        (tmp_path / os.fsdecode(name)).write_bytes(b"x")
    files, _ = _walk(tmp_path)
    assert sorted(files) == sorted(
        [b"gr\xfc\xdfe.jpg", b"two\nlines.jpg", b"tab\t.jpg", b"back\\slash.jpg"]
    )


def test_folders_of_others_are_avoided(tmp_path: Path) -> None:
    _touch(tmp_path, "a.jpg", "theirs/b.jpg")
    key = folder_key(tmp_path / "theirs")
    assert key is not None
    items = walk(tmp_path, below=b"", avoid=frozenset({key}))
    assert [item.relpath for item in items] == [b"a.jpg"]
