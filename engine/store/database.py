"""The library's database: connections, transactions, and the checks at its door."""

import contextlib
import logging
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from engine.errors import LibraryError
from engine.store import migrations
from engine.store.paths import LibraryPaths, spelled
from engine.store.trouble import from_os, from_sqlite

_log = logging.getLogger(__name__)

_BUSY_TIMEOUT_S = 30.0

T = TypeVar("T")


class Database:
    """One SQLite database, used from any number of threads; each has a connection of its own.

    `read` and `write` are the only ways in. SQLite keeps a write-ahead log, so that reading works
    while another thread or process writes.
    """

    def __init__(self, path: Path, uri: str, *, writable: bool) -> None:
        """Not for callers: see `open`."""
        self._path = path
        self._uri = uri
        self._writable = writable
        self._mine = threading.local()
        self._all: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._all_lock = threading.Lock()
        # Threads of one process queue here instead of polling SQLite's busy handler.
        self._writing = threading.Lock()
        self._closed = False

    @classmethod
    def open(cls, paths: LibraryPaths, *, writable: bool) -> "Database":
        """Open a library's database; a writable one is made or brought up to date.

        Raises:
            LibraryError: none is there to read, it is damaged, of a newer Refocal, or the disk
                is full or may only be read.
        """
        path = paths.database
        mode = "rwc" if writable else "ro"
        uri = path.absolute().as_uri()
        try:
            if writable:
                path.parent.mkdir(parents=True, exist_ok=True)
            elif not path.is_file():
                raise LibraryError(f"there is no library at {spelled(paths.root)} yet")
        except OSError as error:
            raise from_os(error, paths.root) from error
        database = cls(path, f"{uri}?mode={mode}", writable=writable)
        try:
            try:
                database._enter()
            except LibraryError:
                if writable or not _lies_still(path):
                    raise
                # On a read-only disk the log's index cannot be made. A file that nobody can
                # write, with nothing left in its log, may be read without one.
                database.close()
                database = cls(path, f"{uri}?mode=ro&immutable=1", writable=False)
                database._enter()
        except BaseException:
            database.close()
            raise
        return database

    @property
    def writable(self) -> bool:
        return self._writable

    @property
    def folder(self) -> Path:
        """The root of the library that this is the database of."""
        return self._path.parent

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One consistent view of the database. Keep it short: the log grows meanwhile."""
        connection = self._connection()
        with self._translated():
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction, kept whole or not at all. Keep it short: others wait.

        Raises:
            LibraryError: the database was opened for reading, the disk is full, may only be
                read or failed. The last consistent state is kept.
        """
        if not self._writable:
            raise LibraryError(f"the library {spelled(self._path.parent)} is open for reading only")
        connection = self._connection()
        with self._writing, self._translated():
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself after some errors, such as a full disk.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def derived(self, compute: Callable[[sqlite3.Connection], T]) -> T:
        """What ``compute`` reads, kept until the database changes.

        Args:
            compute: a function of a module, by which the answer is known again. Nobody may change
                what it returns.
        """
        connection = self._connection()
        if connection.in_transaction:  # what it sees may yet be rolled back
            return compute(connection)
        with self.read():
            (others,) = connection.execute("PRAGMA data_version").fetchone()
            stamp = (others, connection.total_changes)
            kept = self._mine.holder.derived.get(compute)
            if kept is None or kept[0] != stamp:
                kept = self._mine.holder.derived[compute] = (stamp, compute(connection))
            value: T = kept[1]
            return value

    def close(self) -> None:
        """Close the connections of all threads. No job may be under way."""
        self._closed = True
        with self._all_lock:
            for holder in list(self._all):
                holder.close()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise  # faults of this program, not of the disk
        except sqlite3.DatabaseError as error:
            raise from_sqlite(error, self._path.parent) from error

    def _connection(self) -> sqlite3.Connection:
        if self._closed:
            raise LibraryError(f"the library {spelled(self._path.parent)} was closed")
        holder: _Connection | None = getattr(self._mine, "holder", None)
        if holder is None:
            with self._translated():
                holder = _Connection(self._uri, writable=self._writable)
            with self._all_lock:
                self._all.add(holder)
            self._mine.holder = holder
        return holder.sqlite

    def _enter(self) -> None:
        """Check what is there, then bring it up to date."""
        where = f"the library {spelled(self._path.parent)}"
        connection = self._connection()
        with self._translated():
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = migrations.version(connection)
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables and application != migrations.APPLICATION_ID:
                raise LibraryError(f"{where} is none: its database is of another program")
            if version > migrations.VERSION:
                raise LibraryError(f"{where} is of a newer Refocal; please update this one")
            problems = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problems != "ok":
                raise LibraryError(f"{where} is damaged: {problems}")
            if self._writable:
                mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                if mode != "wal":
                    _log.warning("%s keeps no write-ahead log, but %s", where, mode)
                migrations.migrate(connection)
            elif version < migrations.VERSION:
                raise LibraryError(f"{where} is of an older Refocal: index once to update it")


class _Connection:
    """Closes its connection when the thread that owns it ends."""

    def __init__(self, uri: str, *, writable: bool) -> None:
        self.derived: dict[Callable[..., object], tuple[object, Any]] = {}
        self.sqlite = sqlite3.connect(
            uri,
            uri=True,
            timeout=_BUSY_TIMEOUT_S,
            isolation_level=None,  # transactions are begun by hand
            check_same_thread=False,  # for close, by another thread
        )
        try:
            self.sqlite.execute("PRAGMA foreign_keys = ON")
            if writable:
                self.sqlite.execute("PRAGMA synchronous = FULL")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.sqlite.close()

    def __del__(self) -> None:
        if hasattr(self, "sqlite"):
            self.close()


def _lies_still(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return not log.exists() or log.stat().st_size == 0
