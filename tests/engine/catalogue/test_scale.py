"""What a large library costs, counted in steps of SQLite's machine: the same on any computer."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.catalogue import identify, photos
from engine.catalogue.roots import resolve
from engine.catalogue.work import needs_work
from engine.requests import PhotosRequest
from engine.store.database import Database
from engine.store.paths import LibraryPaths

_SMALL, _LARGE = 3_000, 30_000


def _library(root: Path, photos_: int) -> Database:
    """Of so many photos, none of which any network has seen, and a tenth of them unread."""
    database = Database.open(LibraryPaths(root), writable=True)
    with database.write() as connection:
        connection.execute("INSERT INTO folders (path) VALUES (?)", (os.fsencode(root / "none"),))
        connection.executemany(
            "INSERT INTO photos (identity) VALUES (?)", [(f"{n:032x}",) for n in range(photos_)]
        )
        connection.executemany(
            """
            INSERT INTO files (folder_id, relpath, size, mtime_ns, photo_id, read, shown)
            VALUES (1, ?, 1, 1, ?, ?, 1)
            """,
            [(b"d%03d/%07d.jpg" % (n % 100, n), n + 1, n % 10 > 0) for n in range(photos_)],
        )
    return database


def _steps(database: Database, ask: Callable[[Database], object]) -> int:
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    connection = database._connection()
    connection.set_progress_handler(step, 10)
    ask(database)
    connection.set_progress_handler(None, 0)
    return count


def _first_work(database: Database) -> object:
    return next(needs_work(database, "n", scopes=resolve(database, [])))


def _work_among(database: Database) -> object:
    ids = range(1, 65)
    return list(needs_work(database, "n", scopes=resolve(database, []), among=ids))


def _first_unread(database: Database) -> object:
    return identify._next(database, resolve(database, []), 0)


def _some_ids(database: Database) -> object:
    return photos.by_ids(database, range(100, 200))


@pytest.mark.parametrize("ask", [_first_work, _work_among, _first_unread, _some_ids])
def test_a_handful_costs_the_same_in_a_library_ten_times_as_large(
    tmp_path: Path, ask: Callable[[Database], object]
) -> None:
    small, large = _library(tmp_path / "small", _SMALL), _library(tmp_path / "large", _LARGE)
    assert _steps(large, ask) < 1.5 * _steps(small, ask) + 10
    small.close()
    large.close()


def test_the_last_page_is_found_by_counting_alone(tmp_path: Path) -> None:
    """Skipping a photo must cost a few steps, far fewer than looking at it."""
    large = _library(tmp_path / "large", _LARGE)
    last = PhotosRequest(offset=_LARGE - 50, limit=50)
    assert photos.page(large, last).total == _LARGE
    assert _steps(large, lambda database: photos.page(database, last)) * 10 < 15 * _LARGE
    large.close()
