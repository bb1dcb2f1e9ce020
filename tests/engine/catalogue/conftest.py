"""A library and a folder for photos, for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.small_library import SmallLibrary, small_library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[SmallLibrary]:
    with small_library(tmp_path / "library") as opened:
        yield opened


@pytest.fixture
def album(tmp_path: Path) -> Path:
    """An empty folder to be filled with photos."""
    folder = tmp_path / "album"
    folder.mkdir()
    return folder
