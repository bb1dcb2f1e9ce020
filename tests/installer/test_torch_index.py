"""The search for the light torch, with the real pip against a server on this machine."""

import io
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from installer.packages import Pip
from installer.places import Venv
from installer.process import CommandError, LoggedRunner
from installer.progress import Screen
from installer.torch_build import Build, Installed, installed, source

_WHEEL = "torch-2.14.1+cpu-py3-none-any.whl"


class _Index(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = f'<!DOCTYPE html><a href="{_WHEEL}">{_WHEEL}</a>'.encode()
        self.send_response(200 if self.path == "/whl/cpu/torch/" else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def _serving() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Index) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/whl"
        server.shutdown()
        thread.join()


@pytest.fixture
def pip(tmp_path: Path) -> Pip:
    run = LoggedRunner(tmp_path / "log", temporary=None)
    return Pip(Venv(Path(sys.prefix)), run, Screen(io.StringIO()))


def test_the_index_has_it(pip: Pip) -> None:
    with _serving() as indexes:
        light = source(Build.CPU, platform="linux", indexes=indexes)
        assert light.index is not None
        assert pip.offers("torch==2.14.1+cpu", index=light.index)
        assert not pip.offers("torch==2.14.2+cpu", index=light.index)


def _offers(pip: Pip, port: int) -> bool:
    try:
        return pip.offers("torch==2.14.1+cpu", index=f"http://127.0.0.1:{port}/whl/cpu")
    except CommandError:
        return False


def test_nobody_there_is_found_out_at_once(pip: Pip) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        began = time.monotonic()
        assert not _offers(pip, closed.getsockname()[1])
    assert time.monotonic() - began < 10


def test_somebody_silent_is_not_waited_for(pip: Pip) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        assert not _offers(pip, silent.getsockname()[1])
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("build", "platform", "index", "fallback"),
    [
        (Build.CPU, "linux", "https://download.pytorch.org/whl/cpu", Build.CUDA),
        (Build.CUDA, "linux", None, None),
        (Build.CPU, "win32", None, None),
        (Build.CUDA, "win32", "https://download.pytorch.org/whl/cu130", Build.CPU),
        (Build.CPU, "darwin", None, None),
    ],
)
def test_where_each_platform_gets_its_torch(
    build: Build, platform: str, index: str | None, fallback: Build | None
) -> None:
    found = source(build, platform=platform)
    assert found.build is build
    assert found.index == index
    assert (found.fallback.build if found.fallback else None) == fallback


def test_the_torch_that_is_there_is_read_without_loading_it(tmp_path: Path) -> None:
    assert installed(tmp_path) is None
    version = tmp_path / "torch" / "version.py"
    version.parent.mkdir()
    version.write_text("__version__ = '2.14.1+cu130'\ncuda: Optional[str] = '13.0'\n")
    assert installed(tmp_path) == Installed("2.14.1+cu130", "13.0")
    version.write_text("__version__ = '2.14.1+cpu'\ncuda: Optional[str] = None\nhip = 'x'\n")
    assert installed(tmp_path) == Installed("2.14.1+cpu", None)
