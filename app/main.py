"""Puts the window together: the one place that knows all the parts."""

import argparse
import contextlib
import logging
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QSocketNotifier, Slot
from PySide6.QtWidgets import QApplication

from app import logs, settings, single_instance
from app.bridge.calls import EngineCalls
from app.bridge.errors import Words, words
from app.bridge.host import EngineHost
from app.demonstration import Demonstration
from app.settings import Settings, SettingsKeeper
from app.views.main_window import MainWindow
from app.widgets.overlay import Overlay
from app.widgets.theme import Theme, ThemeChoice
from engine.store.paths import default_library
from engine.types import Picture

logger = logging.getLogger(__name__)


def run(arguments: Sequence[str]) -> int:
    """Open the window and return its exit status when it is closed.

    Ends the process itself if a call into foreign code hangs then.
    """
    options = _parser().parse_args(arguments)
    photo: Path | None = options.photo
    reason = _hindrance(photo)
    if reason is not None:
        sys.stderr.write(f"refocal: {reason}\n")
        return 1
    logs.begin(logs.log_file())
    app = QApplication(["refocal"])
    app.setApplicationName("refocal")
    app.setApplicationDisplayName("Refocal")
    app.setDesktopFileName("refocal")
    if options.demo_picture is not None:
        status, ended = _demonstrate(app, options.demo_picture.absolute())
    else:
        status, ended = _open(app, options.library, photo)
    if not ended:
        logger.error("a call did not come back; leaving without it")
        logging.shutdown()
        os._exit(status)
    return status


def _open(app: QApplication, named: Path | None, photo: Path | None) -> tuple[int, bool]:
    """The exit status, and whether every thread ended."""
    loaded = settings.load(settings.settings_file())
    library = (named or loaded.settings.library or default_library()).absolute()
    first = single_instance.claim(library, photo.absolute() if photo is not None else None)
    if first is None:
        logger.info("the window that is open has taken over")
        return 0, True
    keeper = SettingsKeeper(loaded.settings, settings.settings_file())
    session = _Session(app, library, keeper)
    first.started_again.connect(session.come_forward)
    if loaded.aside is not None:
        session.host.notify(_settings_lost(loaded.aside))
    with logs.nothing_lost(session.tell), _ended_by_signals(app.quit):
        session.begin(photo)
        status = app.exec()
        first.close()
        return status, session.end()


def _demonstrate(app: QApplication, picture: Path) -> tuple[int, bool]:
    """As `_open`, in a library and with settings that are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="refocal-", ignore_cleanup_errors=True) as folder:
        keeper = SettingsKeeper(Settings(), Path(folder) / "settings.json")
        session = _Session(app, Path(folder) / "library", keeper)
        demonstration = Demonstration(session.window, picture)
        demonstration.finished.connect(app.exit)
        with logs.nothing_lost(session.tell), _ended_by_signals(app.quit):
            session.begin(None)
            demonstration.begin()
            status = app.exec()
            return status, session.end()


class _Session(QObject):
    """The window and what it stands on, from its opening to its end."""

    def __init__(self, app: QApplication, library: Path, keeper: SettingsKeeper) -> None:
        super().__init__()
        remembered = keeper.current
        self.host = EngineHost()
        self._calls = EngineCalls(self.host, library)
        self._keeper = keeper
        self._theme = Theme(app, ThemeChoice(remembered.theme))
        self._overlay = Overlay(
            focus=remembered.focus_shown,
            box=remembered.box_shown,
            opacity=remembered.focus_opacity,
        )
        self.window = MainWindow(
            self._calls,
            theme=self._theme,
            overlay=self._overlay,
            tile_px=remembered.tile_px,
            last_folder=next(iter(remembered.last_folders), None),
        )
        if remembered.geometry:
            self.window.restoreGeometry(QByteArray(remembered.geometry))
        self._theme.changed.connect(self._on_taste_changed)
        self._overlay.changed.connect(self._on_taste_changed)
        self.window.closing.connect(self._on_taste_changed)
        self.window.folder_chosen.connect(self._on_folder_chosen)

    def begin(self, photo: Path | None) -> None:
        """Show the window; with a photo, ready to draw a box in it."""
        self.window.show()
        self.window.start()
        if photo is not None:
            self.window.open_query(Picture(path=photo.absolute()))

    def end(self) -> bool:
        """Leave nothing running; whether that worked."""
        self._keeper.save_now()
        self.window.hide()
        ended = self._calls.close()
        self.window.deleteLater()
        return ended

    def tell(self, error: BaseException) -> None:
        """Say in the window that something went wrong. Any thread."""
        self.host.notify(words(error))

    @Slot(object)
    def come_forward(self, photo: Path | None) -> None:
        """Somebody started Refocal again: show the window, and their photo in it."""
        if self.window.isMinimized():
            self.window.showNormal()
        self.window.raise_()
        self.window.activateWindow()
        if photo is not None:
            self.window.open_query(Picture(path=photo))

    @Slot(object)
    def _on_folder_chosen(self, folder: Path) -> None:
        self._keeper.change(self._keeper.current.with_folder(folder))

    @Slot()
    def _on_taste_changed(self) -> None:
        self._keeper.change(
            replace(
                self._keeper.current,
                theme=self._theme.choice.value,
                focus_shown=self._overlay.focus,
                box_shown=self._overlay.box,
                focus_opacity=self._overlay.opacity,
                tile_px=self.window.library.grid.tile_px,
                geometry=bytes(self.window.saveGeometry().data()),
            )
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="refocal", description="Open the window.", allow_abbrev=False
    )
    parser.add_argument("photo", nargs="?", type=Path, metavar="PHOTO", help="a photo to show")
    parser.add_argument(
        "--library", type=Path, metavar="DIR", help="the library (default: your data folder)"
    )
    parser.add_argument(
        "--demo-picture",
        type=Path,
        metavar="FILE",
        help="search the sample album in a library of its own, save a picture of the window, end",
    )
    return parser


def _hindrance(photo: Path | None) -> str | None:
    """Why no window can be opened, in one line; None if nothing is known to be in the way."""
    if photo is not None and photo.is_dir():
        return f"{photo} is a folder; to add it to the library: refocal index {photo}"
    if photo is not None and not photo.is_file():
        return f"there is no photo {photo}"
    screens = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform == "linux" and not any(os.environ.get(name) for name in screens):
        # Qt would abort, with a core dump.
        return (
            "there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set)"
        )
    return None


def _settings_lost(aside: Path) -> Words:
    return Words(
        QApplication.translate("Main", "The window's settings could not be read."),
        QApplication.translate("Main", "The file is damaged, or of a newer Refocal."),
        QApplication.translate("Main", "It was kept as {path}; your library is untouched.").format(
            path=aside
        ),
    )


@contextlib.contextmanager
def _ended_by_signals(quit_: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM close the window as a person would.

    Python runs a signal's handler only between two of its own instructions, and Qt's loop has
    none: the signal also writes a byte to a socket that wakes it.
    """
    wakes, woken = socket.socketpair()
    for end in (wakes, woken):
        end.setblocking(False)
    notifier = QSocketNotifier(woken.fileno(), QSocketNotifier.Type.Read)

    def on_woken() -> None:
        with contextlib.suppress(BlockingIOError):
            woken.recv(64)

    notifier.activated.connect(on_woken)
    fd_before = signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    before = {
        number: signal.signal(number, lambda *_: quit_())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(fd_before)
        notifier.setEnabled(False)
        wakes.close()
        woken.close()
