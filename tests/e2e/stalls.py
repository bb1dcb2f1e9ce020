"""The real window, watched by a timer: how long its thread ever stood still.

``python -m tests.e2e.stalls LIBRARY FOLDER`` opens it on a library, lets it load the network, then
index the folder, then search, and prints one JSON object: for each part of this the longest waits
of a timer that is due every five milliseconds.
"""

import argparse
import json
import sys
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication

from app.bridge.calls import EngineCalls
from app.bridge.host import EngineHost
from app.views.main_window import MainWindow
from app.widgets.overlay import Overlay
from app.widgets.theme import Theme
from engine.requests import IndexRequest, SearchRequest
from engine.types import Picture

EVERY_MS = 5
KEPT = 8
LIMIT_S = 240


@dataclass
class Part:
    """``longest_ms``: the longest waits, longest first. ``ticks``: how often the timer came."""

    name: str
    seconds: float
    ticks: int
    longest_ms: list[float]


class Watch(QObject):
    """Notes how late each tick comes; between two ticks nothing else of the window ran either."""

    def __init__(self, steps: Generator[str, None, None]) -> None:
        super().__init__()
        self.parts: list[Part] = []
        self._steps = steps
        self._name = ""
        self._waits: list[float] = []
        self._begun = self._last = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)
        self._timer.start(EVERY_MS)

    @Slot()
    def _on_tick(self) -> None:
        now = time.perf_counter()
        if self._name:  # the first tick comes when the window is up
            self._waits.append(1000 * (now - self._last))
        self._last = now
        name = next(self._steps, "")
        if name != self._name:
            self._close_part(now)
            self._name = name
        if not name or now - self._begun > LIMIT_S:
            self._timer.stop()
            QApplication.exit(1 if name else 0)

    def _close_part(self, now: float) -> None:
        if self._name:
            longest = [round(wait, 1) for wait in sorted(self._waits, reverse=True)[:KEPT]]
            seconds = round(now - self._begun, 2)
            self.parts.append(Part(self._name, seconds, len(self._waits), longest))
        self._waits = []
        self._begun = now


def play(window: MainWindow, calls: EngineCalls, folder: Path) -> Generator[str, None, None]:
    """Does one thing after the other, and says at each tick what is being waited for."""
    yield "loading"
    window.start()
    while calls.host.jobs or "torch" not in sys.modules:
        yield "loading"
    window.indexing.start(IndexRequest(folders=(folder,)))
    while window.indexing.running:
        yield "indexing"
    photo = min(path for path in folder.iterdir() if path.suffix == ".jpg")
    search = calls.search(SearchRequest(Picture(path=photo)))
    while not search.ended:
        yield "searching"


def main(library: Path, folder: Path) -> int:
    app = QApplication(["refocal"])
    calls = EngineCalls(EngineHost(), library)
    window = MainWindow(calls, theme=Theme(app), overlay=Overlay())
    window.show()
    before = "torch" in sys.modules
    watch = Watch(play(window, calls, folder))
    status = app.exec()
    ended = calls.close()
    found = {
        "torch_before_the_window": before,
        "torch_after": "torch" in sys.modules,
        "all_ended": ended,
        "parts": [asdict(part) for part in watch.parts],
    }
    sys.stdout.write(json.dumps(found) + "\n")
    window.close()
    return status


if __name__ == "__main__":
    named = argparse.ArgumentParser(prog="python -m tests.e2e.stalls", description=__doc__)
    named.add_argument("library", type=Path, help="where the library lies, or will lie")
    named.add_argument("folder", type=Path, help="a folder of JPEG photos, to be indexed")
    places = named.parse_args()
    sys.exit(main(places.library, places.folder))
