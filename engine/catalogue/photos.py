"""Photos as the window and the searches ask for them.

A file that could never be read is no photo yet, but has to be seen: it goes by the negative of
its file's id, and never has anything but a path and a reason.
"""

import json
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.catalogue import roots
from engine.requests import LibraryOverview, PhotoFilter, PhotoPage, PhotosRequest
from engine.store.database import Database
from engine.types import Folder, Photo, PhotoState, Size

_SELECT = """
    SELECT ifnull(f.photo_id, -f.id), f.folder_id, f.relpath, ifnull(f.reason, x.reason),
        p.width, p.height, p.taken, f.present AND d.online, v.row IS NOT NULL
    FROM files f
    JOIN folders d ON d.id = f.folder_id
    LEFT JOIN photos p ON p.id = f.photo_id
    LEFT JOIN networks n ON n.active = 1
    LEFT JOIN vectors v ON v.photo_id = p.id AND v.network_id = n.id
    LEFT JOIN failures x ON x.photo_id = p.id AND x.network_id = n.id
"""

_SHOWN = {
    PhotoFilter.ALL: "f.shown = 1",
    PhotoFilter.FAILED: """
        f.shown = 1 AND f.id IN (
            SELECT id FROM files WHERE reason IS NOT NULL
            UNION ALL
            SELECT g.id FROM failures y JOIN files g ON g.photo_id = y.photo_id
            WHERE y.network_id = (SELECT id FROM networks WHERE active = 1)
        )
    """,
}


def page(database: Database, request: PhotosRequest) -> PhotoPage:
    """A page of the library, each photo at one of its places, in the order of folder and path."""
    which = f"FROM files f WHERE {_SHOWN[request.show]}"
    with database.read() as connection:
        (total,) = connection.execute(f"SELECT count(*) {which}").fetchone()
        rows = connection.execute(
            f"""
            {_SELECT} WHERE f.id IN (
                SELECT f.id {which} ORDER BY f.folder_id, f.relpath LIMIT ? OFFSET ?
            ) ORDER BY f.folder_id, f.relpath
            """,
            (max(request.limit, 0), max(request.offset, 0)),
        )
        photos = _photos(connection, rows)
    return PhotoPage(request.offset, total, photos)


def by_ids(database: Database, ids: Iterable[int]) -> dict[int, Photo]:
    """The photos with these ids. A content that lies nowhere any more (its file was edited since)
    is left out."""
    wanted = list(ids)
    contents = json.dumps([id_ for id_ in wanted if id_ > 0])
    files = json.dumps([-id_ for id_ in wanted if id_ < 0])
    with database.read() as connection:
        rows = connection.execute(
            f"""
            {_SELECT} WHERE f.shown = 1
            AND f.photo_id IN (SELECT value FROM json_each(?))
            """,
            (contents,),
        ).fetchall()
        rows += connection.execute(
            f"""
            {_SELECT} WHERE f.shown = 1 AND f.photo_id IS NULL
            AND f.id IN (SELECT value FROM json_each(?))
            """,
            (files,),
        ).fetchall()
        found = {photo.id: photo for photo in _photos(connection, rows)}
    return {id_: found[id_] for id_ in wanted if id_ in found}


def by_identity(database: Database, identity: str) -> int | None:
    """The photo with this content, wherever it lies."""
    with database.read() as connection:
        row = connection.execute("SELECT id FROM photos WHERE identity = ?", (identity,)).fetchone()
    return None if row is None else int(row[0])


def identity_of(database: Database, photo_id: int) -> str | None:
    """The content identity of a photo; None where the library does not know it."""
    with database.read() as connection:
        row = connection.execute("SELECT identity FROM photos WHERE id = ?", (photo_id,)).fetchone()
    return None if row is None else str(row[0])


def by_path(database: Database, path: Path) -> int | None:
    """The photo that was last seen at this place."""
    real = Path(os.path.realpath(path))
    with database.read() as connection:
        for folder_id, root in roots.all_roots(connection).items():
            if not real.is_relative_to(root):
                continue
            relpath = os.fsencode(real.relative_to(root).as_posix())
            row = connection.execute(
                "SELECT photo_id FROM files WHERE folder_id = ? AND relpath = ?",
                (folder_id, relpath),
            ).fetchone()
            if row is not None and row[0] is not None:
                return int(row[0])
    return None


def placeless(database: Database) -> frozenset[int]:
    """Contents that lie nowhere any more: their files were edited since. A search leaves them
    out; they are photos again as soon as the same content turns up somewhere."""
    return database.derived(_placeless)


def _placeless(connection: sqlite3.Connection) -> frozenset[int]:
    rows = connection.execute(
        "SELECT id FROM photos p WHERE NOT EXISTS (SELECT 1 FROM files WHERE photo_id = p.id)"
    )
    return frozenset(row[0] for row in rows)


def overview(database: Database) -> LibraryOverview:
    """Folders and counts. ``ready``: photos that the active network has seen."""
    with database.read() as connection:
        folders = tuple(
            Folder(id_, Path(os.fsdecode(path)), bool(online), photos)
            for id_, path, online, photos in connection.execute(
                """
                SELECT d.id, d.path, d.online, (
                    SELECT count(DISTINCT f.photo_id) FROM files f
                    WHERE f.folder_id = d.id AND f.present = 1
                ) FROM folders d ORDER BY d.id
                """
            )
        )
        (photos,) = connection.execute("SELECT count(*) FROM files WHERE shown = 1").fetchone()
        (failed,) = connection.execute(
            f"SELECT count(*) FROM files f WHERE {_SHOWN[PhotoFilter.FAILED]}"
        ).fetchone()
        (ready,) = connection.execute(
            """
            SELECT count(*) FROM vectors v
            WHERE v.network_id = (SELECT id FROM networks WHERE active = 1)
            AND EXISTS (SELECT 1 FROM files f WHERE f.photo_id = v.photo_id)
            """
        ).fetchone()
    return LibraryOverview(folders, photos, ready, failed, database.writable)


def _photos(connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> tuple[Photo, ...]:
    folders = roots.all_roots(connection)
    return tuple(_photo(folders, row) for row in rows)


def _photo(folders: dict[int, Path], row: tuple[Any, ...]) -> Photo:
    id_, folder_id, relpath, reason, width, height, taken, reachable, ready = row
    if not reachable:
        state = PhotoState.OFFLINE
    elif reason is not None:
        state = PhotoState.FAILED
    else:
        state = PhotoState.READY if ready else PhotoState.PENDING
    return Photo(
        id=id_,
        path=roots.place(folders[folder_id], relpath),
        state=state,
        size=None if width is None else Size(width, height),
        taken=taken,
        reason=reason,
    )
