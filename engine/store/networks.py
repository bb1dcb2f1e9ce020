"""Which networks a library has vectors of, and which one is in use."""

import sqlite3
from dataclasses import dataclass

from engine.errors import NetworkError
from engine.store.database import Database


@dataclass(frozen=True, slots=True)
class NetworkRecord:
    """A network as a library knows it.

    ``key`` names the numbers that it makes: vectors of two keys never meet. ``manifest`` and
    ``settings`` are JSON texts, kept as they are.
    """

    key: str
    manifest: str
    settings: str


def register(database: Database, network: NetworkRecord) -> int:
    """The id of the network's row, made if there is none. The first one becomes the active one."""
    with database.write() as connection:
        connection.execute(
            """
            INSERT INTO networks (key, manifest, settings, active)
            VALUES (?, ?, ?, NOT EXISTS (SELECT 1 FROM networks WHERE active = 1))
            ON CONFLICT (key) DO UPDATE
            SET manifest = excluded.manifest, settings = excluded.settings
            """,
            (network.key, network.manifest, network.settings),
        )
        return _id(connection, network.key)


def activate(database: Database, network_key: str) -> None:
    """Make this network the one that searches use.

    Raises:
        NetworkError: the library does not know it.
    """
    with database.write() as connection:
        chosen = _id(connection, network_key)
        connection.execute("UPDATE networks SET active = 0 WHERE active = 1")
        connection.execute("UPDATE networks SET active = 1 WHERE id = ?", (chosen,))


def active_network(database: Database) -> NetworkRecord | None:
    """The network that searches use, or None in a library that has none yet."""
    with database.read() as connection:
        row = connection.execute(
            "SELECT key, manifest, settings FROM networks WHERE active = 1"
        ).fetchone()
    return None if row is None else NetworkRecord(*row)


def all_networks(database: Database) -> tuple[NetworkRecord, ...]:
    """Every network that the library has or had vectors of, the oldest first."""
    with database.read() as connection:
        rows = connection.execute("SELECT key, manifest, settings FROM networks ORDER BY id")
        return tuple(NetworkRecord(*row) for row in rows)


def _id(connection: sqlite3.Connection, network_key: str) -> int:
    row = connection.execute("SELECT id FROM networks WHERE key = ?", (network_key,)).fetchone()
    if row is None:
        raise NetworkError(f"the library knows no network {network_key!r}")
    return int(row[0])
