"""A small library of real photos, indexed once by the command line."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import Outcome, refocal

_QUERIES = 3
_UNRELATED = 6


@dataclass(frozen=True)
class SmallSet:
    """Some queries of cutouts with all their positives, and unrelated photos."""

    folder: Path
    queries: list[dict[str, Any]]
    photos: list[str]


@dataclass(frozen=True)
class IndexedSet:
    photos: SmallSet
    library: Path
    first_run: Outcome


@pytest.fixture(scope="session")
def small_set(photo_sets: Path, tmp_path_factory: pytest.TempPathFactory) -> SmallSet:
    source = photo_sets / "cutouts"
    truth = json.loads((source / "gt.json").read_text())
    queries = truth["queries"][:_QUERIES]
    names = [name for query in queries for name in (query["photo"], *query["positives"])]
    names += [name for name in truth["photos"] if name.startswith("plain")][:_UNRELATED]
    folder = tmp_path_factory.mktemp("small set")
    for name in names:
        shutil.copy2(source / name, folder / name)
    kept = {**truth, "photos": names, "queries": queries}
    (folder / "gt.json").write_text(json.dumps(kept))
    return SmallSet(folder, queries, names)


@pytest.fixture(scope="session")
def indexed(small_set: SmallSet, tmp_path_factory: pytest.TempPathFactory) -> IndexedSet:
    library = tmp_path_factory.mktemp("library")
    outcome = refocal("index", small_set.folder, "--library", library, "--json")
    assert outcome.status == 0, outcome.messages
    return IndexedSet(small_set, library, outcome)
