"""A snapshot over made-up vectors in a real store."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.config import Codec
from engine.features.codes import codec_for
from engine.jobs import Ticket
from engine.retrieval.collection import Collection
from engine.retrieval.snapshot import Snapshot
from engine.store.database import Database
from engine.store.networks import NetworkRecord, register
from engine.store.paths import LibraryPaths
from engine.store.vectors import VectorStore
from engine.types import FloatArray

DIM, PHOTOS = 16, 40


def unit(rows: NDArray[np.floating]) -> FloatArray:
    """Rows of unit length."""
    scaled: FloatArray = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return scaled


@dataclass
class Made:
    """A collection that grows photo by photo, as indexing lets it grow."""

    collection: Collection
    database: Database
    chance: np.random.Generator

    def add(self, count: int) -> None:
        """Commit photos with 3 to 5 random regions each; the descriptor is their sum."""
        for _ in range(count):
            regions = unit(self.chance.gamma(0.5, size=(self.chance.integers(3, 6), DIM)) + 1e-3)
            boxes = np.tile(np.array([[0, 0, 0.5, 1]], dtype=np.float32), (len(regions), 1))
            descriptor = unit(regions.sum(axis=0, keepdims=True))
            codes = self.collection.codec.encode(regions, descriptor, np.zeros(len(regions), int))
            row, first = self.collection.vectors.append(descriptor, codes, boxes)
            self.collection.vectors.flush()
            with self.database.write() as connection:
                (photo_id,) = connection.execute(
                    "INSERT INTO photos (identity) VALUES (?) RETURNING id", (f"photo {row}",)
                ).fetchone()
                connection.execute(
                    """
                    INSERT INTO vectors (photo_id, network_id, row, region_start, region_count)
                    VALUES (?, (SELECT id FROM networks), ?, ?, ?)
                    """,
                    (photo_id, row, first, len(regions)),
                )


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    paths = LibraryPaths(tmp_path)
    database = Database.open(paths, writable=True)
    record = NetworkRecord("made-up", "{}", "{}")
    register(database, record)
    codec = codec_for(Codec.FLOAT16, DIM)
    vectors = VectorStore.open(
        paths.vectors(record.key), dim=DIM, region_bytes=codec.width, writable=True
    )
    collection = Collection(
        database, record, vectors, codec=codec, index_cache=paths.index(record.key)
    )
    yield Made(collection, database, np.random.default_rng(0))
    collection.close()
    database.close()


@pytest.fixture
def snapshot(made: Made) -> Snapshot:
    made.add(PHOTOS)
    return made.collection.snapshot(Ticket())
