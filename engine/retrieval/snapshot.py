"""What a search sees: the photos of one network at one moment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.ann.index import Index
from engine.store.table import VectorTable
from engine.store.vectors import HalfArray
from engine.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The committed photos of one network. Immutable: indexing goes on in a newer one.

    ``descriptors``: (N, D) unit rows, row i of photo ``table.photo_ids[i]``. ``regions`` (ΣR, D)
    and ``boxes`` (ΣR, 4, fractions of the upright photo): the base regions of all photos, photo
    after photo. All three are memory-mapped. ``index_reason``: why this kind of index, one line.
    """

    network_key: str
    table: VectorTable
    descriptors: FloatArray
    regions: HalfArray
    boxes: FloatArray
    index: Index
    index_reason: str

    def __len__(self) -> int:
        return len(self.table)

    def regions_of(self, rows: NDArray[np.int64]) -> tuple[HalfArray, NDArray[np.int64]]:
        """The base regions of some photos, one after the other.

        Args:
            rows: (n,) rows of the table.

        Returns:
            (ΣR, D) region vectors, and (n + 1,) where those of each photo start.
        """
        counts = self.table.region_count[rows].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(counts)])
        taken = np.repeat(self.table.region_start[rows] - starts[:-1], counts)
        return self.regions[taken + np.arange(starts[-1])], starts

    def row_of(self, photo_id: int) -> int | None:
        """The row of a photo, if it is here."""
        rows = np.flatnonzero(self.table.photo_ids == photo_id)
        return int(rows[0]) if len(rows) else None

    def boxes_of(self, row: int) -> FloatArray:
        """(R, 4) the boxes of one photo's base regions."""
        first = int(self.table.region_start[row])
        return self.boxes[first : first + int(self.table.region_count[row])]
