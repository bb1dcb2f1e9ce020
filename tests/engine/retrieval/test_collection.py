"""Snapshots: what was committed, frozen, and renewed when asked."""

from pathlib import Path

import numpy as np

from engine.jobs import Ticket
from engine.retrieval.collection import Collection
from engine.store.database import Database
from engine.store.paths import LibraryPaths
from engine.store.vectors import VectorStore
from tests.engine.retrieval.conftest import DIM, Made


def test_a_snapshot_stays_as_it_was_until_the_next_is_published(made: Made) -> None:
    made.add(5)
    first = made.collection.snapshot(Ticket())
    made.add(3)
    assert made.collection.snapshot(Ticket()) is first
    made.collection.publish()
    second = made.collection.snapshot(Ticket())
    assert (len(first), len(second)) == (5, 8)
    np.testing.assert_array_equal(second.descriptors[:5], first.descriptors)
    assert len(first.index.search(first.descriptors[0], 100)[0]) == 5


def test_publishing_builds_nothing_while_nobody_searches(made: Made) -> None:
    made.add(2)
    made.collection.publish()
    made.add(2)
    assert len(made.collection.snapshot(Ticket())) == 4


def test_nothing_new_is_no_new_snapshot(made: Made) -> None:
    made.add(2)
    snapshot = made.collection.snapshot(Ticket())
    made.collection.publish()
    assert made.collection.snapshot(Ticket()) is snapshot


def test_rows_that_were_not_committed_are_not_seen(made: Made) -> None:
    made.add(4)
    rows = made.collection.vectors.descriptors(4).astype(np.float32)
    boxes = np.zeros((1, 4), dtype=np.float32)
    codes = made.collection.codec.encode(rows[:1], rows[:1], np.zeros(1, int))
    made.collection.vectors.append(rows[:1], codes, boxes)
    made.collection.vectors.flush()
    assert len(made.collection.snapshot(Ticket())) == 4


def test_a_reader_sees_what_another_process_commits(made: Made, tmp_path: Path) -> None:
    made.add(3)
    paths, record = LibraryPaths(tmp_path), made.collection.record
    database = Database.open(paths, writable=False)
    codec = made.collection.codec
    vectors = VectorStore.open(
        paths.vectors(record.key), dim=DIM, region_bytes=codec.width, writable=False
    )
    reading = Collection(
        database, record, vectors, codec=codec, index_cache=paths.index(record.key)
    )
    assert len(reading.snapshot(Ticket())) == 3
    made.add(2)
    assert len(reading.snapshot(Ticket())) == 5
    reading.close()
    database.close()
    assert not paths.index(record.key).exists()
