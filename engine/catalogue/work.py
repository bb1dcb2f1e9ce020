"""Which photos need work: a query on (photo, network), never a flag that could be forgotten."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.catalogue import roots
from engine.catalogue.roots import Scope
from engine.store.database import Database
from engine.types import Failure

_CHUNK = 500

# Photos p at files f in folders d that a network has not seen. Failures are of a network too:
# another one tries anew.
_NEEDS_WORK = """
    FROM photos p JOIN files f ON f.photo_id = p.id JOIN folders d ON d.id = f.folder_id
    WHERE f.present = 1 AND f.read = 1 AND d.online = 1
    AND NOT EXISTS (
        SELECT 1 FROM vectors v JOIN networks n ON n.id = v.network_id
        WHERE v.photo_id = p.id AND n.key = ?
    )
    AND (? OR NOT EXISTS (
        SELECT 1 FROM failures x JOIN networks n ON n.id = x.network_id
        WHERE x.photo_id = p.id AND n.key = ?
    ))
"""


@dataclass(frozen=True, slots=True)
class Work:
    """A photo that one network has not seen, at one of the places where it can be reached."""

    photo_id: int
    identity: str
    path: Path
    root: Path


@dataclass(frozen=True, slots=True)
class Tally:
    """What is known of the photos in some scopes.

    ``photos``: contents that can be reached; ``copies``: how many more files they lie in.
    ``ready``: those that the network has seen. ``offline``: photos that cannot be reached.
    ``failures``: one for each photo or file that cannot be had.
    """

    photos: int
    copies: int
    ready: int
    offline: int
    failures: tuple[Failure, ...]


def needs_work(
    database: Database,
    network_key: str,
    *,
    scopes: Sequence[Scope] | None = None,
    retry_failed: bool = False,
    among: Sequence[int] | None = None,
) -> Iterator[Work]:
    """Photos that can be reached and have no vectors of this network, in order of their ids.

    ``scopes``: only what lies there; None = anywhere. ``retry_failed``: those too whose content
    made no picture before. ``among``: only these photos. Files that were never read are not
    photos yet: engine.catalogue.identify makes them so.
    """
    where, values = _everywhere() if scopes is None else roots.condition(scopes)
    if among is not None:
        where += " AND p.id IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(list(among)))
    last = 0
    while True:
        with database.read() as connection:
            folders = roots.all_roots(connection)
            rows = connection.execute(
                f"""
                SELECT p.id, p.identity, f.folder_id, f.relpath, min(f.id)
                {_NEEDS_WORK} AND {where} AND f.photo_id > ?
                GROUP BY f.photo_id ORDER BY f.photo_id LIMIT {_CHUNK}
                """,
                (network_key, retry_failed, network_key, *values, last),
            ).fetchall()
        for photo_id, identity, folder_id, relpath, _ in rows:
            root = folders[folder_id]
            yield Work(photo_id, identity, roots.place(root, relpath), root)
        if len(rows) < _CHUNK:
            return
        last = rows[-1][0]


def needs_work_count(
    database: Database, network_key: str, *, scopes: Sequence[Scope], retry_failed: bool = False
) -> int:
    """How many photos `needs_work` gives."""
    where, values = roots.condition(scopes)
    with database.read() as connection:
        (count,) = connection.execute(
            f"SELECT count(DISTINCT p.id) {_NEEDS_WORK} AND {where}",
            (network_key, retry_failed, network_key, *values),
        ).fetchone()
    return int(count)


def tally(database: Database, network_key: str, scopes: Sequence[Scope]) -> Tally:
    """Count what lies in these scopes."""
    where, values = roots.condition(scopes)
    from_files = "FROM files f JOIN folders d ON d.id = f.folder_id"
    with database.read() as connection:
        photos, files, ready = connection.execute(
            f"""
            SELECT count(DISTINCT f.photo_id), count(f.photo_id), count(DISTINCT v.photo_id)
            {from_files} LEFT JOIN vectors v ON v.photo_id = f.photo_id
            AND v.network_id = (SELECT id FROM networks WHERE key = ?)
            WHERE f.present = 1 AND d.online = 1 AND {where}
            """,
            (network_key, *values),
        ).fetchone()
        (offline,) = connection.execute(
            f"SELECT count(*) {from_files} WHERE f.shown = 1 AND {where} "
            "AND NOT (f.present AND d.online)",
            values,
        ).fetchone()
        folders = roots.all_roots(connection)
        rows = connection.execute(
            f"""
            SELECT f.folder_id, f.relpath, ifnull(f.reason, x.reason), min(f.id)
            {from_files} LEFT JOIN failures x ON x.photo_id = f.photo_id
            AND x.network_id = (SELECT id FROM networks WHERE key = ?)
            WHERE ifnull(f.reason, x.reason) IS NOT NULL
            AND f.present = 1 AND d.online = 1 AND {where}
            GROUP BY ifnull(f.photo_id, -f.id) ORDER BY f.folder_id, f.relpath
            """,
            (network_key, *values),
        )
        failures = tuple(
            Failure(roots.place(folders[folder_id], relpath), reason)
            for folder_id, relpath, reason, _ in rows
        )
    return Tally(photos, files - photos, ready, offline, failures)


def _everywhere() -> tuple[str, list[object]]:
    return "1", []
