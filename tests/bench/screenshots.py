"""Pictures of every state of the real window over the real engine, to be looked at.

    python -m tests.bench.screenshots OUT [--album FOLDER] [--scale 2] [--size 1280x800]

The album is the sample album, or any folder with a gt.json whose queries have boxes.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.bridge.calls import EngineCalls
from app.bridge.errors import words
from app.bridge.host import EngineHost
from app.views.main_window import MainWindow
from app.widgets.assets import SAMPLE_ALBUM
from app.widgets.overlay import Overlay
from app.widgets.theme import Theme, ThemeChoice
from engine.errors import LibraryInUseError
from engine.requests import IndexRequest
from engine.types import Box, Picture

_LIMIT_MS = 300_000
_SETTLE_MS = 400
_MAPS_MS = 4_000


class Photographer:
    """Drives one window through its states."""

    def __init__(
        self, app: QApplication, out: Path, library: Path, *, size: tuple[int, int]
    ) -> None:
        self._out = out
        self._theme = Theme(app, ThemeChoice.DARK)
        self._calls = EngineCalls(EngineHost(), library)
        self.window = MainWindow(self._calls, theme=self._theme, overlay=Overlay())
        self.window.resize(*size)
        self.window.show()
        self.window.start()

    def take(self, state: str) -> None:
        """A picture of the window as it is, in both themes."""
        for choice in (ThemeChoice.LIGHT, ThemeChoice.DARK):
            self._theme.choose(choice)
            QTest.qWait(_SETTLE_MS)
            self.window.grab().save(str(self._out / f"{state}-{choice}.png"))

    def wait(self, until: Callable[[], bool], *, what: str) -> None:
        """Let the window run until something has come to pass."""
        for _ in range(_LIMIT_MS // 20):
            if until():
                return
            QTest.qWait(20)
        raise TimeoutError(what)

    def close(self) -> None:
        """Leave nothing running."""
        self.window.hide()
        self._calls.close()


def main() -> int:
    """Take all pictures."""
    options = _options()
    logging.basicConfig(level=logging.INFO)
    if options.scale is not None:
        os.environ["QT_SCALE_FACTOR"] = options.scale
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication(["refocal"])
    options.out.mkdir(parents=True, exist_ok=True)
    width, height = (int(part) for part in options.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        library = options.library or Path(folder)
        photographer = Photographer(app, options.out, library, size=(width, height))
        try:
            _library(photographer, options.album)
            _search(photographer, options.album)
            _rest(photographer, options.album)
        finally:
            photographer.close()
    return 0


def _library(by: Photographer, album: Path) -> None:
    window = by.window
    by.wait(lambda: window.welcome.isVisible() or window.library.isVisible(), what="the library")
    if window.welcome.isVisible():
        by.take("welcome")
    window.indexing.start(IndexRequest(folders=(album,)))
    by.wait(lambda: " of " in window.strip.text or not window.indexing.running, what="indexing")
    by.take("indexing")
    by.wait(lambda: not window.indexing.running, what="the end of indexing")
    by.wait(lambda: window.photos.rowCount() > 0, what="photos")
    QTest.qWait(_MAPS_MS)
    by.take("library")


def _search(by: Photographer, album: Path) -> None:
    window = by.window
    query = json.loads((album / "gt.json").read_text("utf-8"))["queries"][0]
    window.open_query(Picture(path=album / query["photo"]))
    crop = window.search.query.crop
    by.wait(lambda: crop.photo_size is not None, what="the photo")
    by.take("photo")
    crop.set_box(Box(*map(float, query["box"])))
    by.take("box")
    window.search.search()
    by.take("searching")
    by.wait(lambda: window.search.hits.rowCount() > 0, what="hits")
    QTest.qWait(_MAPS_MS)
    by.take("hits")
    window.overlay.set_opacity(1.0)
    by.take("hits-strong")
    window.overlay.set_opacity(0.7)
    window.search.results.hit_opened.emit(0)
    QTest.qWait(_MAPS_MS)
    by.take("hit")


def _rest(by: Photographer, album: Path) -> None:
    window = by.window
    window.open_query(Picture(path=album / "not there.jpg"))
    QTest.qWait(_SETTLE_MS)
    by.take("missing photo")
    window.search.closed.emit()
    window.banner.show_words(words(LibraryInUseError("process 4711 writes it since 10:42")))
    by.take("error")
    window.banner.close_message()
    mime = QMimeData()
    mime.setUrls([QUrl("https://example.org/cat.jpg")])
    held = QDragEnterEvent(
        QPointF(99, 99).toPoint(),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(window, held)
    by.take("refused drop")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--album", type=Path, default=SAMPLE_ALBUM)
    parser.add_argument("--library", type=Path, help="use this one, indexed before")
    parser.add_argument("--scale", help="device pixel ratio")
    parser.add_argument("--size", default="1280x800", help="in device independent pixels")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
