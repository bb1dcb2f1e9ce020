"""A look over the whole library: is what it says true?"""

import sqlite3
from collections.abc import Iterator

import numpy as np

from engine.config import FeatureSettings
from engine.errors import LibraryError, RefocalError
from engine.features.codes import RegionCodec, codec_for
from engine.store.database import Database
from engine.store.networks import NetworkRecord, all_networks
from engine.store.paths import LibraryPaths
from engine.store.table import VectorTable, load_table
from engine.store.vectors import VectorStore, stored_layout

# Photos whose numbers are looked at, spread over the file.
_SAMPLE = 500
_UNIT_WITHIN = 1e-3  # a unit vector of float32 after a division

_RULES = (
    (
        "photos are listed at no place or at several",
        """
        SELECT count(*) FROM (SELECT photo_id FROM files WHERE photo_id IS NOT NULL
        GROUP BY photo_id HAVING sum(shown) <> 1)
        """,
    ),
    (
        "files are said to be read, but are neither a photo nor a failure",
        "SELECT count(*) FROM files WHERE read = 1 AND photo_id IS NULL AND reason IS NULL",
    ),
    (
        "photos have vectors of a network that failed for them",
        """
        SELECT count(*) FROM failures JOIN vectors USING (photo_id, network_id)
        """,
    ),
    (
        "photos have vectors, but no size",
        """
        SELECT count(*) FROM photos WHERE (width IS NULL OR height IS NULL)
        AND id IN (SELECT photo_id FROM vectors)
        """,
    ),
)


def inspect(database: Database, paths: LibraryPaths) -> tuple[str, ...]:
    """What is wrong with a library, one readable line each; empty: nothing.

    Changes nothing, and may run while another process writes.
    """
    problems: list[str] = []
    try:
        with database.read() as connection:
            problems += _database_problems(connection)
            for network in all_networks(database):
                problems += _row_problems(connection, network.key)
                problems += _vector_problems(load_table(database, network.key), paths, network)
    except LibraryError as error:
        problems.append(error.reason)
    return tuple(problems)


def _database_problems(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check(10)"):
        if line != "ok":
            yield f"the database is damaged: {line}"
    broken = {row[0] for row in connection.execute("PRAGMA foreign_key_check")}
    for table in sorted(broken):
        yield f"the database's table {table} points at rows that are not there"
    for what, query in _RULES:
        (count,) = connection.execute(query).fetchone()
        if count:
            yield f"{count} {what}"


def _row_problems(connection: sqlite3.Connection, key: str) -> Iterator[str]:
    rows, photos, first, last = connection.execute(
        """
        SELECT count(DISTINCT row), count(*), min(row), max(row) FROM vectors
        WHERE network_id = (SELECT id FROM networks WHERE key = ?)
        """,
        (key,),
    ).fetchone()
    if photos and (rows, first, last) != (photos, 0, photos - 1):
        yield f"{key}: {photos} photos have {rows} vector rows between {first} and {last}"


def _vector_problems(
    table: VectorTable, paths: LibraryPaths, network: NetworkRecord
) -> Iterator[str]:
    key = network.key
    if not len(table):
        return
    expected = np.concatenate([[0], np.cumsum(table.region_count[:-1], dtype=np.int64)])
    if np.any(table.region_count < 0) or not np.array_equal(expected, table.region_start):
        yield f"{key}: the region rows of the photos overlap or leave gaps"
        return
    folder = paths.vectors(key)
    try:
        layout = stored_layout(folder)
        if layout is None:
            yield f"{key}: {len(table)} photos have vectors, but the vector files are gone"
            return
        codec = codec_for(FeatureSettings.from_json(network.settings).codec, layout.dim)
        with VectorStore.open(
            folder, dim=layout.dim, region_bytes=layout.region_bytes, writable=False
        ) as vectors:
            yield from _number_problems(table, vectors, codec, key)
    except RefocalError as error:
        yield f"{key}: {error.reason}"


def _number_problems(
    table: VectorTable, vectors: VectorStore, codec: RegionCodec, key: str
) -> Iterator[str]:
    descriptors = vectors.descriptors(len(table))
    regions = vectors.regions(table.region_rows)
    boxes = vectors.boxes(table.region_rows)
    wrong: dict[str, int] = {}
    for row in np.unique(np.linspace(0, len(table) - 1, _SAMPLE).astype(np.int64)):
        span = slice(table.region_start[row], table.region_start[row] + table.region_count[row])
        own = descriptors[row : row + 1]
        parts = (
            ("descriptors", _unit(own, _UNIT_WITHIN)),
            ("region vectors", codec.plausible(regions[span])),
            ("region boxes", _proper(boxes[span])),
        )
        for what, good in parts:
            wrong[what] = wrong.get(what, 0) + (not good)
    for what, count in wrong.items():
        if count:
            yield f"{key}: the {what} of {count} photos looked at are not what they can be"


def _unit(vectors: np.ndarray, within: float) -> bool:
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    return bool(np.all(np.abs(norms - 1) < within))


def _proper(boxes: np.ndarray) -> bool:
    return bool(np.all(boxes >= 0) and np.all(boxes <= 1) and np.all(boxes[:, :2] < boxes[:, 2:]))
