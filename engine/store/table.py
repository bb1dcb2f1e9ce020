"""Which row of the vector files belongs to which photo: what was committed, as arrays."""

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.store.database import Database
from engine.store.vectors import VectorStore

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class VectorTable:
    """The committed rows of one network in row order.

    Row i of the descriptors belongs to photo ``photo_ids[i]``, (N,) int64; its regions are the
    ``region_count[i]``, (N,) int32, region rows from ``region_start[i]``, (N,) int64, on.
    """

    photo_ids: NDArray[np.int64]
    region_start: NDArray[np.int64]
    region_count: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.photo_ids)

    @property
    def region_rows(self) -> int:
        """How many region rows the photos have together."""
        if not len(self):
            return 0
        return int(self.region_start[-1]) + int(self.region_count[-1])


def load_table(database: Database, network_key: str) -> VectorTable:
    """The table of one network; empty where the library does not know it."""
    with database.read() as connection:
        rows = connection.execute(
            """
            SELECT photo_id, region_start, region_count FROM vectors
            WHERE network_id = (SELECT id FROM networks WHERE key = ?) ORDER BY row
            """,
            (network_key,),
        )
        flat = np.fromiter((value for row in rows for value in row), np.int64)
    table = flat.reshape(-1, 3)
    return VectorTable(
        photo_ids=np.ascontiguousarray(table[:, 0]),
        region_start=np.ascontiguousarray(table[:, 1]),
        region_count=table[:, 2].astype(np.int32),
    )


def committed_rows(database: Database, network_key: str) -> int:
    """How many rows the table of one network has."""
    with database.read() as connection:
        (count,) = connection.execute(
            """
            SELECT count(*) FROM vectors
            WHERE network_id = (SELECT id FROM networks WHERE key = ?)
            """,
            (network_key,),
        ).fetchone()
    return int(count)


def recover(database: Database, vectors: VectorStore, network_key: str) -> int:
    """Bring the vector files and the database together after an end that nobody planned.

    Rows behind the committed ones are forgotten. Should the files hold less than was committed
    (a disk that lied, a file that was deleted), the photos concerned lose their row, and so need
    work again. Returns how many those are. Only for the one that writes.
    """
    table = load_table(database, network_key)
    held, held_regions = vectors.whole_rows()
    ends = table.region_start + table.region_count
    kept = min(held, len(table), int(np.searchsorted(ends, held_regions, side="right")))
    lost = len(table) - kept
    if lost:
        _log.warning("the vectors of %d photos are gone from the files of %s", lost, network_key)
        with database.write() as connection:
            connection.execute(
                """
                DELETE FROM vectors WHERE row >= ?
                AND network_id = (SELECT id FROM networks WHERE key = ?)
                """,
                (kept, network_key),
            )
    vectors.truncate(kept, int(ends[kept - 1]) if kept else 0)
    return lost
