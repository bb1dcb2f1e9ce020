"""The real indexing job in a process of its own, to be killed: LIBRARY FOLDER [DIE_AT].

DIE_AT "N": the process kills itself at its Nth step of writing (an append to the vector files, a
flush, the begin or the end of a commit, each before it happens).
"""

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.config import DecodeSettings, IndexSettings
from engine.media.pool import DecodePool
from engine.network.network import PhotoFeatures
from engine.store.database import Database
from engine.store.lock import WriterLock
from engine.store.vectors import VectorStore
from engine.types import PixelArray
from tests.fakes.fast_extractor import FastExtractor
from tests.fakes.small_library import small_library


def main(library: Path, folder: Path, die_at: int | None) -> None:
    if die_at is not None:
        _plant(die_at)
    with (
        DecodePool(DecodeSettings(workers=1)) as pool,
        WriterLock(library / "writer.lock"),
        small_library(library, pool=None if die_at is not None else pool) as opened,
    ):
        opened.parts = replace(
            opened.parts, settings=IndexSettings(commit_every=4, hand_over=2, publish_every_s=0)
        )
        opened.extractor = _Telling()
        _tell("started")
        opened.index(folder)


class _Telling(FastExtractor):
    """Says before each pass that it comes, and takes a moment for it."""

    def extract(self, images: Sequence[PixelArray]) -> list[PhotoFeatures]:
        _tell("pass")
        time.sleep(0.01)
        return super().extract(images)


def _tell(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def _plant(die_at: int) -> None:
    steps = itertools.count(1)

    def step() -> None:
        if next(steps) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def stepping(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:  # noqa: ANN401
            step()
            return original(*arguments)

        return call

    original_write = Database.write

    @contextmanager
    def write(self: Database) -> Any:  # noqa: ANN401
        step()
        writing: AbstractContextManager[Any] = original_write(self)
        with writing as connection:
            yield connection
            step()

    VectorStore._write = stepping(VectorStore._write)  # type: ignore[method-assign]
    VectorStore.flush = stepping(VectorStore.flush)  # type: ignore[method-assign]
    Database.write = write  # type: ignore[method-assign]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
