"""What the disk and the database complain of, as one plain line for a person."""

import errno
import sqlite3
from pathlib import Path

from engine.errors import LibraryError, LibraryInUseError
from engine.store.paths import spelled

# Primary result codes of SQLite (sqlite.org/rescode.html).
_BUSY, _LOCKED = 5, 6
_READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 8, 10, 11, 13, 14, 26

_FULL_DISK = "the disk is full; what was there before is kept"
_READ_ONLY = "it lies on a disk or in a folder that may only be read"


def from_os(error: OSError, place: Path) -> LibraryError:
    """The error to raise for one from reading or writing the library at ``place``."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            plain = _FULL_DISK
        case errno.EROFS | errno.EACCES | errno.EPERM:
            plain = _READ_ONLY
        case errno.ENOTDIR | errno.EEXIST:
            plain = "something that is no folder stands in its place"
        case _:
            plain = (error.strerror or str(error)).lower()
    return LibraryError(f"the library {spelled(place)} cannot be used: {plain}")


def from_sqlite(error: sqlite3.Error, place: Path) -> LibraryError:
    """The error to raise for one from the database of the library at ``place``."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (_BUSY, _LOCKED):
        return LibraryInUseError(
            f"the library {spelled(place)} is busy: another program holds its database"
        )
    plain = {
        _READONLY: _READ_ONLY,
        _FULL: _FULL_DISK,
        _CORRUPT: "its database is damaged",
        _NOTADB: "its database file is no database",
        _CANTOPEN: "its database cannot be opened",
        _IOERR: "the disk failed while its database was in use",
    }.get(code, f"its database says: {error}")
    return LibraryError(f"the library {spelled(place)} cannot be used: {plain}")
