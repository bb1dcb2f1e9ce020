"""Bring the library's list of files up to what the disk holds, without opening a single file.

Nothing is ever deleted here. A file that has gone is noted as not present; a folder that is not
there, or all of whose files are gone at once, is noted as offline and what is known of it stays.
New and changed files are noted as unread; engine.catalogue.identify reads them.
"""

import logging
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from engine.catalogue import places, roots
from engine.catalogue.roots import Scope
from engine.catalogue.walk import FoundFile, LeftOut, walk
from engine.jobs import Ticket
from engine.store.database import Database
from engine.types import Failure

_log = logging.getLogger(__name__)

_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class ScanReport:
    """``found``: photo files that are there. ``scopes``: what was scanned. ``offline``: folders
    that could not be reached. ``skipped``: what was not looked into, with the reason."""

    found: int
    scopes: tuple[Scope, ...]
    offline: tuple[Path, ...]
    skipped: tuple[Failure, ...]


def scan(database: Database, folders: Sequence[Path], ticket: Ticket) -> ScanReport:
    """Add these folders (none: take all that the library has) and list their files.

    A new folder without a single photo is not kept.

    Raises:
        FolderError: a new folder is missing, is none, or may not be read.
    """
    ticket.update("scanning", 0, 0)
    scopes = roots.resolve(database, folders)
    found = 0
    offline: list[Path] = []
    skipped: list[Failure] = []
    changed = False
    for scope in scopes:
        task = _Scan(database, scope, ticket, found)
        online = task.run()
        found = task.found
        skipped += task.skipped
        changed |= task.changed
        if not online:
            offline.append(scope.root)
        if scope.added:
            roots.drop_if_bare(database, scope)
    if changed:
        with database.write() as connection:
            places.choose_among_copies(connection)
    return ScanReport(found, scopes, tuple(offline), tuple(skipped))


class _Scan:
    """One walk through one scope, compared with what is known in batches."""

    def __init__(self, database: Database, scope: Scope, ticket: Ticket, found: int) -> None:
        self.found = found
        self.skipped: list[Failure] = []
        self.changed = False
        self._database = database
        self._scope = scope
        self._ticket = ticket
        self._seen = array("q")
        self._unknown: list[bytes] = []
        with database.read() as connection:
            (self._newest,) = connection.execute("SELECT ifnull(max(id), 0) FROM files").fetchone()

    def run(self) -> bool:
        """Whether the scope can be reached."""
        avoid = roots.keys_of_others(self._database, self._scope)
        walked = walk(self._scope.path, below=self._scope.below, avoid=avoid)
        try:
            while batch := list(islice(self._files(walked), _BATCH)):
                self._compare(batch)
        except OSError as error:
            return self._reached(reason=(error.strerror or str(error)).lower())
        known = self._known()
        if not self._seen and not self._unknown and len(known) and not self._scope.below:
            return self._reached(reason="none of its photos is there")
        self._reached()
        self._note_gone(known)
        return True

    def _files(self, walked: Iterator[FoundFile | LeftOut]) -> Iterator[FoundFile]:
        for item in walked:
            if isinstance(item, FoundFile):
                self.found += 1
                self._ticket.update("scanning", self.found, 0)
                yield item
            else:
                self.skipped.append(Failure(item.path, item.reason))
                if item.unknown:
                    self._unknown.append(item.relpath)

    def _compare(self, batch: list[FoundFile]) -> None:
        new: list[tuple[object, ...]] = []
        changed: list[tuple[int, int, int]] = []
        again: list[tuple[int]] = []
        folder_id = self._scope.folder_id
        with self._database.read() as connection:
            for file in batch:
                row = connection.execute(
                    """
                    SELECT id, size, mtime_ns, present, read = 1 AND reason IS NOT NULL FROM files
                    WHERE folder_id = ? AND relpath = ?
                    """,
                    (folder_id, file.relpath),
                ).fetchone()
                if row is None:
                    new.append((folder_id, file.relpath, file.size, file.mtime_ns))
                    continue
                id_, size, mtime_ns, present, failed = row
                self._seen.append(id_)
                # What could not be read is tried anew: a permission leaves no trace in the time.
                if failed or (size, mtime_ns) != (file.size, file.mtime_ns):
                    changed.append((file.size, file.mtime_ns, id_))
                elif not present:
                    again.append((id_,))
        if new or changed or again:
            self.changed = True
            self._store(new, changed, again)

    def _store(
        self,
        new: list[tuple[object, ...]],
        changed: list[tuple[int, int, int]],
        again: list[tuple[int]],
    ) -> None:
        with self._database.write() as connection:
            connection.executemany(
                "INSERT INTO files (folder_id, relpath, size, mtime_ns) VALUES (?, ?, ?, ?)", new
            )
            connection.executemany(
                "UPDATE files SET size = ?, mtime_ns = ?, present = 1, read = 0 WHERE id = ?",
                changed,
            )
            connection.executemany("UPDATE files SET present = 1 WHERE id = ?", again)

    def _known(self) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """Ids of the files that were there before this scan, in order."""
        where, values = roots.condition([self._scope])
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT f.id FROM files f WHERE {where} AND f.present = 1 AND f.id <= ?",
                (*values, self._newest),
            )
            return np.unique(np.fromiter((row[0] for row in rows), np.int64))

    def _note_gone(self, known: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> None:
        gone = np.setdiff1d(known, np.array(self._seen, np.int64), assume_unique=True)
        for part in np.array_split(gone, -(-len(gone) // _BATCH) or 1):
            ids = [(int(id_),) for id_ in part if not self._may_be_there(int(id_))]
            if ids:
                self.changed = True
                with self._database.write() as connection:
                    connection.executemany("UPDATE files SET present = 0 WHERE id = ?", ids)

    def _may_be_there(self, file_id: int) -> bool:
        if not self._unknown:
            return False
        with self._database.read() as connection:
            (relpath,) = connection.execute(
                "SELECT relpath FROM files WHERE id = ?", (file_id,)
            ).fetchone()
        return any(
            relpath.startswith(place) if place.endswith(b"/") else relpath == place
            for place in self._unknown
        )

    def _reached(self, *, reason: str | None = None) -> bool:
        """Note whether the folder is online; a reason says why it is not."""
        online = reason is None
        if not online:
            self.skipped.append(Failure(self._scope.path, f"the folder is offline: {reason}"))
        if self._scope.below and not online:
            return False
        with self._database.write() as connection:
            flipped = connection.execute(
                "UPDATE folders SET online = ? WHERE id = ? AND online <> ?",
                (online, self._scope.folder_id, online),
            ).rowcount
        self.changed |= flipped > 0
        return online
