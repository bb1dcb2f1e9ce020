"""Which photo files lie below a folder, told by names and the system's notes on them alone."""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.catalogue.litter import NO_MEDIA, is_litter
from engine.media.formats import is_photo_name

_log = logging.getLogger(__name__)

FolderKey = tuple[int, int]
"""Device and inode: the same for two names of one folder."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with the name of a photo. ``relpath``: bytes, "/" between, relative to the root."""

    relpath: bytes
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A place that was not looked into.

    ``relpath`` ends in "/" for a folder. ``unknown``: nothing was learnt of what lies there, so
    what was known of it stays known.
    """

    relpath: bytes
    path: Path
    reason: str
    unknown: bool


def folder_key(path: Path) -> FolderKey | None:
    """The key of a folder, or None where the system tells none.

    Raises:
        OSError: it is not there, or may not be looked at.
    """
    facts = path.stat()
    return (facts.st_dev, facts.st_ino) if facts.st_ino else None


def walk(
    start: Path, *, below: bytes, avoid: frozenset[FolderKey]
) -> Iterator[FoundFile | LeftOut]:
    """All photo files in ``start`` and its sub-folders, in the order of their names.

    ``below``: the place of ``start`` under its root, "" or ending in "/". ``avoid``: sub-folders
    that belong to somebody else. Links are not followed, and a folder that is met a second time
    (a loop of mounts) is not entered again.

    Raises:
        OSError: ``start`` itself cannot be read.
    """
    met: set[FolderKey] = set()
    waiting = [(start, below)]
    while waiting:
        folder, relpath = waiting.pop()
        try:
            key = folder_key(folder)
            if key is not None:
                if key in met or (key in avoid and folder != start):
                    continue
                met.add(key)
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            if folder == start:
                raise
            yield LeftOut(relpath, folder, f"the folder may not be read: {_plain(error)}", True)
            continue
        if any(entry.name == NO_MEDIA for entry in entries):
            yield LeftOut(relpath, folder, f"the folder holds a file {NO_MEDIA}", False)
            continue
        inner: list[tuple[Path, bytes]] = []
        yield from _look_at(folder, relpath, entries, inner)
        waiting.extend(reversed(inner))


def _look_at(
    folder: Path, relpath: bytes, entries: list[os.DirEntry[str]], inner: list[tuple[Path, bytes]]
) -> Iterator[FoundFile | LeftOut]:
    links = 0
    for entry in entries:
        if is_litter(entry.name):
            continue
        place = relpath + os.fsencode(entry.name)
        try:
            if entry.is_symlink():
                links += is_photo_name(Path(entry.name)) or _leads_to_folder(entry)
            elif entry.is_dir(follow_symlinks=False):
                inner.append((folder / entry.name, place + b"/"))
            elif is_photo_name(Path(entry.name)) and entry.is_file(follow_symlinks=False):
                facts = entry.stat(follow_symlinks=False)
                yield FoundFile(place, facts.st_size, facts.st_mtime_ns)
        except FileNotFoundError:
            _log.debug("gone while the folder was listed: %r", place)
        except OSError as error:
            path = folder / entry.name
            yield LeftOut(place, path, f"the file may not be looked at: {_plain(error)}", True)
    if links:
        reason = "1 link was not followed" if links == 1 else f"{links} links were not followed"
        yield LeftOut(relpath, folder, reason, False)


def _leads_to_folder(link: os.DirEntry[str]) -> bool:
    try:
        return link.is_dir()
    except OSError:  # a loop, or out of reach
        return False


def _plain(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "there is no permission"
    return (error.strerror or str(error)).lower()
