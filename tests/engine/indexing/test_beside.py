"""Reading a library while another process indexes into it: reports 20 and 25."""

import time
from pathlib import Path

from engine.catalogue.photos import overview, page
from engine.requests import PhotosRequest
from engine.store.check import inspect
from engine.store.database import Database
from engine.store.paths import LibraryPaths
from engine.store.table import load_table
from engine.store.vectors import VectorStore
from tests.engine.indexing.test_kill import _start
from tests.fakes.fast_extractor import DIM
from tests.fakes.painted import paint_album
from tests.fakes.small_library import CODEC, NETWORK


def test_report_20_a_reader_beside_a_writer_sees_whole_photos_and_no_lock(tmp_path: Path) -> None:
    paint_album(tmp_path / "album", 300)
    paths = LibraryPaths(tmp_path / "library")
    seen: list[int] = []
    slowest = 0.0
    with _start(paths.root, tmp_path / "album") as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "started\n"
        database = Database.open(paths, writable=False)
        while writer.poll() is None:
            began = time.monotonic()
            table = load_table(database, NETWORK.key)
            with VectorStore.open(
                paths.vectors(NETWORK.key), dim=DIM, region_bytes=CODEC.width, writable=False
            ) as vectors:
                assert (vectors.descriptors(len(table))[:, -1] > 0).all()
            assert page(database, PhotosRequest(limit=50)).total >= len(table)
            assert overview(database).ready >= len(table)
            seen.append(len(table))
            slowest = max(slowest, time.monotonic() - began)
            assert inspect(database, paths) == ()
        assert writer.wait() == 0
        assert len(load_table(database, NETWORK.key)) == 300
        database.close()
    assert seen == sorted(seen)
    assert any(0 < rows < 300 for rows in seen)
    assert slowest < 2
