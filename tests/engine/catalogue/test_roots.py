import os
from pathlib import Path

import pytest

from engine.catalogue import roots
from engine.catalogue.photos import overview
from engine.catalogue.scan import scan
from engine.errors import FolderError
from engine.jobs import Ticket
from tests.fakes.painted import paint
from tests.fakes.rights import as_ordinary_user
from tests.fakes.small_library import SmallLibrary


def _folders(library: SmallLibrary) -> list[Path]:
    return [folder.path for folder in overview(library.database).folders]


class TestWrongFolders:
    def test_missing(self, library: SmallLibrary, album: Path) -> None:
        with pytest.raises(FolderError, match="does not exist") as caught:
            scan(library.database, [album / "none"], Ticket())
        assert caught.value.path == album / "none"

    def test_a_file(self, library: SmallLibrary, album: Path) -> None:
        photo = paint(album / "a.jpg", 1)
        with pytest.raises(FolderError, match="is no folder"):
            scan(library.database, [photo], Ticket())

    def test_without_permission(self, library: SmallLibrary, album: Path) -> None:
        paint(album / "a.jpg", 1)
        with as_ordinary_user(album, library.paths.root):
            album.chmod(0)
            with pytest.raises(FolderError, match="no permission"):
                scan(library.database, [album], Ticket())
            album.chmod(0o700)

    def test_the_library_itself(self, library: SmallLibrary) -> None:
        with pytest.raises(FolderError, match="library itself"):
            scan(library.database, [library.paths.root], Ticket())

    def test_a_loop_of_links(self, library: SmallLibrary, album: Path) -> None:
        (album / "loop").symlink_to(album / "loop")
        with pytest.raises(FolderError):
            scan(library.database, [album / "loop"], Ticket())

    def test_an_odd_name_makes_a_plain_line(self, library: SmallLibrary, album: Path) -> None:
        with pytest.raises(FolderError) as caught:
            scan(library.database, [album / os.fsdecode(b"no\n\xff")], Ticket())
        assert caught.value.reason.isprintable()

    def test_one_wrong_folder_among_good_ones_adds_none(
        self, library: SmallLibrary, album: Path
    ) -> None:
        paint(album / "a.jpg", 1)
        with pytest.raises(FolderError):
            scan(library.database, [album, album / "none"], Ticket())
        assert _folders(library) == []

    def test_an_empty_one_is_found_empty_and_not_kept(
        self, library: SmallLibrary, album: Path
    ) -> None:
        assert scan(library.database, [album], Ticket()).found == 0
        assert _folders(library) == []


class TestFoldersInFolders:
    """A file belongs to one folder of the library, however the folders were named."""

    def test_a_part_of_a_known_folder_is_no_new_one(
        self, library: SmallLibrary, album: Path
    ) -> None:
        paint(album / "a.jpg", 1)
        paint(album / "trip" / "b.jpg", 2)
        paint(album / "trip2" / "c.jpg", 3)
        library.index(album)
        paint(album / "trip" / "d.jpg", 4)
        paint(album / "e.jpg", 5)
        report = library.index(album / "trip")
        assert (report.found, report.indexed, report.unchanged) == (2, 1, 1)
        assert _folders(library) == [album]
        assert library.index(album).indexed == 1
        assert len(library.photos()) == 5

    def test_an_outer_folder_leaves_the_inner_one_its_files(
        self, library: SmallLibrary, album: Path
    ) -> None:
        paint(album / "a.jpg", 1)
        paint(album / "trip" / "b.jpg", 2)
        library.index(album / "trip")
        report = library.index(album)
        assert (report.found, report.indexed, report.unchanged, report.copies) == (2, 1, 1, 0)
        assert _folders(library) == [album / "trip", album]
        assert sorted(photo.path for photo in library.photos()) == [
            album / "a.jpg",
            album / "trip" / "b.jpg",
        ]

    def test_both_at_once_and_twice(self, library: SmallLibrary, album: Path) -> None:
        paint(album / "trip" / "b.jpg", 2)
        report = library.index(album / "trip", album, album, album / "trip" / "..")
        assert (report.found, report.indexed) == (1, 1)
        assert _folders(library) == [album]

    def test_another_name_of_a_folder_is_the_same_folder(
        self, library: SmallLibrary, album: Path, tmp_path: Path
    ) -> None:
        paint(album / "a.jpg", 1)
        (tmp_path / "link").symlink_to(album)
        library.index(tmp_path / "link")
        assert library.index(album).unchanged == 1
        assert _folders(library) == [album]

    def test_a_hidden_folder_can_be_added_by_name(self, library: SmallLibrary, album: Path) -> None:
        paint(album / "a.jpg", 1)
        paint(album / ".private" / "b.jpg", 2)
        library.index(album)
        assert library.index(album / ".private").indexed == 1
        assert library.index().found == 2
        assert all(folder.photos == 1 for folder in overview(library.database).folders)

    def test_the_library_inside_a_folder_is_no_part_of_it(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        paint(home / "a.jpg", 1)
        from tests.fakes.small_library import small_library

        with small_library(home / "refocal") as library:
            paint(library.paths.root / "thumbnails" / "x.jpg", 2)
            assert library.index(home).found == 1


def test_names_are_taken_as_the_disk_spells_them(album: Path) -> None:
    (album / "Trips" / "Köln").mkdir(parents=True)
    assert list(roots._names_on_disk(album, ["Trips", "Köln"])) == ["Trips", "Köln"]
