"""One window for each library, also when windows are killed, hang, or start at once."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import filelock
import pytest
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from app import single_instance
from app.single_instance import FirstInstance, claim

Claim = Callable[..., FirstInstance]

LATER = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.single_instance import claim
app = QCoreApplication([])
photo = Path(sys.argv[2]) if len(sys.argv) > 2 else None
mine = claim(Path(sys.argv[1]), photo)
print("second" if mine is None else "first", flush=True)
"""
HOLDING = LATER + "if mine: app.exec()\n"


@pytest.fixture
def first(tmp_path: Path, qtbot: QtBot) -> Iterator[FirstInstance]:
    claimed = claim(tmp_path / "library", None)
    assert claimed is not None
    yield claimed
    claimed.close()


def later(*arguments: Path | str, code: str = LATER) -> "subprocess.Popen[str]":
    """A later start, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def said(process: "subprocess.Popen[str]") -> str:
    output, _ = process.communicate(timeout=60)
    return str(output).strip()


def test_a_later_start_hands_its_photo_over_and_is_done(
    first: FirstInstance, tmp_path: Path, qtbot: QtBot
) -> None:
    handed: list[object] = []
    first.started_again.connect(handed.append)
    photo = tmp_path / os.fsdecode(b"a \xe2\x82\xac \xff photo.jpg")
    process = later(tmp_path / "library", photo)
    qtbot.waitUntil(lambda: bool(handed), timeout=30_000)
    assert said(process) == "second"
    assert handed == [photo]


def test_a_later_start_without_a_photo_only_asks_for_the_window(
    first: FirstInstance, tmp_path: Path, qtbot: QtBot
) -> None:
    handed: list[object] = []
    first.started_again.connect(handed.append)
    process = later(tmp_path / "somewhere" / ".." / "library")
    qtbot.waitUntil(lambda: bool(handed), timeout=30_000)
    assert said(process) == "second"
    assert handed == [None]


def test_another_library_has_a_window_of_its_own(first: FirstInstance, tmp_path: Path) -> None:
    assert said(later(tmp_path / "other")) == "first"


def test_after_the_first_has_gone_the_next_is_the_first(tmp_path: Path, qtbot: QtBot) -> None:
    for _ in range(3):
        claimed = claim(tmp_path / "library", None)
        assert claimed is not None
        claimed.close()


def test_a_killed_window_is_in_nobodys_way(tmp_path: Path) -> None:
    holder = later(tmp_path / "library", code=HOLDING)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "first\n"
    holder.kill()
    holder.communicate()
    assert said(later(tmp_path / "library")) == "first"


def test_of_two_that_start_at_once_one_becomes_the_first(tmp_path: Path) -> None:
    starts = [later(tmp_path / "library", code=HOLDING) for _ in range(4)]
    words = []
    for start in starts:
        assert start.stdout is not None
        words.append(start.stdout.readline().strip())
    for start in starts:
        start.kill()
        start.communicate()
    assert sorted(words) == ["first", "second", "second", "second"]


def test_a_window_that_does_not_answer_costs_a_wait_and_nothing_else(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_instance, "_PATIENCE_S", 0.3)
    place = single_instance.place(tmp_path / "library")
    with filelock.FileLock(place.lock):
        began = time.monotonic()
        claimed = claim(tmp_path / "library", None)
        assert time.monotonic() - began < 3
        assert claimed is not None
        claimed.close()


def test_without_a_folder_for_sockets_there_is_a_window_all_the_same(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for variable in ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        single_instance.place(tmp_path / "library")
    claimed = claim(tmp_path / "library", None)
    assert claimed is not None
    claimed.close()


@pytest.mark.parametrize(
    "message",
    [b"hello\n", b'{"photo": 3}\n', b'{"photo": ""}\n', b"[]\n", b"\xff\n", b"x" * 100_000],
)
def test_who_says_something_else_is_turned_away(
    first: FirstInstance, tmp_path: Path, qtbot: QtBot, message: bytes
) -> None:
    handed: list[object] = []
    first.started_again.connect(handed.append)
    socket = QLocalSocket()
    socket.connectToServer(single_instance.place(tmp_path / "library").address)
    socket.write(message)
    gone = QLocalSocket.LocalSocketState.UnconnectedState
    qtbot.waitUntil(lambda: socket.state() == gone, timeout=5_000)
    assert handed == []
