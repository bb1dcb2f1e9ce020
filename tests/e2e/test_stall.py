"""The window stays usable while the engine loads and works: its thread never stands still."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.heavy, pytest.mark.photos]

LIMIT_MS = 100
PHOTOS = 30
TRIES = 3


def watched(library: Path, folder: Path) -> dict[str, Any]:
    """What `tests.e2e.stalls` saw."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.stalls", str(library), str(folder)],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def folder(photo_sets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copied = tmp_path_factory.mktemp("photos")
    for photo in sorted((photo_sets / "cutouts").glob("*.jpg"))[:: 440 // PHOTOS][:PHOTOS]:
        shutil.copy2(photo, copied)
    return copied


def test_the_watch_tells_how_it_is_called() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.stalls", "--help"],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "library folder" in done.stdout


def test_no_stall_while_the_engine_loads_indexes_and_searches(folder: Path, tmp_path: Path) -> None:
    """Loading torch stalls a plain implementation for 250 to 400 ms every time; a machine that
    others share may stall any program now and then. So one quiet run of three is asked for."""
    runs = []
    for n in range(TRIES):
        found = watched(tmp_path / f"library {n}", folder)
        assert not found["torch_before_the_window"]
        assert found["torch_after"]
        assert found["all_ended"]
        parts = {part["name"]: part for part in found["parts"]}
        assert list(parts) == ["loading", "indexing", "searching"]
        assert parts["loading"]["ticks"] > 20
        runs.append({name: part["longest_ms"] for name, part in parts.items()})
        if max(max(waits) for waits in runs[-1].values()) < LIMIT_MS:
            return
    pytest.fail(f"the window's thread stood still in every run: {runs}")
