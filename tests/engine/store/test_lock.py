import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import LibraryError, LibraryInUseError
from engine.store.lock import WriterLock
from tests.fakes.rights import as_ordinary_user

_HOLD = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from engine.store.lock import WriterLock\n"
    "with WriterLock(Path(sys.argv[1]), holder='the window'):\n"
    "    print('held', flush=True)\n"
    "    time.sleep(60)\n"
)


def test_only_one_holds_it(tmp_path: Path) -> None:
    lock = tmp_path / "library" / "writer.lock"
    named = rf"the command line \(process {os.getpid()}\)"
    with (
        WriterLock(lock, holder="the command line"),
        pytest.raises(LibraryInUseError, match=named),
    ):
        WriterLock(lock).acquire()
    with WriterLock(lock):
        pass


def test_another_process_is_named_and_its_death_frees_the_library(tmp_path: Path) -> None:
    lock = tmp_path / "writer.lock"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(lock)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        for _ in range(2):  # the first refusal must not wipe the note
            with pytest.raises(LibraryInUseError, match=rf"the window \(process {other.pid}\)"):
                WriterLock(lock).acquire()
        other.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        other.wait()
    with WriterLock(lock):
        pass


def test_a_damaged_note_still_gives_a_reason(tmp_path: Path) -> None:
    lock = tmp_path / "writer.lock"
    with WriterLock(lock):
        for note in ("", "[]", json.dumps({"pid": "x", "holder": 1})):
            lock.with_suffix(".holder").write_text(note)
            with pytest.raises(LibraryInUseError, match="another Refocal"):
                WriterLock(lock).acquire()


def test_releasing_twice_is_nothing(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "writer.lock")
    lock.acquire()
    lock.release()
    lock.release()


def test_a_folder_that_may_not_be_written_is_said_to_be_one(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    with as_ordinary_user(folder):
        folder.chmod(0o500)
        with pytest.raises(LibraryError, match="only be read"):
            WriterLock(folder / "writer.lock").acquire()
        folder.chmod(0o700)
