"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest


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
