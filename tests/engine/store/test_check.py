from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.store.check import inspect
from engine.store.paths import LibraryPaths
from engine.store.table import load_table
from tests.fakes.fast_extractor import DIM
from tests.fakes.painted import paint_album
from tests.fakes.small_library import CODEC, NETWORK, SmallLibrary, small_library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[SmallLibrary]:
    paint_album(tmp_path / "album", 6)
    with small_library(tmp_path / "library") as opened:
        opened.index(tmp_path / "album")
        yield opened


def _write(library: SmallLibrary, statement: str) -> None:
    with library.database.write() as connection:
        connection.execute(statement)


def test_a_sound_library_has_no_problems(library: SmallLibrary) -> None:
    assert inspect(library.database, library.paths) == ()


def test_an_empty_library_has_no_problems(tmp_path: Path) -> None:
    with small_library(tmp_path / "empty") as library:
        assert library.problems() == ()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE vectors SET row = row + 10 WHERE row = 5", "vector rows between 0 and 15"),
        ("UPDATE vectors SET region_start = 2 WHERE row = 3", "overlap or leave gaps"),
        ("UPDATE vectors SET region_count = 9 WHERE row = 5", "shorter than the library says"),
        ("UPDATE files SET shown = 0 WHERE id = 1", "listed at no place"),
        ("UPDATE files SET photo_id = NULL WHERE id = 1", "neither a photo nor a failure"),
        ("UPDATE photos SET width = NULL WHERE id = 1", "no size"),
        ("INSERT INTO failures VALUES (1, 1, 'why')", "network that failed for them"),
    ],
)
def test_what_cannot_be_true_is_found(library: SmallLibrary, statement: str, said: str) -> None:
    _write(library, statement)
    assert any(said in problem for problem in library.problems()), library.problems()


def test_rows_that_point_nowhere_are_found(library: SmallLibrary) -> None:
    connection = library.database._connection()
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("DELETE FROM photos WHERE id = 1")
    connection.execute("PRAGMA foreign_keys = ON")
    assert any("points at rows that are not there" in line for line in library.problems())


@pytest.mark.parametrize(
    ("name", "bad", "said"),
    [
        ("descriptors.f16", np.full(DIM, np.nan, np.float16), "descriptors of 1 photo"),
        ("descriptors.f16", np.zeros(DIM, np.float16), "descriptors of 1 photo"),
        ("regions.bin", np.full(DIM, np.inf, np.float16), "region vectors of 1 photo"),
        ("boxes.f32", np.array([0.5, 0, 0.4, 1], np.float32), "region boxes of 1 photo"),
    ],
)
def test_numbers_that_cannot_be_are_found(
    library: SmallLibrary, name: str, bad: np.ndarray, said: str
) -> None:
    with (library.paths.vectors(NETWORK.key) / name).open("r+b") as file:
        file.seek(bad.nbytes * 2)
        file.write(bad.tobytes())
    assert any(said in problem for problem in library.problems()), library.problems()


def test_lost_files_are_found(library: SmallLibrary) -> None:
    folder = library.paths.vectors(NETWORK.key)
    with (folder / "regions.bin").open("r+b") as file:
        file.truncate(10)
    assert any("shorter" in problem for problem in library.problems())
    for file_ in folder.iterdir():
        file_.unlink()
    assert any("gone" in problem for problem in library.problems())


def test_a_damaged_page_is_found_by_a_reader_that_was_open_before(library: SmallLibrary) -> None:
    path = LibraryPaths(library.paths.root).database
    with library.database.write() as connection:
        connection.executemany(
            "INSERT INTO folders (path) VALUES (?)", [(b"%d" % n * 50,) for n in range(300)]
        )
    library.database._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw = bytearray(path.read_bytes())
    raw[-4096 * 3 :] = b"\xa5" * (4096 * 3)
    path.write_bytes(raw)
    library.database._connection().execute("PRAGMA cache_size = 0")
    assert any("damaged" in problem for problem in library.problems()), library.problems()


def test_the_rest_of_an_interrupted_append_is_no_problem(library: SmallLibrary) -> None:
    before = load_table(library.database, NETWORK.key)
    library.vectors.append(
        np.ones((2, DIM), np.float32),
        np.ones((3, CODEC.width), np.uint8),
        np.ones((3, 4), np.float32),
    )
    assert library.problems() == ()
    assert len(load_table(library.database, NETWORK.key)) == len(before)
