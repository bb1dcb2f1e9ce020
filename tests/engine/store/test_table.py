from pathlib import Path

import numpy as np
import pytest

from engine.errors import NetworkError
from engine.store.database import Database
from engine.store.networks import NetworkRecord, activate, active_network, all_networks, register
from engine.store.paths import LibraryPaths
from engine.store.table import load_table, recover
from engine.store.vectors import VectorStore

_KEY = "n-1"


def _commit(database: Database, photo_id: int, row: int, start: int, count: int) -> None:
    with database.write() as connection:
        connection.execute(
            "INSERT INTO photos (id, identity) VALUES (?, ?)", (photo_id, str(photo_id))
        )
        connection.execute(
            "INSERT INTO vectors VALUES (?, (SELECT id FROM networks WHERE key = ?), ?, ?, ?)",
            (photo_id, _KEY, row, start, count),
        )


def _append(store: VectorStore, regions: int) -> tuple[int, int]:
    return store.append(
        np.ones((1, store.dim), np.float32),
        np.ones((regions, 6), np.uint8),
        np.ones((regions, 4), np.float32),
    )


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    opened = VectorStore.open(tmp_path / "vectors", dim=3, region_bytes=6, writable=True)
    opened.close()
    return opened


def test_the_table_is_in_row_order(database: Database) -> None:
    register(database, NetworkRecord(_KEY, "{}", "{}"))
    for photo_id, row, start, count in ((5, 1, 4, 0), (9, 0, 0, 4), (2, 2, 4, 7)):
        _commit(database, photo_id, row, start, count)
    table = load_table(database, _KEY)
    assert table.photo_ids.tolist() == [9, 5, 2]
    assert table.region_start.tolist() == [0, 4, 4]
    assert table.region_count.tolist() == [4, 0, 7]
    assert (len(table), table.region_rows) == (3, 11)
    assert [table.photo_ids.dtype, table.region_start.dtype, table.region_count.dtype] == [
        np.int64,
        np.int64,
        np.int32,
    ]


def test_an_unknown_network_has_an_empty_table(database: Database) -> None:
    table = load_table(database, "none")
    assert (len(table), table.region_rows) == (0, 0)


@pytest.mark.parametrize("tail", [0, 1, 5])
def test_recovery_cuts_off_what_was_not_committed(
    database: Database, tmp_path: Path, tail: int
) -> None:
    register(database, NetworkRecord(_KEY, "{}", "{}"))
    with VectorStore.open(tmp_path / "v", dim=3, region_bytes=6, writable=True) as store:
        for photo_id in (1, 2, 3):
            _commit(database, photo_id, *_append(store, 2), 2)
        for _ in range(tail):
            _append(store, 4)
        assert recover(database, store, _KEY) == 0
        assert store.whole_rows() == (3, 6)
        assert _append(store, 1) == (3, 6)


@pytest.mark.parametrize(
    ("name", "size", "kept"),
    [
        ("descriptors.f16", 2 * 6, 2),
        ("descriptors.f16", 2 * 6 + 5, 2),
        ("descriptors.f16", 0, 0),
        ("regions.bin", 5 * 6, 2),
        ("regions.bin", 6 * 6 - 1, 2),
        ("boxes.f32", 1 * 16, 0),
    ],
)
def test_recovery_gives_up_rows_that_the_files_have_lost(
    database: Database, tmp_path: Path, name: str, size: int, kept: int
) -> None:
    register(database, NetworkRecord(_KEY, "{}", "{}"))
    with VectorStore.open(tmp_path / "v", dim=3, region_bytes=6, writable=True) as store:
        for photo_id in (1, 2, 3):
            _commit(database, photo_id, *_append(store, 2), 2)
    with (tmp_path / "v" / name).open("r+b") as file:
        file.truncate(size)
    with VectorStore.open(tmp_path / "v", dim=3, region_bytes=6, writable=True) as store:
        assert recover(database, store, _KEY) == 3 - kept
        assert len(load_table(database, _KEY)) == kept
        assert store.whole_rows() == (kept, 2 * kept)


def test_the_first_network_is_the_active_one_until_another_is_chosen(database: Database) -> None:
    first, second = NetworkRecord("a", "{}", "{}"), NetworkRecord("b", "[]", "{}")
    assert active_network(database) is None
    assert register(database, first) == register(database, first)
    register(database, second)
    assert active_network(database) == first
    activate(database, "b")
    assert active_network(database) == second
    assert all_networks(database) == (first, second)
    with pytest.raises(NetworkError, match="knows no network"):
        activate(database, "c")
    assert active_network(database) == second


def test_paths_and_keys_meet(paths: LibraryPaths) -> None:
    assert paths.vectors(_KEY).name == _KEY
