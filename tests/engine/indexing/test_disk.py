"""A disk that is full, or may only be read: a plain reason, and nothing lost."""

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import LibraryError
from engine.store.database import Database
from engine.store.paths import LibraryPaths
from engine.store.table import load_table
from engine.store.vectors import VectorStore
from tests.fakes.fast_extractor import DIM
from tests.fakes.painted import paint_album
from tests.fakes.rights import as_ordinary_user
from tests.fakes.small_library import CODEC, NETWORK, SmallLibrary, small_library


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte, where the system lets us mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux may mount a small disk")
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_ends_the_job_with_a_reason_and_room_lets_it_go_on(
    tiny_disk: Path, album: Path
) -> None:
    paint_album(album, 40)
    ballast = tiny_disk / "ballast"
    with small_library(tiny_disk / "library") as library:
        library.index(album)
        paint_album(album, 30, first=40)
        _fill(ballast)
        with pytest.raises(LibraryError, match="disk is full"):
            library.index(album)
        assert len(load_table(library.database, NETWORK.key)) >= 40
        assert library.problems() == ()
        ballast.unlink()
        report = library.index(album)
        assert report.indexed + report.unchanged == 70
        assert library.problems() == ()


def _fill(ballast: Path) -> None:
    """Take all room that is left, in blocks of the system's size."""
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"\0" * 4096):
            pass


def test_a_disk_that_fills_up_slowly_never_harms_what_is_there(
    tiny_disk: Path, album: Path
) -> None:
    paint_album(album, 60)
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(b"\0" * 900_000)
    for left in range(900_000, -1, -30_000):
        os.truncate(ballast, left)
        try:
            with small_library(tiny_disk / "library") as library:
                library.index(album)
        except LibraryError as error:
            assert "full" in error.reason or "failed" in error.reason  # noqa: PT017
    with small_library(tiny_disk / "library") as library:
        assert library.index(album).unchanged == 60
        assert library.problems() == ()


def test_vectors_that_cannot_be_flushed_leave_the_library_as_it_was(
    library: SmallLibrary, album: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint_album(album, 10)
    library.index(album)
    before = library.vectors.whole_rows()
    paint_album(album, 10, first=10)

    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(LibraryError, match="disk is full"):
        library.index(album)
    monkeypatch.undo()
    assert library.vectors.whole_rows() == before
    assert len(load_table(library.database, NETWORK.key)) == 10
    assert library.problems() == ()
    assert library.index(album).indexed == 10


def test_a_limit_on_the_size_of_files_is_a_full_disk(library: SmallLibrary, album: Path) -> None:
    resource = pytest.importorskip("resource", reason="no such limit on Windows")
    paint_album(album, 30)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (DIM * 4 * 9, hard))
    try:
        with pytest.raises(LibraryError):
            library.index(album)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert library.problems() == ()
    report = library.index(album)
    assert report.indexed + report.unchanged == 30
    assert library.problems() == ()


@pytest.mark.skipif(os.name == "nt", reason="permissions are another matter on Windows")
def test_a_read_only_library_says_so_and_can_still_be_read(tmp_path: Path) -> None:
    album = tmp_path / "album"
    paint_album(album, 5)
    root = tmp_path / "home" / "library"
    root.parent.mkdir()
    with small_library(root) as library:
        library.index(album)
    with as_ordinary_user(root):
        for path in (*root.rglob("*"), root):
            path.chmod(0o500 if path.is_dir() else 0o400)
        with pytest.raises(LibraryError, match="only be read"):
            SmallLibrary(root)
        with pytest.raises(LibraryError, match="only be read"):
            VectorStore.open(
                LibraryPaths(root).vectors(NETWORK.key),
                dim=DIM,
                region_bytes=CODEC.width,
                writable=True,
            )
        database = Database.open(LibraryPaths(root), writable=False)
        assert len(load_table(database, NETWORK.key)) == 5
        database.close()
