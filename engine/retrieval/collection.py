"""What a library holds for one network, and the newest snapshot of it."""

import threading
from pathlib import Path

import numpy as np

from engine.ann.choice import open_index
from engine.ann.scan import RegionScan
from engine.config import HnswSettings
from engine.features.codes import CodeArray, RegionCodec, two_bits_for
from engine.jobs import Ticket
from engine.retrieval.snapshot import Snapshot
from engine.store.database import Database
from engine.store.networks import NetworkRecord
from engine.store.table import VectorTable, committed_rows, load_table
from engine.store.vectors import VectorStore
from engine.types import HalfArray

_SCANNED_AT_ONCE = 16_384  # photos


class Collection:
    """The vectors of one network and the snapshot that searches use.

    Snapshots are built aside and published by swapping one reference: a search goes on in the
    one it began with. Thread-safe.
    """

    def __init__(
        self,
        database: Database,
        record: NetworkRecord,
        vectors: VectorStore,
        *,
        codec: RegionCodec,
        index_cache: Path,
        settings: HnswSettings | None = None,
    ) -> None:
        """``codec``: what made the regions in ``vectors``. ``index_cache``: where the index file
        lies; written only by who writes the library."""
        self.record = record
        self.vectors = vectors
        self.codec = codec
        self._database = database
        self._cache = index_cache if database.writable else None
        self._settings = settings or HnswSettings()
        self._building = threading.Lock()
        self._newest: Snapshot | None = None

    def snapshot(self, ticket: Ticket) -> Snapshot:
        """The newest snapshot; built when it is first asked for, and, where another process
        writes, whenever that has committed more.

        Raises:
            LibraryError: the vector files hold less than was committed.
        """
        newest = self._newest
        if newest is None or (not self._database.writable and self._outdated(newest)):
            with self._building:
                if self._newest is newest:
                    self._newest = self._build(ticket)
                newest = self._newest
        assert newest is not None
        return newest

    def publish(self) -> None:
        """Let searches see what was committed. Does nothing while nobody has searched."""
        with self._building:
            if self._newest is not None and self._outdated(self._newest):
                self._newest = self._build(Ticket())

    def close(self) -> None:
        """Let the files go. Snapshots that were handed out must not be used any more."""
        self._newest = None
        self.vectors.close()

    def _outdated(self, snapshot: Snapshot) -> bool:
        return committed_rows(self._database, self.record.key) != len(snapshot)

    def _build(self, ticket: Ticket) -> Snapshot:
        table = load_table(self._database, self.record.key)
        descriptors = self.vectors.descriptors(len(table))
        codes = self.vectors.regions(table.region_rows)
        boxes = self.vectors.boxes(table.region_rows)
        choice = open_index(
            descriptors,
            cache=self._cache,
            fingerprint=self.record.key,
            settings=self._settings,
            ticket=ticket,
            before=self._newest.index if self._newest else None,
        )
        return Snapshot(
            network_key=self.record.key,
            table=table,
            descriptors=descriptors,
            codes=codes,
            boxes=boxes,
            codec=self.codec,
            index=choice.index,
            scan=self._scan(table, descriptors, codes, ticket),
            index_reason=choice.reason,
        )

    def _scan(
        self,
        table: VectorTable,
        descriptors: HalfArray,
        codes: CodeArray,
        ticket: Ticket,
    ) -> RegionScan:
        """The scan of the snapshot before with what has come since, a part at a time."""
        two_bits = two_bits_for(self.vectors.dim)
        scan = RegionScan(two_bits)
        if self._newest is not None and len(self._newest) <= len(table):
            scan = self._newest.scan
        for first in range(len(scan), len(table), _SCANNED_AT_ONCE):
            ticket.update("opening the index", first, len(table))
            rows = np.arange(first, min(first + _SCANNED_AT_ONCE, len(table)))
            own, counts = descriptors[rows], table.region_count[rows]
            start = int(table.region_start[first])
            span = slice(start, start + int(counts.sum()))
            part = codes[span]
            if self.codec is not two_bits:
                owners = np.repeat(np.arange(len(rows)), counts)
                part = two_bits.encode(self.codec.decode(part, own, owners), own, owners)
            scan = scan.with_more(own, part, counts)
        return scan
