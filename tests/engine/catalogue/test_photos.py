import os
from pathlib import Path

import pytest

from engine.catalogue import photos
from engine.media.identity import identity
from engine.requests import PhotoFilter, PhotosRequest
from engine.types import PhotoState, Size
from tests.fakes.painted import paint, paint_album
from tests.fakes.small_library import SmallLibrary


def test_pages_join_into_all_photos_in_the_order_of_folder_and_path(
    library: SmallLibrary, tmp_path: Path
) -> None:
    first, second = tmp_path / "zoo", tmp_path / "album"
    names = paint_album(first, 7) + paint_album(second, 6, first=7)
    library.index(first)
    library.index(second)
    pages = [
        photos.page(library.database, PhotosRequest(offset=offset, limit=5))
        for offset in (0, 5, 10, 15)
    ]
    assert [page.total for page in pages] == [13] * 4
    assert [photo.path for page in pages for photo in page.photos] == names
    assert pages[2].offset == 10


def test_a_photo_tells_what_is_known_of_it(library: SmallLibrary, album: Path) -> None:
    paint(album / "a.png", 1, w=300, h=200)
    library.index(album)
    (photo,) = library.photos()
    assert photo.state is PhotoState.READY
    assert photo.size == Size(300, 200)
    assert photo.reason is None
    assert photos.by_ids(library.database, [photo.id, 999]) == {photo.id: photo}
    assert photos.by_path(library.database, album / "a.png") == photo.id
    assert photos.by_path(library.database, album / "b.png") is None
    assert photos.by_identity(library.database, identity(album / "a.png")) == photo.id
    assert photos.by_identity(library.database, "0" * 32) is None


def test_by_ids_keeps_the_order_it_was_asked_in(library: SmallLibrary, album: Path) -> None:
    paint_album(album, 5)
    library.index(album)
    ids = [photo.id for photo in library.photos()][::-1]
    assert list(photos.by_ids(library.database, ids)) == ids
    assert photos.by_ids(library.database, []) == {}


def test_report_11_failures_are_listed_with_their_reasons(
    library: SmallLibrary, album: Path
) -> None:
    paint_album(album, 3)
    (album / "text.jpg").write_text("no picture")
    (album / "empty.jpg").touch()
    library.index(album)
    failed = photos.page(library.database, PhotosRequest(show=PhotoFilter.FAILED))
    assert failed.total == 2
    assert [photo.path.name for photo in failed.photos] == ["empty.jpg", "text.jpg"]
    assert all(photo.state is PhotoState.FAILED and photo.reason for photo in failed.photos)
    seen = photos.overview(library.database)
    assert (seen.photos, seen.ready, seen.failed, seen.writable) == (5, 3, 2, True)


def test_a_copy_is_a_second_place_of_one_photo(library: SmallLibrary, album: Path) -> None:
    first = paint(album / "b.jpg", 1)
    (album / "a.jpg").write_bytes(first.read_bytes())
    (album / "sub").mkdir()
    (album / "sub" / "c.jpg").write_bytes(first.read_bytes())
    report = library.index(album)
    assert (report.found, report.indexed, report.copies, report.passes) == (3, 1, 2, 1)
    (photo,) = library.photos()
    assert photo.path == album / "a.jpg"
    assert {photos.by_path(library.database, album / name) for name in ("b.jpg", "sub/c.jpg")} == {
        photo.id
    }
    # The place where it is listed goes: it is listed at another one.
    (album / "a.jpg").unlink()
    library.index()
    (photo,) = library.photos()
    assert (photo.path, photo.state) == (album / "b.jpg", PhotoState.READY)
    assert library.problems() == ()


def test_an_empty_library_is_an_empty_page(library: SmallLibrary) -> None:
    assert photos.page(library.database, PhotosRequest()).total == 0
    seen = photos.overview(library.database)
    assert (seen.folders, seen.photos, seen.ready, seen.failed) == ((), 0, 0, 0)


@pytest.mark.skipif(os.name == "nt", reason="Windows demands text as names")
def test_names_that_are_no_text_can_be_indexed_and_looked_up(
    library: SmallLibrary, album: Path
) -> None:
    names = [os.fsdecode(name) for name in (b"gr\xfc\xdfe.jpg", b"two\nlines.jpg", b"'; --.jpg")]
    for number, name in enumerate(names):
        paint(album / name, number)
    odd = album / os.fsdecode(b"folder\xff\n")
    paint(odd / "in.jpg", 99)
    report = library.index(album)
    assert (report.indexed, report.failed) == (4, 0)
    assert {photo.path for photo in library.photos()} == {
        *(album / name for name in names),
        odd / "in.jpg",
    }
    assert all(photos.by_path(library.database, photo.path) for photo in library.photos())
    assert library.index(odd).unchanged == 1
