"""``refocal`` over a scripted engine, doing by itself what a test names.

``python -m tests.app.driven DEED [ARGUMENT...]``: the window opens as it does for a person, then
the deed is done in it. What the test wants to know is printed, a line each.
"""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app import main
from app.bridge import calls, host
from app.bridge.door import Engine
from app.views.main_window import MainWindow
from app.widgets.theme import ThemeChoice
from engine.jobs import Ticket
from engine.requests import EngineStatus, WarmRequest
from engine.types import Picture
from tests.fakes.scripted_engine import ScriptedEngine, library

SOON_MS = 200


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def say_banner(window: MainWindow) -> None:
    words = window.banner.words
    say("banner:", words.message if words else "", words.cause if words else "")


# --- deeds ----------------------------------------------------------------------------------


def close(window: MainWindow) -> None:
    """What a person does in the end."""
    say_banner(window)
    window.close()


def stay(window: MainWindow) -> None:
    """Wait for a signal, or for a photo."""
    say("up")


def change(window: MainWindow) -> None:
    """Choose another look, then close."""
    window.menu.theme_chosen.emit(ThemeChoice.DARK)
    window.overlay.set_focus(False)
    window.overlay.set_opacity(0.25)
    window.library.grid.set_tile_px(200)
    window.drops.folders_dropped.emit((Path("/album/a"), Path("/album/b")))
    window.resize(780, 650)
    look(window)


def look(window: MainWindow) -> None:
    """Say how the window looks, then close."""
    dark = QApplication.palette().window().color().lightness() < 128
    overlay = window.overlay
    say("look:", "dark" if dark else "light", overlay.focus, overlay.opacity)
    say("size:", window.library.grid.tile_px, window.width(), window.height())
    window.close()


def fail(window: MainWindow) -> None:
    """Fail in a slot and on a thread, each time saying what the banner says; then close."""

    def broken() -> None:
        raise ZeroDivisionError("in a slot")

    def broken_beside() -> None:
        raise ZeroDivisionError("on a thread")

    thread = threading.Thread(target=broken_beside)
    QTimer.singleShot(0, broken)
    QTimer.singleShot(SOON_MS, lambda: say_banner(window))
    QTimer.singleShot(SOON_MS, lambda: thread.start())
    QTimer.singleShot(2 * SOON_MS, lambda: close(window))


def hang(window: MainWindow) -> None:
    """Close while a call is inside foreign code for good."""
    window.close()


DEEDS: dict[str, Callable[[MainWindow], None]] = {
    deed.__name__: deed for deed in (close, stay, change, look, fail, hang)
}


# --- the program ----------------------------------------------------------------------------


class _Hanging(ScriptedEngine):
    def warm(self, request: WarmRequest, ticket: Ticket) -> EngineStatus:
        threading.Event().wait()
        return super().warm(request, ticket)


class _Window(MainWindow):
    deed: Callable[[MainWindow], None] = staticmethod(close)

    def start(self) -> None:
        super().start()
        QTimer.singleShot(SOON_MS, lambda: type(self).deed(self))

    def open_query(self, picture: Picture, *, others: int = 0) -> None:
        super().open_query(picture, others=others)
        say("shown:", ascii(str(picture.path)))


def run(name: str, arguments: list[str]) -> int:
    script = library(3)
    engine: Engine = _Hanging(**vars(script)) if name == "hang" else script

    def open_engine(_: Path, *, writable: bool) -> Engine:
        return engine

    vars(calls)["open_real_engine"] = open_engine
    vars(host)["CLOSE_LIMIT_S"] = 0.5 if name == "hang" else 10.0
    _Window.deed = staticmethod(DEEDS[name])
    vars(main)["MainWindow"] = _Window
    return main.run(arguments)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
