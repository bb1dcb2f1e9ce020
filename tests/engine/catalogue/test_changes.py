"""What happens to photos when files move, come, go and change."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.catalogue import identify as identify_module
from engine.catalogue.identify import unread_count
from engine.catalogue.photos import by_path, overview, placeless
from engine.catalogue.roots import resolve
from engine.catalogue.work import needs_work
from engine.jobs import Cancelled, Ticket
from engine.media.identity import identity
from engine.types import PhotoState
from tests.fakes.painted import paint, paint_album
from tests.fakes.rights import as_ordinary_user
from tests.fakes.small_library import NETWORK, SmallLibrary


def _ids(library: SmallLibrary) -> dict[str, int]:
    return {photo.path.name: photo.id for photo in library.photos()}


def _nothing_left_to_do(library: SmallLibrary) -> bool:
    database = library.database
    unread = unread_count(database, resolve(database, []))
    return not unread and not list(needs_work(database, NETWORK.key))


def test_report_01_a_folder_that_went_away_is_offline_and_comes_back_as_it_was(
    library: SmallLibrary, album: Path, tmp_path: Path
) -> None:
    paint_album(album, 6)
    library.index(album)
    before = library.photos()
    album.rename(tmp_path / "elsewhere")
    report = library.index()
    assert (report.found, report.offline, report.passes) == (0, 6, 0)
    assert "offline" in report.skipped[0].reason
    assert {photo.state for photo in library.photos()} == {PhotoState.OFFLINE}
    assert [folder.online for folder in overview(library.database).folders] == [False]
    (tmp_path / "elsewhere").rename(album)
    report = library.index()
    assert (report.unchanged, report.offline, report.passes) == (6, 0, 0)
    assert library.photos() == before


def test_report_01_an_empty_mount_point_is_offline_not_empty(
    library: SmallLibrary, album: Path, tmp_path: Path
) -> None:
    paint_album(album, 4)
    library.index(album)
    before = library.photos()
    shutil.copytree(album, tmp_path / "kept")
    for photo in album.iterdir():
        photo.unlink()
    report = library.index(album)
    assert (report.found, report.offline) == (0, 4)
    shutil.copytree(tmp_path / "kept", album, dirs_exist_ok=True)
    assert library.index(album).passes == 0
    assert library.photos() == before


def test_report_01_a_folder_that_goes_away_under_way_fails_no_photo(
    library: SmallLibrary, album: Path, tmp_path: Path
) -> None:
    paint_album(album, 20)
    tasks_seen = library.inline_pool.tasks

    class Unplugging(Ticket):
        def update(self, stage: str, done: int, total: int) -> None:
            if len(tasks_seen) == 7 and album.exists():
                album.rename(tmp_path / "unplugged")
            super().update(stage, done, total)

    report = library.index(album, ticket=Unplugging())
    assert 0 < report.passes < 20
    assert (report.failed, report.offline) == (0, 20)
    assert [failure.path for failure in report.skipped] == [album]
    assert "went offline" in report.skipped[0].reason
    (tmp_path / "unplugged").rename(album)
    report = library.index(album)
    assert (report.failed, report.indexed + report.unchanged) == (0, 20)
    assert library.problems() == ()


def test_report_03_a_renamed_folder_keeps_its_photos(
    library: SmallLibrary, album: Path, tmp_path: Path
) -> None:
    paint_album(album, 5)
    library.index(album)
    before = _ids(library)
    album.rename(tmp_path / "renamed")
    report = library.index(tmp_path / "renamed")
    assert (report.indexed, report.unchanged, report.passes) == (0, 5, 0)
    assert _ids(library) == before
    assert {photo.path.parent for photo in library.photos()} <= {tmp_path / "renamed", album}
    library.index()
    assert {photo.path.parent for photo in library.photos()} == {tmp_path / "renamed"}
    assert {photo.state for photo in library.photos()} == {PhotoState.READY}


def test_report_04_a_moved_file_is_the_same_photo_in_one_step(
    library: SmallLibrary, album: Path
) -> None:
    paint_album(album, 5)
    library.index(album)
    before = _ids(library)
    (album / "new").mkdir()
    (album / "photo_002.jpg").rename(album / "new" / "renamed.jpg")
    report = library.index()
    assert (report.unchanged, report.copies, report.offline, report.passes) == (5, 0, 0, 0)
    after = _ids(library)
    assert after.pop("renamed.jpg") == before.pop("photo_002.jpg")
    assert after == before
    assert by_path(library.database, album / "photo_002.jpg") is None


def test_report_04_a_file_replaced_by_a_copy_of_a_vanished_one_comes_back(
    library: SmallLibrary, album: Path
) -> None:
    paint_album(album, 2)
    library.index(album)
    before = _ids(library)
    (album / "photo_000.jpg").replace(album / "photo_001.jpg")
    library.index()
    assert set(_ids(library).values()) == {before["photo_000.jpg"]}
    assert by_path(library.database, album / "photo_001.jpg") == before["photo_000.jpg"]
    assert placeless(library.database) == {before["photo_001.jpg"]}
    paint(album / "again.jpg", 1)
    assert library.index().passes == 0
    assert by_path(library.database, album / "again.jpg") == before["photo_001.jpg"]
    assert placeless(library.database) == frozenset()
    assert library.problems() == ()


def test_files_that_swap_names_swap_photos(library: SmallLibrary, album: Path) -> None:
    one, two = paint_album(album, 2)
    library.index(album)
    before = _ids(library)
    one.rename(album / "aside")
    two.rename(one)
    (album / "aside").rename(two)
    assert library.index().passes == 0
    assert _ids(library) == {
        one.name: before[two.name],
        two.name: before[one.name],
    }


def test_a_deleted_file_is_offline_and_never_forgotten(library: SmallLibrary, album: Path) -> None:
    paint_album(album, 3)
    library.index(album)
    before = _ids(library)
    (album / "photo_001.jpg").unlink()
    report = library.index()
    assert (report.found, report.unchanged, report.offline) == (2, 2, 1)
    assert _ids(library) == before
    states = {photo.path.name: photo.state for photo in library.photos()}
    assert states["photo_001.jpg"] is PhotoState.OFFLINE
    paint(album / "photo_001.jpg", 1)
    assert library.index().passes == 0
    assert {photo.state for photo in library.photos()} == {PhotoState.READY}


def test_report_14_what_lies_in_a_folder_that_was_closed_stays_known(
    library: SmallLibrary, album: Path
) -> None:
    paint_album(album, 2)
    paint_album(album / "sub", 3, first=5)
    library.index(album)
    before = library.photos()
    with as_ordinary_user(album, library.paths.root):
        (album / "sub").chmod(0)
        report = library.index()
        (album / "sub").chmod(0o700)
    assert report.found == 2
    assert [failure.path for failure in report.skipped] == [album / "sub"]
    assert library.photos() == before


def test_report_23_an_edited_photo_is_indexed_again_and_nothing_needs_work(
    library: SmallLibrary, album: Path
) -> None:
    paint_album(album, 4)
    library.index(album)
    before = _ids(library)
    paint(album / "photo_002.jpg", 77)
    report = library.index()
    assert (report.indexed, report.unchanged, report.passes) == (1, 3, 1)
    after = _ids(library)
    assert after.pop("photo_002.jpg") != before.pop("photo_002.jpg")
    assert after == before
    assert _nothing_left_to_do(library)


def test_report_23_an_edit_within_one_tick_of_the_clock_is_not_missed(
    library: SmallLibrary, album: Path
) -> None:
    photo = paint(album / "a.bmp", 1)
    library.index(album)
    facts = photo.stat()
    paint(photo, 2)  # as many bytes as before
    os.utime(photo, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert photo.stat().st_size == facts.st_size
    assert library.index().indexed == 1


def test_an_old_file_with_the_same_size_and_time_is_not_read_again(
    library: SmallLibrary, album: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for photo in paint_album(album, 3):
        os.utime(photo, (1_500_000_000, 1_500_000_000))
    library.index(album)
    monkeypatch.setattr(identify_module, "identity", _never)
    assert library.index().unchanged == 3
    os.utime(album / "photo_001.jpg", (1_500_000_001, 1_500_000_001))
    with pytest.raises(AssertionError, match="was read"):
        library.index()


def _never(path: Path) -> str:
    raise AssertionError(f"{path} was read")


def test_a_file_that_changes_while_it_is_read_waits_for_the_next_time(
    library: SmallLibrary, album: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint_album(album, 3)

    def slow(path: Path) -> str:
        told = identity(path)
        if path.name == "photo_001.jpg":
            with path.open("ab") as file:
                file.write(b"more")
        return told

    monkeypatch.setattr(identify_module, "identity", slow)
    report = library.index(album)
    assert (report.found, report.indexed, report.failed) == (3, 2, 0)
    assert [failure.path for failure in report.skipped] == [album / "photo_001.jpg"]
    assert "changed" in report.skipped[0].reason
    monkeypatch.undo()
    report = library.index()
    assert (report.indexed, report.unchanged, report.skipped) == (1, 2, ())
    assert _nothing_left_to_do(library)


def _rewrite(path: Path) -> None:
    paint(path, 500)


def _remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(("meddle", "left"), [(_rewrite, 6), (_remove, 5)])
def test_a_file_that_changes_between_reading_and_decoding_is_taken_up_again(
    library: SmallLibrary, album: Path, meddle: Callable[[Path], None], left: int
) -> None:
    paint_album(album, 6)
    victim = album / "photo_003.jpg"

    class Meddling(Ticket):
        meddled = False

        def update(self, stage: str, done: int, total: int) -> None:
            if stage == "indexing" and done == 1 and not self.meddled:
                self.meddled = True
                meddle(victim)
            super().update(stage, done, total)

    report = library.index(album, ticket=Meddling())
    assert (report.failed, report.indexed) == (0, left)
    if victim.exists():
        told = by_path(library.database, victim)
        assert told is not None
        assert told == _ids(library)[victim.name]
    assert _nothing_left_to_do(library)
    assert library.problems() == ()


def test_a_cancelled_scan_leaves_what_it_has_seen_and_goes_on_later(
    library: SmallLibrary, album: Path
) -> None:
    paint_album(album, 12)

    class Impatient(Ticket):
        def update(self, stage: str, done: int, total: int) -> None:
            if stage == "scanning" and done == 7:
                self.cancel()
            super().update(stage, done, total)

    with pytest.raises(Cancelled):
        library.index(album, ticket=Impatient())
    assert library.index(album).indexed == 12


@pytest.mark.skipif(os.name == "nt", reason="permissions are another matter on Windows")
def test_a_file_without_permission_is_a_row_with_its_reason_until_it_can_be_read(
    library: SmallLibrary, album: Path
) -> None:
    paint_album(album, 3)
    closed = album / "photo_001.jpg"
    with as_ordinary_user(album, library.paths.root):
        closed.chmod(0)
        report = library.index(album)
        assert (report.indexed, report.failed) == (2, 1)
        assert report.failures[0].path == closed
        assert "permission" in report.failures[0].reason
        (photo,) = [photo for photo in library.photos() if photo.path == closed]
        assert (photo.state, photo.id < 0) == (PhotoState.FAILED, True)
        assert library.index().failed == 1
        closed.chmod(0o600)
        report = library.index()
    assert (report.indexed, report.unchanged, report.failed) == (1, 2, 0)
    assert library.problems() == ()
