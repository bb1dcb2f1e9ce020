"""The folders that the user added, and which part of them a job is about."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.catalogue.litter import is_litter
from engine.catalogue.walk import FolderKey, folder_key
from engine.errors import FolderError
from engine.store.database import Database
from engine.store.paths import spelled


@dataclass(frozen=True, slots=True)
class Scope:
    """A folder of the library, or the part of it below a sub-folder.

    ``below``: the sub-folder as bytes that end in "/", or empty for all of it. ``added``: the
    folder was not known before.
    """

    folder_id: int
    root: Path
    below: bytes = b""
    added: bool = False

    @property
    def path(self) -> Path:
        return place(self.root, self.below)


def place(root: Path, relpath: bytes) -> Path:
    """The path of a file or sub-folder of a root."""
    return root / os.fsdecode(relpath)


def condition(scopes: Iterable[Scope]) -> tuple[str, list[object]]:
    """SQL that holds for the files ``f`` in any of these scopes, and its parameters.

    The plus keeps SQLite from choosing the index of paths for it: most scopes are most of the
    library, and whoever asks for a few ids has a better index.
    """
    parts: list[str] = []
    values: list[object] = []
    for scope in scopes:
        if scope.below:
            # "0" follows "/", so that these two embrace all that begins with ``below``.
            parts.append("(+f.folder_id = ? AND f.relpath >= ? AND f.relpath < ?)")
            values += [scope.folder_id, scope.below, scope.below[:-1] + b"0"]
        else:
            parts.append("+f.folder_id = ?")
            values.append(scope.folder_id)
    return f"({' OR '.join(parts) or '0'})", values


def resolve(database: Database, folders: Sequence[Path]) -> tuple[Scope, ...]:
    """What to scan for these folders; for none: all that the library has.

    A new folder is added, unless it lies inside one that is there: then that part of it is meant.
    Folders of the library that lie inside a named one are meant with it.

    Raises:
        FolderError: a new folder is missing, is none, may not be read, or is the library.
            Nothing has been added then.
    """
    known = _known(database)
    if not folders:
        return tuple(known)
    # Outer folders first: the inner ones are then found to lie in them.
    wanted = sorted({_real(folder) for folder in folders}, key=lambda path: len(path.parts))
    own = {scope.root for scope in known}
    for folder in wanted:
        if folder not in own:
            check_new(folder, database.folder)
    scopes: list[Scope] = []
    for folder in wanted:
        scope = _within(folder, known)
        if scope is None:
            scope = _add(database, folder)
            known.append(scope)
        scopes.append(scope)
        scopes += [other for other in known if folder in other.root.parents]
    return tuple(_distinct(scopes))


def keys_of_others(database: Database, scope: Scope) -> frozenset[FolderKey]:
    """Keys of folders that a walk through ``scope`` must leave alone: other roots, the library."""
    others = [other.root for other in _known(database) if other.folder_id != scope.folder_id]
    return frozenset(key for path in (*others, database.folder) for key in _keys(path))


def drop_if_bare(database: Database, scope: Scope) -> None:
    """Take a folder that was just added out again, if no file is known of it."""
    with database.write() as connection:
        connection.execute(
            """
            DELETE FROM folders WHERE id = ?
            AND NOT EXISTS (SELECT 1 FROM files WHERE folder_id = folders.id)
            """,
            (scope.folder_id,),
        )


def reachable(root: Path) -> bool:
    """Whether the folder is there and holds anything: the place of a mount that has gone does
    not."""
    try:
        with os.scandir(root) as listing:
            return next(listing, None) is not None
    except OSError:
        return False


def mark_offline(database: Database, root: Path) -> bool:
    """Note that the folder went away while it was in use. Whether that is news."""
    with database.write() as connection:
        changed = connection.execute(
            "UPDATE folders SET online = 0 WHERE path = ? AND online = 1", (os.fsencode(root),)
        ).rowcount
    return changed > 0


def all_roots(connection: sqlite3.Connection) -> dict[int, Path]:
    """Every folder of the library by its id."""
    rows = connection.execute("SELECT id, path FROM folders ORDER BY id")
    return {folder_id: Path(os.fsdecode(path)) for folder_id, path in rows}


def _known(database: Database) -> list[Scope]:
    with database.read() as connection:
        return [Scope(id_, root) for id_, root in all_roots(connection).items()]


def _real(folder: Path) -> Path:
    # Two names of one folder must not become two folders. Path.resolve would raise on a loop of
    # links; realpath leaves it as it is, and the check of new folders then says so.
    return Path(os.path.realpath(folder))


def check_new(folder: Path, library: Path) -> None:
    """See that a folder may be added to the library that lies, or shall lie, in ``library``.

    Raises:
        FolderError: it is missing, is none, may not be read, or is the library.
    """
    folder, name = _real(folder), spelled(_real(folder))
    try:
        if not folder.is_dir():
            what = "is no folder" if folder.exists() else "does not exist"
            raise FolderError(f"{name} {what}", path=folder)
        with os.scandir(folder) as listing:
            next(listing, None)
    except PermissionError as error:
        reason = f"{name} may not be read: there is no permission"
        raise FolderError(reason, path=folder) from error
    except OSError as error:
        reason = f"{name} cannot be read: {(error.strerror or str(error)).lower()}"
        raise FolderError(reason, path=folder) from error
    if folder == _real(library):
        raise FolderError(f"{name} is the library itself, no folder of photos", path=folder)


def _within(folder: Path, known: Sequence[Scope]) -> Scope | None:
    """The part of a known folder that this one is; by the system's keys, so that letter case or
    a second mount does not make two folders of one."""
    by_root = {scope.root: scope for scope in known}
    by_key = {key: scope for scope in known for key in _keys(scope.root)}
    parts: list[str] = []
    for ancestor in (folder, *folder.parents):
        found = by_root.get(ancestor)
        for key in _keys(ancestor):
            found = found or by_key.get(key)
        if found is not None:
            if any(map(is_litter, parts)):
                return None  # no scan of that folder would look there
            below = b"".join(
                os.fsencode(name) + b"/" for name in _names_on_disk(found.root, parts[::-1])
            )
            return Scope(found.folder_id, found.root, below)
        parts.append(ancestor.name)
    return None


def _names_on_disk(folder: Path, parts: Iterable[str]) -> Iterator[str]:
    """The parts as the disk spells them; a system may take other letter cases for the same."""
    for part in parts:
        names = [entry.name for entry in folder.iterdir()]
        real = part
        if part not in names:
            real = next((n for n in names if (folder / n).samefile(folder / part)), part)
        yield real
        folder /= real


def _keys(path: Path) -> Iterator[FolderKey]:
    """The folder's key, if it can be had."""
    try:
        key = folder_key(path)
    except OSError:
        return
    if key is not None:
        yield key


def _add(database: Database, folder: Path) -> Scope:
    with database.write() as connection:
        row = connection.execute(
            "INSERT INTO folders (path) VALUES (?) RETURNING id", (os.fsencode(folder),)
        ).fetchone()
    return Scope(row[0], folder, added=True)


def _distinct(scopes: Sequence[Scope]) -> Iterator[Scope]:
    """Each part once, without those that lie in another."""
    unlike: dict[tuple[int, bytes], Scope] = {}
    for scope in scopes:
        unlike.setdefault((scope.folder_id, scope.below), scope)
    for folder_id, below in unlike:
        outer = (b for f, b in unlike if f == folder_id and b != below and below.startswith(b))
        if not any(True for _ in outer):
            yield unlike[folder_id, below]
