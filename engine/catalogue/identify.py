"""Read files and tell by their content which photos they are.

A photo is its content: a copy is a second place of the same photo, and a file that has gone while
the same content turned up elsewhere has moved. Reading comes right before decoding, so that the
disk is asked for each file once.
"""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.catalogue import places, roots
from engine.catalogue.roots import Scope
from engine.errors import PhotoMissingError
from engine.jobs import Ticket
from engine.media.identity import identity
from engine.media.reasons import photo_error
from engine.store.database import Database

# One batch is read, then decoded while the system still has it in memory.
_BATCH_FILES = 64
_BATCH_BYTES = 64 * 1024**2

# A file that was written this shortly before it was read may be written again within the same
# tick of the file system's clock.
_TOO_FRESH_NS = 2_000_000_000
_NEVER = -1


@dataclass(frozen=True, slots=True)
class _Unread:
    """A file that is still to be read."""

    id: int
    path: Path
    bytes: int


@dataclass(frozen=True, slots=True)
class _Told:
    """What reading it told: its identity, or why it could not be had."""

    file_id: int
    size: int
    mtime_ns: int
    identity: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Identified:
    """One batch. ``files``: how many were read. ``photo_ids``: the photos that they are."""

    files: int
    photo_ids: tuple[int, ...]


def unread_count(database: Database, scopes: Sequence[Scope]) -> int:
    """How many files are still to be read."""
    where, values = roots.condition(scopes)
    with database.read() as connection:
        (count,) = connection.execute(
            f"SELECT count(*) FROM files f WHERE f.read = 0 AND f.present = 1 AND {where}", values
        ).fetchone()
    return int(count)


def unread_paths(database: Database, scopes: Sequence[Scope]) -> tuple[Path, ...]:
    """Where they lie; of folders that can be reached."""
    where, values = roots.condition(scopes)
    with database.read() as connection:
        folders = roots.all_roots(connection)
        rows = connection.execute(
            f"""
            SELECT f.folder_id, f.relpath FROM files f JOIN folders d ON d.id = f.folder_id
            WHERE f.read = 0 AND f.present = 1 AND d.online = 1 AND {where}
            ORDER BY f.folder_id, f.relpath
            """,
            values,
        )
        return tuple(roots.place(folders[folder_id], relpath) for folder_id, relpath in rows)


def identify(database: Database, scopes: Sequence[Scope], ticket: Ticket) -> Iterator[Identified]:
    """Read every unread file of these scopes once, batch by batch.

    A file that changes while it is read stays unread, for the next time.
    """
    last = 0
    while batch := _next(database, scopes, last):
        last = batch[-1].id
        told = [one for file in batch for one in _read(file, ticket)]
        with database.write() as connection:
            photo_ids = _keep(connection, told)
        yield Identified(len(batch), photo_ids)


def mark_missing(database: Database, photo_id: int, path: Path) -> None:
    """Note that the photo is not at this place any more."""
    with database.write() as connection:
        _set_at(connection, photo_id, path, "present = 0")
        places.choose(connection, [photo_id])


def mark_unread(database: Database, photo_id: int, path: Path) -> None:
    """Note that the file at this place has changed, and is to be read again."""
    with database.write() as connection:
        _set_at(connection, photo_id, path, "read = 0")


def _set_at(connection: sqlite3.Connection, photo_id: int, path: Path, what: str) -> None:
    roots_by_id = roots.all_roots(connection)
    rows = connection.execute(
        "SELECT id, folder_id, relpath FROM files WHERE photo_id = ?", (photo_id,)
    ).fetchall()
    for file_id, folder_id, relpath in rows:
        if roots.place(roots_by_id[folder_id], relpath) == path:
            connection.execute(f"UPDATE files SET {what} WHERE id = ?", (file_id,))


