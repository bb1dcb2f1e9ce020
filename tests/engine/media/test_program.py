"""The decode pool inside other programs: how they start it, and how they end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.engine.media.pictures import encoded, noise

_SCRIPT = """
import sys
print("main runs", flush=True)
{imports}
from pathlib import Path
from engine.config import DecodeSettings
from engine.jobs import Ticket
from engine.media.pool import DecodePool, DecodeTask
from engine.types import Picture
pool = DecodePool(DecodeSettings(workers=1))
task = DecodeTask(0, Picture(path=Path(sys.argv[1])), 64, None)
print(pool.decode(task).pixels.shape, flush=True)
{rest}
"""


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.jpg"
    path.write_bytes(encoded(noise(64, 48), "JPEG"))
    return path


def _start(photo: Path, *, imports: str = "", rest: str = "") -> "subprocess.Popen[str]":
    script = photo.with_name("script.py")
    script.write_text(_SCRIPT.format(imports=imports, rest=rest), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(script), str(photo)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _until_decoded(program: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Wait for the first photo; returns the program's children."""
    assert program.stdout is not None
    assert program.stdout.readline() == "main runs\n"
    assert program.stdout.readline() == "(48, 64, 3)\n"
    return psutil.Process(program.pid).children(recursive=True)


def _gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=5)
    return not alive


def test_a_script_needs_no_guard_and_is_not_run_again(photo: Path) -> None:
    program = _start(photo, rest="pool.close()")
    out, err = program.communicate(timeout=60)
    assert (out, err, program.returncode) == ("main runs\n(48, 64, 3)\n", "", 0)


def test_who_forgets_to_close_still_ends(photo: Path) -> None:
    program = _start(photo)
    children = _until_decoded(program)
    out, err = program.communicate(timeout=20)
    assert (out, err, program.returncode) == ("", "", 0)
    assert _gone(children)


def test_a_failing_program_leaves_no_process(photo: Path) -> None:
    program = _start(photo, rest="sys.stdin.readline(); raise SystemExit('failed on purpose')")
    children = _until_decoded(program)
    _, err = program.communicate("go on\n", timeout=20)
    assert (err, program.returncode) == ("failed on purpose\n", 1)
    assert _gone(children)


@pytest.mark.skipif(sys.platform == "win32", reason="ends processes by signals")
def test_a_killed_program_takes_its_decoders_along(photo: Path) -> None:
    program = _start(photo, rest="sys.stdin.readline()")
    children = _until_decoded(program)
    assert children
    program.kill()
    program.communicate(timeout=20)
    assert _gone(children)


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals to a group")
def test_ctrl_c_is_the_programs_to_handle(photo: Path) -> None:
    """Both while decoders are running and while one is being started."""
    again = """
import signal
signal.signal(signal.SIGINT, lambda *_: None)
for line in sys.stdin:
    with DecodePool(DecodeSettings()) as fresh:
        print(fresh.decode(task).pixels.shape, pool.decode(task).pixels.shape, flush=True)
"""
    program = _start(photo, rest=again)
    children = _until_decoded(program)
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write("ready\n")
    program.stdin.flush()
    program.stdout.readline()
    for pause in (0.0, 0.02, 0.05, 0.1, 0.15):
        program.stdin.write("again\n")
        program.stdin.flush()
        time.sleep(pause)
        os.killpg(program.pid, signal.SIGINT)
        assert program.stdout.readline() == "(48, 64, 3) (48, 64, 3)\n"
    assert all(child.is_running() for child in children)
    _, err = program.communicate(timeout=20)
    assert (err, program.returncode) == ("", 0)


def test_a_decoder_imports_little(photo: Path) -> None:
    """It starts often: whatever the program has loaded, a decoder must not."""
    heavy = ("torch", "PySide6", "scipy", "sqlite3", "timm", "app", "psutil")
    code = f"import engine.media.child, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the libraries that a process has mapped")
def test_a_decoder_takes_nothing_over_from_a_heavy_program(photo: Path) -> None:
    program = _start(photo, imports="import scipy.linalg, sqlite3", rest="sys.stdin.readline()")
    children = _until_decoded(program)
    maps = {mapped.path for child in children for mapped in child.memory_maps()}
    program.communicate("go on\n", timeout=20)
    assert any("numpy" in path for path in maps)
    assert not any("/scipy/" in path or "sqlite" in path for path in maps)
