"""An empty library for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.store.database import Database
from engine.store.paths import LibraryPaths


@pytest.fixture
def paths(tmp_path: Path) -> LibraryPaths:
    return LibraryPaths(tmp_path / "library")


@pytest.fixture
def database(paths: LibraryPaths) -> Iterator[Database]:
    opened = Database.open(paths, writable=True)
    yield opened
    opened.close()
