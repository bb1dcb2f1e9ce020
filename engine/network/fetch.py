"""Fetches a file of weights, when a person says so. Nothing here is called by itself.

Only https is spoken, and http with this machine itself. What has come of a file stays beside it
until it is whole, so that a later call goes on from there.
"""

import errno
import http.client
import logging
import shutil
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Final
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from engine.errors import (
    FetchDamagedError,
    FetchDiskError,
    FetchOfflineError,
    FetchRefusedError,
    NetworkError,
)
from engine.jobs import Ticket
from engine.network.registry import sha256_of
from engine.network.zoo import architecture

_log = logging.getLogger(__name__)

STAGE: Final = "fetching weights"
LARGEST_BYTES: Final = 2 * 1024**3

_CHUNK: Final = 1024**2
_TIMEOUT_S: Final = 30.0
_OWN_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def fetch_weights(name: str, folder: Path, ticket: Ticket) -> Path:
    """torchvision's weights of one of the papers' networks, in ``folder``; fetched once.

    Raises:
        NetworkError: there are none for this name; a `FetchError` as `fetch` raises it.
    """
    wanted = architecture(name)
    if wanted.url is None:
        raise NetworkError(f"nobody says where weights of {name} are: give '--weights FILE'")
    target = folder / wanted.url.rpartition("/")[2]
    return fetch(wanted.url, target, sha256_prefix=wanted.sha256_prefix, ticket=ticket)


def fetch(
    url: str,
    target: Path,
    *,
    sha256_prefix: str,
    ticket: Ticket,
    limit_bytes: int = LARGEST_BYTES,
) -> Path:
    """Fetch a file to ``target``, unless it is there whole. Progress is told in bytes.

    Args:
        sha256_prefix: the first hex digits of what the file's SHA-256 must be.
        limit_bytes: the most that is taken.

    Raises:
        FetchOfflineError: no answer, or it broke off; a later call goes on from there.
        FetchRefusedError: the server has no such file, one that is too large, or points to
            another that may not be fetched.
        FetchDamagedError: what came has another checksum; it is gone.
        FetchDiskError: it does not fit on the disk, or cannot be written there.
        Cancelled: the ticket was cancelled; a later call goes on from there.
    """
    _demand_safe(url)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock", timeout=0):
            if target.exists() and sha256_of(target).startswith(sha256_prefix):
                return target
            part = target.with_name(f"{target.name}.part")
            begun_before = part.exists()
            _complete(url, part, limit_bytes, ticket)
            if begun_before and not sha256_of(part).startswith(sha256_prefix):
                # The file behind the address may have changed since: once more from the start.
                part.unlink()
                _complete(url, part, limit_bytes, ticket)
            if not sha256_of(part).startswith(sha256_prefix):
                part.unlink()
                raise FetchDamagedError(f"what came from {url} has the wrong checksum")
            part.replace(target)
            return target
    except Timeout as error:
        raise FetchDiskError(f"another Refocal is fetching {target.name} already") from error
    except OSError as error:
        raise FetchDiskError(f"{target} cannot be written: {error.strerror or error}") from error


def _complete(url: str, part: Path, limit_bytes: int, ticket: Ticket) -> None:
    """Have the rest of the file, or all of it."""
    had = part.stat().st_size if part.exists() else 0
    try:
        with _opened(url, had) as answer:
            had = had if answer.status == http.HTTPStatus.PARTIAL_CONTENT else 0
            length = answer.headers.get("Content-Length")
            total = had + int(length) if length else 0
            if total > limit_bytes:
                raise FetchRefusedError(f"{url} has {total:,} bytes, more than {limit_bytes:,}")
            if total - had > shutil.disk_usage(part.parent).free:
                raise FetchDiskError(f"{part.parent} has no room for {total - had:,} bytes")
            with part.open("ab" if had else "wb") as file:
                had = _copied(answer, file, had, total, limit_bytes, ticket)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise FetchRefusedError(f"{url} answers {error.code} {error.reason}") from error
        return  # all of it was here: the checksum will tell
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError) as error:
        reason = getattr(error, "reason", None) or error
        raise FetchOfflineError(f"{url} cannot be reached: {reason}") from error
    except ConnectionError as error:
        raise FetchOfflineError(f"the connection to {url} broke: {error}") from error
    if total and had < total:
        raise FetchOfflineError(f"the connection to {url} broke after {had:,} of {total:,} bytes")


def _copied(
    answer: http.client.HTTPResponse,
    file: IO[bytes],
    had: int,
    total: int,
    limit_bytes: int,
    ticket: Ticket,
) -> int:
    """How many bytes the file has then."""
    begun = time.monotonic()
    ticket.update(STAGE, had, total)
    while chunk := answer.read(_CHUNK):
        had += len(chunk)
        if had > limit_bytes:
            raise FetchRefusedError(f"the file has more than {limit_bytes:,} bytes")
        try:
            file.write(chunk)
            file.flush()
        except OSError as error:
            if error.errno not in _DISK_FULL:
                raise
            Path(file.name).unlink()  # a full disk is worse than a second try
            raise FetchDiskError(f"the disk of {file.name} is full") from error
        ticket.update(STAGE, had, total)
    _log.info("fetched %d bytes in %.1f s", had, time.monotonic() - begun)
    return had


def _opened(url: str, had: int) -> http.client.HTTPResponse:
    request = urllib.request.Request(url, headers={"Range": f"bytes={had}-"} if had else {})
    handlers: list[urllib.request.BaseHandler] = [_SafeRedirects()]
    if urlsplit(url).hostname in _OWN_NAMES:
        handlers.append(urllib.request.ProxyHandler({}))
    answer: http.client.HTTPResponse = urllib.request.build_opener(*handlers).open(
        request, timeout=_TIMEOUT_S
    )
    return answer


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        _demand_safe(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _demand_safe(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _OWN_NAMES):
        return
    raise FetchRefusedError(f"weights are fetched over https only, not from {url}")
