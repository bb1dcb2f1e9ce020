"""What the library itself costs at 200,000 photos: `python -m tests.bench.large_library [N]`.

The real index job over N tiny files, without decoding and with a network that costs nothing; then
what the window asks. The files and the library lie in a temporary folder of some 1 GB.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil

from engine.catalogue import photos
from engine.config import IndexSettings
from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto
from engine.media.facts import MediaFacts
from engine.media.identity import identity
from engine.media.pool import DecodeOutcome, DecodeTask
from engine.requests import PhotosRequest
from engine.store.database import Database
from engine.store.table import load_table
from engine.types import Size
from tests.fakes.small_library import NETWORK, SmallLibrary

_FACTS = MediaFacts("JPEG", Size(8, 8), 1, None, 1)
_PIXELS = np.zeros((8, 8, 3), np.uint8)


class _NoDecoding:
    """Every file is a small black photo."""

    def run(
        self, tasks: Iterable[DecodeTask], ticket: Ticket
    ) -> Generator[DecodeOutcome, None, None]:
        for task in tasks:
            assert task.picture.path is not None
            told = identity(task.picture.path)
            yield DecodeOutcome(task, DecodedPhoto(_PIXELS, _FACTS, None, told), None)


class _Telling(Ticket):
    """Prints the memory in use now and then: it should stay flat."""

    def update(self, stage: str, done: int, total: int) -> None:
        if done and done % 50_000 == 0:
            megabytes = psutil.Process().memory_info().rss >> 20
            print(f"{stage} {done:,} of {total or '?'}: {megabytes} MB")
        super().update(stage, done, total)


def main(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="refocal-bench-") as ground:
        folder = Path(ground) / "album"
        _fill(folder, count)
        library = SmallLibrary(Path(ground) / "library", pool=_NoDecoding())
        library.parts = replace(
            library.parts,
            settings=IndexSettings(commit_every=256, hand_over=64, publish_every_s=1e9),
        )
        for name in ("first run", "unchanged run"):
            report = library.index(folder, ticket=_Telling())
            print(f"{name}: {report.seconds:.1f} s, {report.indexed:,} indexed")
        database = library.database
        last = PhotosRequest(offset=count - 500, limit=500)
        _time("last page", lambda: photos.page(database, last))
        _time("overview", lambda: photos.overview(database))
        _time("table", lambda: load_table(database, NETWORK.key))
        _time("placeless", lambda: photos.placeless(database))
        _time("inspect", library.problems)
        library.close()
        _time("open", lambda: Database.open(library.paths, writable=True).close())


def _fill(folder: Path, count: int) -> None:
    for number in range(count):
        path = folder / f"{number // 500:04}" / f"{number:07}.jpg"
        if number % 500 == 0:
            path.parent.mkdir(parents=True)
        path.write_bytes(b"photo %d" % number)
        os.utime(path, (1_500_000_000, 1_500_000_000))


def _time(name: str, ask: Callable[[], object]) -> None:
    began = time.perf_counter()
    ask()
    print(f"{name}: {(time.perf_counter() - began) * 1000:.0f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
