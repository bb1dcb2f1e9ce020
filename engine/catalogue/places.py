"""At which of its places a photo is listed: reachable ones first, then by folder and path."""

import sqlite3
from collections.abc import Iterable

_CHOOSE = """
    UPDATE files SET shown = 1 - shown
    WHERE {which} AND shown <> (id = (
        SELECT g.id FROM files g JOIN folders d ON d.id = g.folder_id
        WHERE g.photo_id = files.photo_id
        ORDER BY g.present AND d.online DESC, g.folder_id, g.relpath LIMIT 1
    ))
"""


def choose(connection: sqlite3.Connection, photo_ids: Iterable[int]) -> None:
    """Choose anew for these photos, after one of their places came or went."""
    connection.executemany(
        _CHOOSE.format(which="photo_id = ?"), [(photo_id,) for photo_id in photo_ids]
    )


def choose_among_copies(connection: sqlite3.Connection) -> None:
    """Choose anew for every photo that has several places, after a scan."""
    several = "SELECT photo_id FROM files GROUP BY photo_id HAVING count(*) > 1"
    connection.execute(_CHOOSE.format(which=f"photo_id IN ({several})"))