def _next(database: Database, scopes: Sequence[Scope], last: int) -> list[_Unread]:
    where, values = roots.condition(scopes)
    with database.read() as connection:
        folders = roots.all_roots(connection)
        rows = connection.execute(
            f"""
            SELECT f.id, f.folder_id, f.relpath, f.size
            FROM files f JOIN folders d ON d.id = f.folder_id
            WHERE f.read = 0 AND f.present = 1 AND d.online = 1 AND f.id > ? AND {where}
            ORDER BY f.id LIMIT {_BATCH_FILES}
            """,
            (last, *values),
        ).fetchall()
    batch: list[_Unread] = []
    total = 0
    for file_id, folder_id, relpath, size in rows:
        total += size
        if batch and total > _BATCH_BYTES:
            break
        batch.append(_Unread(file_id, roots.place(folders[folder_id], relpath), size))
    return batch


def _read(file: _Unread, ticket: Ticket) -> Iterator[_Told]:
    """What there is to tell: nothing of a file that is being written or has just gone."""
    ticket.check()
    try:
        before = file.path.stat()
        told = identity(file.path)
        after = file.path.stat()
    except OSError as error:
        problem = photo_error(error, file.path)
        if not isinstance(problem, PhotoMissingError):
            yield _Told(file.id, file.bytes, _NEVER, reason=problem.reason)
        return
    if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
        fresh = abs(time.time_ns() - after.st_mtime_ns) < _TOO_FRESH_NS
        mtime_ns = _NEVER if fresh else after.st_mtime_ns
        yield _Told(file.id, after.st_size, mtime_ns, identity=told)


def _keep(connection: sqlite3.Connection, told: Sequence[_Told]) -> tuple[int, ...]:
    """Write down what was read. Returns the photos that were met, each once."""
    met: dict[int, None] = {}
    left: set[int] = set()
    for one in told:
        row = connection.execute(
            "SELECT photo_id FROM files WHERE id = ?", (one.file_id,)
        ).fetchone()
        if row is None:
            continue
        if row[0] is not None:
            left.add(row[0])
        if one.identity is None:
            connection.execute(
                """
                UPDATE files SET photo_id = NULL, reason = ?, mtime_ns = ?, read = 1, shown = 1
                WHERE id = ?
                """,
                (one.reason, one.mtime_ns, one.file_id),
            )
            continue
        photo_id = _photo(connection, one.identity)
        met[photo_id] = None
        if row[0] is not None or not _moved(connection, one, photo_id):
            connection.execute(
                """
                UPDATE files SET photo_id = ?, reason = NULL, size = ?, mtime_ns = ?, read = 1
                WHERE id = ?
                """,
                (photo_id, one.size, one.mtime_ns, one.file_id),
            )
    places.choose(connection, left | met.keys())
    return tuple(met)


def _photo(connection: sqlite3.Connection, identity: str) -> int:
    connection.execute(
        "INSERT INTO photos (identity) VALUES (?) ON CONFLICT (identity) DO NOTHING", (identity,)
    )
    row = connection.execute("SELECT id FROM photos WHERE identity = ?", (identity,)).fetchone()
    return int(row[0])


def _moved(connection: sqlite3.Connection, one: _Told, photo_id: int) -> bool:
    """Whether this new file is one that has gone elsewhere: then that one takes its place."""
    gone = connection.execute(
        """
        SELECT f.id FROM files f JOIN folders d ON d.id = f.folder_id
        WHERE f.photo_id = ? AND f.present = 0 AND d.online = 1
        ORDER BY f.folder_id, f.relpath LIMIT 1
        """,
        (photo_id,),
    ).fetchone()
    if gone is None:
        return False
    folder_id, relpath = connection.execute(
        "DELETE FROM files WHERE id = ? RETURNING folder_id, relpath", (one.file_id,)
    ).fetchone()
    connection.execute(
        """
        UPDATE files SET folder_id = ?, relpath = ?, size = ?, mtime_ns = ?, present = 1, read = 1,
        reason = NULL WHERE id = ?
        """,
        (folder_id, relpath, one.size, one.mtime_ns, gone[0]),
    )
    return True
