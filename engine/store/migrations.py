"""The database's schema, as the numbered steps that lead to it.

Migration n takes a database from version n - 1 to n (`PRAGMA user_version`). A published step is
never edited: a change is a new step at the end.

Words that are not plain from their names:

- Paths are bytes as the system has them (`os.fsencode`), separated by "/", relative to their
  folder, for a name need not be text.
- ``files.present`` is 0 once a scan of a reachable folder has missed the file.
- ``files.read`` is 1 when ``photo_id`` or ``reason`` was told from the bytes that ``size`` and
  ``mtime_ns`` stand for, 0 when the file is still to be read.
- ``files.shown`` is 1 for one place of each photo, where it is listed.
- ``files.reason`` says why the bytes could not be had; ``failures.reason`` why a network has no
  vectors of the content: mostly because it makes no picture.
- ``vectors.row`` counts from 0 without gaps within a network, and so do the region rows.
"""

import sqlite3

# "Refo": tells a library from any other SQLite file.
APPLICATION_ID = 0x5265666F

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE folders (
            id INTEGER PRIMARY KEY,
            path BLOB NOT NULL UNIQUE,
            online INTEGER NOT NULL DEFAULT 1 CHECK (online IN (0, 1))
        )
        """,
        """
        CREATE TABLE photos (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            identity TEXT NOT NULL UNIQUE,
            width INTEGER,
            height INTEGER,
            format TEXT,
            orientation INTEGER,
            frames INTEGER,
            taken TEXT
        )
        """,
        """
        CREATE TABLE files (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            folder_id INTEGER NOT NULL REFERENCES folders (id),
            relpath BLOB NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            photo_id INTEGER REFERENCES photos (id),
            reason TEXT,
            present INTEGER NOT NULL DEFAULT 1 CHECK (present IN (0, 1)),
            read INTEGER NOT NULL DEFAULT 0 CHECK (read IN (0, 1)),
            shown INTEGER NOT NULL DEFAULT 0 CHECK (shown IN (0, 1)),
            UNIQUE (folder_id, relpath)
        )
        """,
        "CREATE INDEX files_photo ON files (photo_id)",
        "CREATE INDEX files_shown ON files (folder_id, relpath) WHERE shown = 1",
        "CREATE INDEX files_unread ON files (id) WHERE read = 0",
        "CREATE INDEX files_failed ON files (id) WHERE reason IS NOT NULL",
        """
        CREATE TABLE networks (
            id INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE,
            manifest TEXT NOT NULL,
            settings TEXT NOT NULL,
            active INTEGER NOT NULL DEFAULT 0 CHECK (active IN (0, 1))
        )
        """,
        "CREATE UNIQUE INDEX networks_active ON networks (active) WHERE active = 1",
        """
        CREATE TABLE vectors (
            photo_id INTEGER NOT NULL REFERENCES photos (id),
            network_id INTEGER NOT NULL REFERENCES networks (id),
            row INTEGER NOT NULL,
            region_start INTEGER NOT NULL,
            region_count INTEGER NOT NULL,
            PRIMARY KEY (photo_id, network_id)
        ) WITHOUT ROWID
        """,
        "CREATE UNIQUE INDEX vectors_row ON vectors (network_id, row)",
        """
        CREATE TABLE failures (
            photo_id INTEGER NOT NULL REFERENCES photos (id),
            network_id INTEGER NOT NULL REFERENCES networks (id),
            reason TEXT NOT NULL,
            PRIMARY KEY (photo_id, network_id)
        ) WITHOUT ROWID
        """,
    ),
)

VERSION = len(MIGRATIONS)


def version(connection: sqlite3.Connection) -> int:
    """How far this database has come; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Take the database to the newest version, one transaction for each step."""
    while (done := version(connection)) < VERSION:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been quicker while this one waited.
            if version(connection) == done:
                for statement in MIGRATIONS[done]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {done + 1}")
            connection.execute("COMMIT")
        except BaseException:
            # SQLite has rolled back by itself after some errors, such as a full disk.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
