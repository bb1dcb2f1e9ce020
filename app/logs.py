"""Where the window writes what it did, and that nothing which goes wrong is lost."""

import faulthandler
import logging
import logging.handlers
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final

import platformdirs
from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

logger = logging.getLogger(__name__)

_LEVELS: Final = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
_LINE: Final = "%(asctime)s %(process)d %(threadName)s %(levelname)s %(name)s: %(message)s"
_FILE_BYTES: Final = 1_000_000
_FILES_KEPT: Final = 2


def log_file() -> Path:
    """The log of the window: in the platform's folder for logs."""
    return Path(platformdirs.user_log_dir("refocal", appauthor=False)) / "refocal.log"


def begin(path: Path) -> None:
    """Write the log of this process to a file, warnings to standard error as well; Qt's too."""
    shown = logging.StreamHandler()
    shown.setLevel(logging.WARNING)
    shown.setFormatter(logging.Formatter("refocal: %(message)s"))
    handlers: list[logging.Handler] = [shown]
    trouble = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = logging.handlers.RotatingFileHandler(
            path, maxBytes=_FILE_BYTES, backupCount=_FILES_KEPT, encoding="utf-8", errors="replace"
        )
        kept.setFormatter(logging.Formatter(_LINE))
        handlers.append(kept)
        # What ends the process without Python's doing leaves the stacks of all threads. A file
        # of its own, since the log is exchanged when it is full.
        faulthandler.enable(path.with_suffix(".crash").open("a"))
    except OSError as error:
        trouble = error
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    logging.captureWarnings(True)
    qInstallMessageHandler(_on_qt_message)
    if trouble is not None:
        logger.warning("no log is written: %s", trouble)


@contextmanager
def nothing_lost(tell: Callable[[BaseException], None]) -> Iterator[None]:
    """Log every exception that nobody caught, on any thread, and ``tell`` it; then go on.

    ``tell`` is called on the thread that raised.
    """

    def report(error: BaseException) -> None:
        logger.critical("nobody caught this", exc_info=error)
        tell(error)

    def in_main(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        report(error)

    def in_thread(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            report(arguments.exc_value)

    before = sys.excepthook, threading.excepthook
    sys.excepthook, threading.excepthook = in_main, in_thread
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook = before


def _on_qt_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    level = _LEVELS.get(kind, logging.WARNING)
    if text.startswith("This plugin does not support"):
        level = logging.DEBUG  # the offscreen platform, of what only a real screen has
    logging.getLogger(f"qt.{context.category or 'default'}").log(level, "%s", text)
