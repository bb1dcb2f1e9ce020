"""Fixtures for all tests, and the ground they run on.

No test sees the user's own folders: home, settings, data and cache lie in a temporary folder that
goes with the run. No test leaves anything behind: see `tests.leaks`.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import leaks

_HOMES = {
    "HOME": "home",
    "USERPROFILE": "home",
    "APPDATA": "home/AppData/Roaming",
    "LOCALAPPDATA": "home/AppData/Local",
    "XDG_CACHE_HOME": "home/.cache",
    "XDG_CONFIG_HOME": "home/.config",
    "XDG_DATA_HOME": "home/.local/share",
    "XDG_STATE_HOME": "home/.local/state",
    "XDG_RUNTIME_DIR": "run",
}
# What a desktop may set and a test must not depend on.
_TASTES = ("QT_QPA_PLATFORMTHEME", "QT_SCALE_FACTOR", "QT_STYLE_OVERRIDE", "QT_FONT_DPI")

_ground = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Lay the ground before anything of ours is imported."""
    folder = Path(tempfile.mkdtemp(prefix="refocal-tests-"))
    config.stash[_ground] = folder
    for variable, place in _HOMES.items():
        (folder / place).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ[variable] = str(folder / place)
    for variable in _TASTES:
        os.environ.pop(variable, None)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if sys.platform == "linux":
        os.environ["LC_ALL"] = "C.UTF-8"  # Qt warns of any locale that is not UTF-8


def pytest_unconfigure(config: pytest.Config) -> None:
    """Clear the ground away."""
    shutil.rmtree(config.stash[_ground], ignore_errors=True)


@pytest.fixture(scope="session")
def photo_sets() -> Path:
    """The folder of real photographs; skips with a reason where there is none."""
    named = os.environ.get("REFOCAL_PHOTOS")
    if not named:
        pytest.skip("REFOCAL_PHOTOS does not name a folder of photo sets")
    folder = Path(named)
    if not folder.is_dir():
        pytest.skip(f"REFOCAL_PHOTOS names {folder}, which is no folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _watched_starts() -> Iterator[None]:
    with leaks.watched_starts():
        yield


@pytest.fixture(scope="module", autouse=True)
def _module_leaves_nothing_behind(_watched_starts: None) -> Iterator[None]:
    before = leaks.snapshot()
    yield
    _fail_on(leaks.leftovers(before), "the tests of this file left behind")


@pytest.fixture(autouse=True)
def _leaves_nothing_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test, but those marked ``shared_workers``: these are judged at their file's end."""
    before = leaks.snapshot()
    yield
    if request.node.get_closest_marker("shared_workers") is None:
        _fail_on(leaks.leftovers(before), "the test left behind")


def _fail_on(found: list[str], what: str) -> None:
    if found:
        pytest.fail(f"{what}: " + "; ".join(found), pytrace=False)
