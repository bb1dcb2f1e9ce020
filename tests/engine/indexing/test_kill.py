"""Killed anywhere, an indexing run continues where it was committed: report 18."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from engine.store.table import load_table
from tests.fakes.painted import paint_album
from tests.fakes.small_library import NETWORK, small_library

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL on Windows")

_PHOTOS = 60


def _start(library: Path, folder: Path, *more: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.engine.indexing.indexing_process",
            str(library),
            str(folder),
            *more,
        ],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def _judge(library: Path, folder: Path) -> None:
    """The library holds every photo once, and nothing is wrong with it."""
    with small_library(library) as opened:
        report = opened.index(folder)
        assert (report.found, report.failed, report.copies) == (_PHOTOS, 0, 0)
        assert report.indexed + report.unchanged == _PHOTOS
        photos = opened.photos()
        assert len(photos) == _PHOTOS
        assert max(Counter(photo.path for photo in photos).values()) == 1
        table = load_table(opened.database, NETWORK.key)
        assert sorted(table.photo_ids.tolist()) == sorted(photo.id for photo in photos)
        assert opened.vectors.whole_rows() == (_PHOTOS, table.region_rows)
        assert opened.problems() == ()


@pytest.mark.timeout(250)
def test_report_18_killed_at_twenty_random_moments(tmp_path: Path, photo_sets: Path) -> None:
    """Real photos, the real pool, SIGKILL from outside. Nothing is wrong after a kill, and the
    restart completes."""
    folder = tmp_path / "album"
    folder.mkdir()
    for photo in sorted((photo_sets / "cutouts").glob("*.jpg"))[:_PHOTOS]:
        shutil.copy(photo, folder)
    chance = random.Random(20)
    kept: list[int] = []
    for number in range(20):
        library = tmp_path / f"library_{number}"
        with _start(library, folder) as process:
            assert process.stdout is not None
            passes = chance.randrange(_PHOTOS // 2)
            for _ in range(1 + passes):
                assert process.stdout.readline()
            time.sleep(chance.uniform(0, 0.3 if passes == 0 else 0.02))
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        with small_library(library) as opened:
            assert opened.problems() == ()
            kept.append(len(load_table(opened.database, NETWORK.key)))
        _judge(library, folder)
    assert len(set(kept)) > 5
    assert all(0 <= rows < _PHOTOS for rows in kept)


def test_report_18_killed_again_and_again_it_gets_to_the_end(tmp_path: Path) -> None:
    library, folder = tmp_path / "library", tmp_path / "album"
    paint_album(folder, _PHOTOS)
    ends: list[int] = []
    while not ends or ends[-1] != 0:
        with _start(library, folder, "23") as process:
            process.communicate()
        ends.append(process.returncode)
        assert len(ends) < 40
    assert len(ends) > 3
    _judge(library, folder)


@pytest.mark.parametrize("die_at", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 31, 47, 60])
def test_report_18_killed_at_every_kind_of_step(tmp_path: Path, die_at: int) -> None:
    """The moments that chance would seldom hit: between append, flush and commit."""
    library, folder = tmp_path / "library", tmp_path / "album"
    paint_album(folder, _PHOTOS)
    with _start(library, folder, str(die_at)) as process:
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    _judge(library, folder)
