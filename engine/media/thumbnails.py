"""Thumbnails on disk: a cache that may be deleted at any time, of bounded size."""

import contextlib
import hashlib
import logging
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger(__name__)

_IDENTITY = re.compile(r"[0-9a-f]{32}")
_DIGEST_BYTES = 16
_KEPT_SHARE = 0.9
"""How much of the limit is left after old entries went, so that not every new one evicts."""
_ABANDONED_S = 3600.0


class ThumbnailCache:
    """JPEG bytes by content identity. Least recently used entries go when the limit is passed.

    An entry is a file with the picture and a checksum behind it, which viewers ignore. It is
    written under another name and renamed; a damaged one counts as missing. Thread-safe, and
    several processes may share the folder. A cache that cannot be written is only slower: errors
    of the disk are logged, never raised.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._bytes: int | None = None  # counted before the first entry is added

    def get(self, identity: str) -> bytes | None:
        """The JPEG, or None; marks it as used."""
        path = self._path(identity)
        try:
            written = path.read_bytes()
        except OSError:
            return None
        jpeg, digest = written[:-_DIGEST_BYTES], written[-_DIGEST_BYTES:]
        if _digest(jpeg) != digest:
            log.info("a damaged thumbnail is made anew: %s", path.name)
            return None
        with contextlib.suppress(OSError):  # a read-only disk; its order of use stays as it was
            os.utime(path)
        return jpeg

    def put(self, identity: str, jpeg: bytes) -> None:
        """Keep a JPEG; one that is there already is replaced."""
        path = self._path(identity)
        with self._lock:
            try:
                if self._bytes is None:
                    self._bytes = sum(size for _, size, _ in self._entries())
                self._bytes += _write(path, jpeg)
                if self._bytes > self._limit_bytes:
                    self._bytes = self._evict()
            except OSError as error:
                log.warning("a thumbnail could not be kept: %s", error)

    def _path(self, identity: str) -> Path:
        if not _IDENTITY.fullmatch(identity):
            raise ValueError(f"no content identity: {identity!r}")
        return self._folder / identity[:2] / f"{identity}.jpg"

    def _evict(self) -> int:
        """Delete from the oldest until well under the limit; returns the bytes that stay."""
        entries = sorted(self._entries())
        left = sum(size for _, size, _ in entries)
        for _, size, path in entries:
            if left <= self._limit_bytes * _KEPT_SHARE:
                break
            path.unlink(missing_ok=True)
            left -= size
        return left

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """(time of last use, bytes, file) of each entry. What a crash left unfinished is deleted
        on the way."""
        for path in self._folder.glob("??/*"):
            try:
                found = path.stat()
                if path.suffix == ".jpg":
                    yield found.st_mtime, found.st_size, path
                elif time.time() - found.st_mtime > _ABANDONED_S:
                    path.unlink()
            except FileNotFoundError:  # another process was quicker
                continue


def _digest(jpeg: bytes) -> bytes:
    return hashlib.blake2b(jpeg, digest_size=_DIGEST_BYTES).digest()


def _write(path: Path, jpeg: bytes) -> int:
    """Returns how many bytes the cache grew by."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.stat().st_size if path.exists() else 0
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as part:
        try:
            part.write(jpeg)
            part.write(_digest(jpeg))
            part.close()
            Path(part.name).replace(path)
        except BaseException:
            part.close()
            Path(part.name).unlink(missing_ok=True)
            raise
    return len(jpeg) + _DIGEST_BYTES - before
