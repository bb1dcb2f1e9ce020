"""What a search sees: the photos of one network at one moment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.ann.index import Index
from engine.ann.scan import RegionScan
from engine.features.codes import CodeArray, RegionCodec
from engine.store.table import VectorTable
from engine.types import FloatArray, HalfArray


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The committed photos of one network. Immutable: indexing goes on in a newer one.

    ``descriptors``: (N, D) unit rows, row i of photo ``table.photo_ids[i]``. ``codes`` (ΣR, W)
    and ``boxes`` (ΣR, 4, fractions of the upright photo): the base regions of all photos, photo
    after photo, and ``codec`` what reads them. All three are memory-mapped. ``index`` finds photos
    by their descriptor, ``scan`` by their regions. ``index_reason``: why this kind of index, one
    line.
    """

    network_key: str
    table: VectorTable
    descriptors: HalfArray
    codes: CodeArray
    boxes: FloatArray
    codec: RegionCodec
    index: Index
    scan: RegionScan
    index_reason: str

    def __len__(self) -> int:
        return len(self.table)

    def cosines(
        self, rows: NDArray[np.int64], queries: FloatArray
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        """Queries against the base regions of some photos.

        Args:
            rows: (n,) rows of the table.
            queries: (Q, D) unit rows.

        Returns:
            (Q, ΣR) cosines, photo after photo, and (n + 1,) where those of each photo start.
        """
        taken, starts, owners = self._regions_of(rows)
        found = self.codec.cosines(queries, self.codes[taken], self.descriptors[rows], owners)
        return found, starts

    def regions_of(self, rows: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.int64]]:
        """The base regions of some photos: (ΣR, D) vectors as they were kept, one photo after the
        other, and (n + 1,) where those of each start."""
        taken, starts, owners = self._regions_of(rows)
        return self.codec.decode(self.codes[taken], self.descriptors[rows], owners), starts

    def some_regions_of(self, rows: NDArray[np.int64], places: NDArray[np.int64]) -> FloatArray:
        """(n, D) those base regions of some photos that stand at these (n,) places among all that
        `regions_of` gives."""
        taken, _, owners = self._regions_of(rows)
        return self.codec.decode(self.codes[taken[places]], self.descriptors[rows], owners[places])

    def row_of(self, photo_id: int) -> int | None:
        """The row of a photo, if it is here."""
        rows = np.flatnonzero(self.table.photo_ids == photo_id)
        return int(rows[0]) if len(rows) else None

    def boxes_of(self, row: int) -> FloatArray:
        """(R, 4) the boxes of one photo's base regions."""
        first = int(self.table.region_start[row])
        return self.boxes[first : first + int(self.table.region_count[row])]

    def _regions_of(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Rows of ``codes``, where each photo starts among them, and whose each is."""
        counts = self.table.region_count[rows].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(counts)])
        owners = np.repeat(np.arange(len(rows)), counts)
        return (
            self.table.region_start[rows][owners] - starts[owners] + np.arange(starts[-1]),
            starts,
            owners,
        )
