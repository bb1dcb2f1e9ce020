"""Fetching against a server on this machine that behaves well, and badly."""

import errno
import hashlib
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from filelock import FileLock

from engine.errors import (
    FetchDamagedError,
    FetchDiskError,
    FetchOfflineError,
    FetchRefusedError,
    NetworkError,
)
from engine.jobs import Cancelled, Ticket
from engine.network import fetch as fetching
from engine.network import zoo
from engine.network.fetch import fetch, fetch_weights

pytestmark = pytest.mark.shared_workers

CONTENT = bytes(range(256)) * 20_000  # 5 MB: several chunks
DIGEST = hashlib.sha256(CONTENT).hexdigest()[:8]


@dataclass
class Server:
    """``break_after``: bytes after which the connection is cut, once. ``ranges``: whether it can
    give a part of the file. ``asked``: the Range headers, in order."""

    url: str
    content: bytes = CONTENT
    break_after: int | None = None
    ranges: bool = True
    length: bool = True
    redirect: str | None = None
    asked: list[str | None] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            said.asked.append(wanted)
            if said.redirect:
                self.send_response(302)
                self.send_header("Location", said.redirect)
                self.end_headers()
                return
            if self.path != "/weights.pth":
                self.send_error(404)
                return
            start = int(wanted[6:-1]) if wanted and said.ranges else 0
            if start >= len(said.content):
                self.send_error(416)
                return
            body = said.content[start:]
            self.send_response(206 if start else 200)
            if said.length:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            cut, said.break_after = said.break_after, None
            self.wfile.write(body[:cut])

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    said = Server(f"http://127.0.0.1:{http.server_port}/weights.pth")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield said
    http.shutdown()
    http.server_close()
    thread.join()


def got(server: Server, target: Path, ticket: Ticket | None = None, **options: int) -> Path:
    ticket = ticket or Ticket()
    return fetch(server.url, target, sha256_prefix=DIGEST, ticket=ticket, **options)


def test_a_file_is_fetched_once(server: Server, tmp_path: Path) -> None:
    target, ticket = tmp_path / "new" / "weights.pth", Ticket()
    assert got(server, target, ticket) == target
    assert target.read_bytes() == CONTENT
    assert (ticket.progress.done, ticket.progress.total) == (len(CONTENT), len(CONTENT))
    got(server, target)
    assert server.asked == [None]
    assert not list(target.parent.glob("*.part"))


def test_a_broken_connection_is_told_and_gone_on_from(server: Server, tmp_path: Path) -> None:
    server.break_after = 3_000_000
    with pytest.raises(FetchOfflineError, match="broke after 3,000,000 of 5,120,000"):
        got(server, tmp_path / "w.pth")
    assert not (tmp_path / "w.pth").exists()
    assert got(server, tmp_path / "w.pth").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=3000000-"]


def test_a_server_that_gives_no_parts_starts_anew(server: Server, tmp_path: Path) -> None:
    (tmp_path / "w.pth.part").write_bytes(CONTENT[:1000])
    server.ranges = False
    assert got(server, tmp_path / "w.pth").read_bytes() == CONTENT
    assert server.asked == ["bytes=1000-"], "once, and what was there is not kept"


def test_a_part_that_is_whole_already_is_taken(server: Server, tmp_path: Path) -> None:
    (tmp_path / "w.pth.part").write_bytes(CONTENT)
    assert got(server, tmp_path / "w.pth").read_bytes() == CONTENT


@pytest.mark.parametrize("part", [b"of an older file", CONTENT + b"too long"])
def test_a_part_of_another_file_is_thrown_away(server: Server, tmp_path: Path, part: bytes) -> None:
    (tmp_path / "w.pth.part").write_bytes(part)
    assert got(server, tmp_path / "w.pth").read_bytes() == CONTENT


def test_a_damaged_file_in_place_is_fetched_anew(server: Server, tmp_path: Path) -> None:
    (tmp_path / "w.pth").write_bytes(b"cut off")
    assert got(server, tmp_path / "w.pth").read_bytes() == CONTENT


def test_other_content_is_refused_and_leaves_nothing(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT[:-1] + b"x"
    with pytest.raises(FetchDamagedError, match="checksum"):
        got(server, tmp_path / "w.pth")
    assert {path.name for path in tmp_path.iterdir()} <= {"w.pth.lock"}


def test_a_missing_file_is_told(server: Server, tmp_path: Path) -> None:
    server.url = server.url.replace("weights", "nothing")
    with pytest.raises(FetchRefusedError, match="404"):
        got(server, tmp_path / "w.pth")


def test_no_server_is_offline(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/w.pth"
        with pytest.raises(FetchOfflineError, match="cannot be reached"):
            fetch(url, tmp_path / "w.pth", sha256_prefix=DIGEST, ticket=Ticket())


@pytest.mark.parametrize("length", [True, False])
def test_a_file_that_is_too_large_is_refused(server: Server, tmp_path: Path, length: bool) -> None:
    server.length = length
    with pytest.raises(FetchRefusedError, match="more than 4,000,000"):
        got(server, tmp_path / "w.pth", limit_bytes=4_000_000)


@pytest.mark.parametrize("length", [True, False])
def test_cancelled_and_gone_on_with(server: Server, tmp_path: Path, length: bool) -> None:
    server.length = length
    ticket = Ticket()
    ticket.cancel()
    with pytest.raises(Cancelled):
        got(server, tmp_path / "w.pth", ticket)
    assert got(server, tmp_path / "w.pth").read_bytes() == CONTENT


def test_too_little_room_is_told_before(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    little = shutil._ntuple_diskusage(10**9, 10**9, 1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: little)
    with pytest.raises(FetchDiskError, match="no room for 5,120,000"):
        got(server, tmp_path / "w.pth")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_disk_that_fills_up_is_told_and_cleared(server: Server, tmp_path: Path) -> None:
    (tmp_path / "w.pth.part").symlink_to("/dev/full")
    with pytest.raises(FetchDiskError, match="is full"):
        got(server, tmp_path / "w.pth")
    assert not (tmp_path / "w.pth.part").is_symlink()


def test_a_place_that_cannot_be_written_is_told(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FetchDiskError, match=os.strerror(errno.ENOTDIR)):
        got(server, tmp_path / "file" / "sub" / "w.pth")


def test_two_at_once_do_not_mix(server: Server, tmp_path: Path) -> None:
    with FileLock(f"{tmp_path / 'w.pth'}.lock"), pytest.raises(FetchDiskError, match="another"):
        got(server, tmp_path / "w.pth")


@pytest.mark.parametrize("url", ["http://example.org/w.pth", "ftp://localhost/w", "file:///w"])
def test_only_https_is_spoken_with_others(server: Server, tmp_path: Path, url: str) -> None:
    with pytest.raises(FetchRefusedError, match="https only"):
        fetch(url, tmp_path / "w.pth", sha256_prefix="", ticket=Ticket())
    server.redirect = url
    with pytest.raises(FetchRefusedError, match=r"https only|not allowed"):
        got(server, tmp_path / "w.pth")


def test_a_network_of_the_papers_comes_by_name(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = zoo.Architecture("vgg19", "torchvision", "vgg19", url=f"{server.url[:-4]}-{DIGEST}.pth")
    monkeypatch.setattr(fetching, "architecture", lambda _name: here)
    with pytest.raises(FetchRefusedError, match=f"weights-{DIGEST}.pth answers 404"):
        fetch_weights("vgg19", tmp_path, Ticket())


def test_nobody_knows_where_timms_weights_are(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="--weights FILE"):
        fetch_weights("timm:resnet18", tmp_path, Ticket())
