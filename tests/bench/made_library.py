"""A library as large as wanted, made of the features of a few real photos with noise."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.config import FeatureSettings
from engine.features.codes import codec_for
from engine.jobs import Ticket
from engine.media.pool import DecodeTask
from engine.network.network import Network, PhotoFeatures
from engine.retrieval.collection import Collection
from engine.store.database import Database
from engine.store.networks import NetworkRecord, register
from engine.store.paths import LibraryPaths
from engine.store.vectors import VectorStore
from engine.types import FloatArray, Picture, Size
from tests.fakes.inline_pool import InlinePool

NOISE = 0.4
"""Length of the noise beside a vector of unit length: copies of one photo have a cosine of .86."""
_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class SeenPhoto:
    """A real photo: its upright size and what the network told of it."""

    size: Size
    features: PhotoFeatures


def see(network: Network, files: Sequence[Path], *, size_px: int) -> list[SeenPhoto]:
    """The features of real photos, decoded as indexing does."""
    pool = InlinePool()
    seen: list[SeenPhoto] = []
    for first in range(0, len(files), _AT_ONCE):
        tasks = [
            DecodeTask(number, Picture(file), max_side_px=size_px, thumbnail_px=None)
            for number, file in enumerate(files[first : first + _AT_ONCE])
        ]
        decoded = [pool.decode(task) for task in tasks]
        found = network.extract([photo.pixels for photo in decoded])
        seen += [
            SeenPhoto(photo.facts.size, one) for photo, one in zip(decoded, found, strict=True)
        ]
    return seen


class MadeLibrary:
    """``count`` photos, each one of those that were seen, with noise of its own."""

    def __init__(
        self, ground: Path, seen: Sequence[SeenPhoto], count: int, *, features: FeatureSettings
    ) -> None:
        dim = len(seen[0].features.descriptor)
        paths = LibraryPaths(ground)
        self.database = Database.open(paths, writable=True)
        record = NetworkRecord("made-of-real-photos", "{}", features.to_json())
        register(self.database, record)
        codec = codec_for(features.codec, dim)
        vectors = VectorStore.open(
            paths.vectors(record.key), dim=dim, region_bytes=codec.width, writable=True
        )
        self.collection = Collection(
            self.database, record, vectors, codec=codec, index_cache=paths.index(record.key)
        )
        self._folder = self._add_folder(ground / "album")
        chance = np.random.default_rng(0)
        for first in range(0, count, _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, count))
            self._add([seen[number % len(seen)] for number in numbers], first, chance)
        vectors.flush()
        self.collection.snapshot(Ticket())

    def close(self) -> None:
        """Let the files go."""
        self.collection.close()
        self.database.close()

    def _add_folder(self, folder: Path) -> int:
        with self.database.write() as connection:
            (folder_id,) = connection.execute(
                "INSERT INTO folders (path) VALUES (?) RETURNING id", (os.fsencode(folder),)
            ).fetchone()
        return int(folder_id)

    def _add(self, photos: Sequence[SeenPhoto], number: int, chance: np.random.Generator) -> None:
        """Photos that are called after the numbers from ``number`` on."""
        descriptors = _noisy(np.stack([one.features.descriptor for one in photos]), chance)
        regions = _noisy(np.concatenate([one.features.regions for one in photos]), chance)
        boxes = np.concatenate([one.features.boxes for one in photos])
        counts = [len(one.features.regions) for one in photos]
        owners = np.repeat(np.arange(len(photos)), counts)
        codes = self.collection.codec.encode(regions, descriptors, owners)
        row, region = self.collection.vectors.append(descriptors, codes, boxes)
        with self.database.write() as connection:
            for place, (photo, count) in enumerate(zip(photos, counts, strict=True)):
                self._commit(connection, photo.size, number + place, row + place, region, count)
                region += count

    def _commit(
        self,
        connection: sqlite3.Connection,
        size: Size,
        number: int,
        row: int,
        region: int,
        count: int,
    ) -> None:
        (photo_id,) = connection.execute(
            "INSERT INTO photos (identity, width, height) VALUES (?, ?, ?) RETURNING id",
            (f"photo {number}", size.w, size.h),
        ).fetchone()
        connection.execute(
            """
            INSERT INTO files (folder_id, relpath, size, mtime_ns, photo_id, read, shown)
            VALUES (?, ?, 1, 1, ?, 1, 1)
            """,
            (self._folder, b"%d.jpg" % number, photo_id),
        )
        connection.execute(
            """
            INSERT INTO vectors (photo_id, network_id, row, region_start, region_count)
            VALUES (?, (SELECT id FROM networks), ?, ?, ?)
            """,
            (photo_id, row, region, count),
        )


def _noisy(rows: FloatArray, chance: np.random.Generator) -> FloatArray:
    """Unit rows near these, not negative as they are not."""
    noise = chance.standard_normal(rows.shape, dtype=np.float32)
    moved = np.abs(rows + noise * np.float32(NOISE / np.sqrt(rows.shape[1])))
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(moved / lengths, dtype=np.float32)
