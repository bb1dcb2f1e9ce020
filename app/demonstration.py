"""The window driven by itself: the sample album is added and searched, and a picture is saved.

For machines without a display, to show that everything works, and for the README's picture.
"""

import json
import logging
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.views.main_window import MainWindow
from app.widgets.assets import SAMPLE_ALBUM
from engine.requests import IndexRequest
from engine.types import Box, Picture

logger = logging.getLogger(__name__)

_LOOK_MS: Final = 50
_LIMIT_S: Final = 300.0
# For what arrives after the hits: thumbnails, exact focus maps, the last animation.
_SETTLE_S: Final = 3.0

# What to wait for next, in words for the log.
_Steps = Generator[str, None, None]


class Demonstration(QObject):
    """Drives a window that was just opened on an empty library."""

    finished = Signal(int)
    """The exit status: 0 once the picture is saved."""

    def __init__(self, window: MainWindow, picture: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = window
        self._picture = picture
        self._steps = self._play()
        self._waits_for = ""
        self._deadline = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._on_looked)

    def begin(self) -> None:
        """Begin once the event loop runs."""
        self._deadline = time.monotonic() + _LIMIT_S
        self._timer.start()

    @Slot()
    def _on_looked(self) -> None:
        if time.monotonic() > self._deadline:
            logger.error("the demonstration waited too long for %s", self._waits_for)
            self._end(1)
            return
        try:
            self._waits_for = next(self._steps)
        except StopIteration:
            self._end(0)
        except (OSError, ValueError, KeyError) as error:
            logger.error("the demonstration failed: %s", error)
            self._end(1)

    def _end(self, status: int) -> None:
        self._timer.stop()
        self.finished.emit(status)

    def _play(self) -> _Steps:
        window = self._window
        picture, box = _query(SAMPLE_ALBUM)
        window.indexing.start(IndexRequest(folders=(SAMPLE_ALBUM,)))
        while window.indexing.running:
            yield "the sample album to be indexed"
        window.open_query(picture)
        crop = window.search.query.crop
        while crop.photo_size is None:
            yield "the query to be shown"
        crop.set_box(box)
        window.search.search()
        while not window.search.hits.rowCount():
            yield "the hits"
        until = time.monotonic() + _SETTLE_S
        while time.monotonic() < until:
            yield "the last thumbnails"
        if not window.grab().save(str(self._picture)):
            raise OSError(f"{self._picture} cannot be written")


def _query(album: Path) -> tuple[Picture, Box]:
    """The first query of an album's gt.json.

    Raises:
        OSError, ValueError, KeyError: there is none.
    """
    truth = json.loads((album / "gt.json").read_text("utf-8"))
    query = truth["queries"][0]
    return Picture(path=album / query["photo"]), Box(*map(float, query["box"]))
