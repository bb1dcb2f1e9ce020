"""The window as a program: it opens, remembers, is one, survives mistakes, and leaves."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.settings import Settings, load, save

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Environment variables of a user without any settings."""
    places = {
        name: str(tmp_path / name.lower())
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    }
    run = tmp_path / "run"
    run.mkdir()
    return {**os.environ, **places, "XDG_RUNTIME_DIR": str(run)}


def refocal(deed: str, *arguments: Path | str, env: Mapping[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.app.driven", deed, *map(str, arguments)],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, list[str], str]:
    """Exit status, lines of output, messages."""
    output, messages = process.communicate(timeout=60)
    return process.returncode, output.splitlines(), messages


@contextmanager
def staying(*arguments: Path | str, env: Mapping[str, str]) -> "Iterator[subprocess.Popen[str]]":
    """A window that is up until the end of the block at most."""
    process = refocal("stay", *arguments, env=env)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def log(home: Mapping[str, str]) -> str:
    return (Path(home["XDG_STATE_HOME"]) / "refocal" / "log" / "refocal.log").read_text("utf-8")


def settings_at(home: Mapping[str, str]) -> Path:
    return Path(home["XDG_CONFIG_HOME"]) / "refocal" / "settings.json"


# --- opening and closing --------------------------------------------------------------------


def test_importing_the_window_loads_nothing_heavy() -> None:
    heavy = {"torch", "torchvision", "timm", "scipy", "hnswlib", "sqlite3", "PIL"}
    code = f"import sys, app.main; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_window_opens_and_closes(home: dict[str, str]) -> None:
    assert ended(refocal("close", env=home)) == (0, ["banner:  "], "")


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_window_as_a_person_does(home: dict[str, str], number: int) -> None:
    with staying(env=home) as process:
        process.send_signal(number)
        status, _, messages = ended(process)
        assert (status, messages) == (0, "")
    assert settings_at(home).exists()


def test_a_call_that_hangs_does_not_keep_the_program(home: dict[str, str]) -> None:
    status, _, messages = ended(refocal("hang", env=home))
    assert status == 0
    assert "did not come back" in messages


# --- wrong input ----------------------------------------------------------------------------


def test_a_photo_that_is_not_there(home: dict[str, str], tmp_path: Path) -> None:
    status, _, messages = ended(refocal("close", tmp_path / "gone.jpg", env=home))
    assert status == 1
    assert messages == f"refocal: there is no photo {tmp_path / 'gone.jpg'}\n"


def test_a_folder_is_no_photo(home: dict[str, str], tmp_path: Path) -> None:
    status, _, messages = ended(refocal("close", tmp_path, env=home))
    assert status == 1
    assert messages.startswith(f"refocal: {tmp_path} is a folder")
    assert messages.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
def test_without_a_display_it_says_so(home: dict[str, str]) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        home.pop(name, None)
    status, _, messages = ended(refocal("close", env=home))
    assert status == 1
    assert messages.startswith("refocal: there is no display")
    assert messages.count("\n") == 1


def test_wrong_usage(home: dict[str, str]) -> None:
    assert ended(refocal("close", "--no-such-option", env=home))[0] == 2


# --- settings -------------------------------------------------------------------------------


def test_the_window_looks_as_it_was_left(home: dict[str, str]) -> None:
    changed = ["look: dark False 0.25", "size: 200 780 650"]
    assert ended(refocal("change", env=home)) == (0, changed, "")
    assert ended(refocal("look", env=home)) == (0, changed, "")
    kept = load(settings_at(home)).settings
    assert kept.last_folders == (Path("/album/b"), Path("/album/a"))


def test_damaged_settings_are_told_and_kept_aside(home: dict[str, str]) -> None:
    settings_at(home).parent.mkdir(parents=True)
    settings_at(home).write_text("{")
    status, lines, _ = ended(refocal("close", env=home))
    assert status == 0
    assert lines == [
        "banner: The window's settings could not be read. "
        "The file is damaged, or of a newer Refocal."
    ]
    assert settings_at(home).with_name("settings.damaged.json").read_text() == "{"
    assert json.loads(settings_at(home).read_text())["theme"] == "system"


# --- one window -----------------------------------------------------------------------------


def test_a_second_start_hands_its_photo_to_the_first(home: dict[str, str], tmp_path: Path) -> None:
    photo = tmp_path / "cup of tea.jpg"
    photo.touch()
    with staying(env=home) as first:
        began = time.monotonic()
        assert ended(refocal("close", photo, env=home)) == (0, [], "")
        assert time.monotonic() - began < 30
        assert first.stdout is not None
        assert first.stdout.readline() == f"shown: {str(photo)!a}\n"


def test_libraries_have_a_window_each(home: dict[str, str], tmp_path: Path) -> None:
    save(Settings(library=tmp_path / "remembered"), settings_at(home))
    with staying("--library", tmp_path / "one", env=home):
        other = refocal("close", "--library", tmp_path / "two", env=home)
        assert ended(other)[1] == ["banner:  "]
        of_settings = refocal("close", env=home)
        assert ended(of_settings)[1] == ["banner:  "]


def test_a_photo_named_at_the_start_is_shown(home: dict[str, str], tmp_path: Path) -> None:
    photo = tmp_path / "a.jpg"
    photo.touch()
    status, lines, _ = ended(refocal("close", photo, env=home))
    assert status == 0
    assert lines[0] == f"shown: {str(photo)!a}"


# --- mistakes -------------------------------------------------------------------------------


def test_report_41_a_mistake_on_the_windows_thread_is_told_logged_and_survived(
    home: dict[str, str],
) -> None:
    status, lines, messages = ended(refocal("fail", env=home))
    assert status == 0
    assert lines == [
        "banner: Refocal made a mistake. ZeroDivisionError: in a slot",
        "banner: Refocal made a mistake. ZeroDivisionError: on a thread",
    ]
    assert messages.count("Traceback") == 2
    assert log(home).count("Traceback") == 2
