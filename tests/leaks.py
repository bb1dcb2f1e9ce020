"""What a test may leave behind: nothing.

`snapshot` is taken before a test, `leftovers` after it. The second waits a little for what is
still on its way out, then names everything that came and stayed: threads, child processes,
top-level widgets, and running timers, animations and Qt threads.
"""

import gc
import multiprocessing
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil
import shiboken6
from PySide6.QtCore import QAbstractAnimation, QCoreApplication, QEvent, QThread, QTimer

_GRACE_S = 3.0
# One per interpreter, started by the first spawned process and meant to outlive it.
_OUTLIVING = "multiprocessing.resource_tracker"
# Qt keeps the last tool tip for the next one.
_KEPT_BY_QT = frozenset({"QTipLabel"})

_started: list[weakref.ref[Any]] = []


@dataclass(frozen=True)
class Snapshot:
    """What was alive at one moment."""

    threads: frozenset[int | None]
    processes: frozenset[int]
    widgets: tuple[object, ...]


def snapshot() -> Snapshot:
    """What is alive now."""
    return Snapshot(
        frozenset(thread.ident for thread in threading.enumerate()),
        frozenset(child.pid for child in _children()),
        tuple(_top_level_widgets()),
    )


def leftovers(before: Snapshot) -> list[str]:
    """What came after ``before`` and stays, one line each."""
    deadline = time.monotonic() + _GRACE_S
    found = _found(before)
    if found:
        # A widget or timer whose last owner is a cycle is no leak.
        gc.collect()
        found = _found(before)
    while found and time.monotonic() < deadline:
        time.sleep(0.02)
        found = _found(before)
    return found


@contextmanager
def watched_starts() -> Iterator[None]:
    """Remember every timer, animation and Qt thread that Python starts."""
    originals = [(kind, kind.start) for kind in (QTimer, QAbstractAnimation, QThread)]
    for kind, original in originals:
        setattr(kind, "start", _remembering(original))  # noqa: B010
    try:
        yield
    finally:
        for kind, original in originals:
            setattr(kind, "start", original)  # noqa: B010


def _remembering(original: Callable[..., None]) -> Callable[..., None]:
    def start(self: object, *arguments: object) -> None:
        if all(kept() is not self for kept in _started):
            _started.append(weakref.ref(self))
        original(self, *arguments)

    return start


def _found(before: Snapshot) -> list[str]:
    _deliver_deletions()
    return [*_new_threads(before), *_new_processes(before), *_new_widgets(before), *_running()]


def _deliver_deletions() -> None:
    if QCoreApplication.instance() is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _new_threads(before: Snapshot) -> Iterator[str]:
    for thread in threading.enumerate():
        # "Dummy" is what Python calls a foreign thread that once ran Python code.
        if thread.ident not in before.threads and not thread.name.startswith("Dummy-"):
            yield f"thread {thread.name}"


def _children() -> list[psutil.Process]:
    multiprocessing.active_children()  # reaps those that ended
    return psutil.Process().children()


def _new_processes(before: Snapshot) -> Iterator[str]:
    for child in _children():
        if child.pid in before.processes:
            continue
        try:
            command = " ".join(child.cmdline())
            ended = child.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            continue
        if not ended and _OUTLIVING not in command:
            yield f"process {child.pid}: {command[:200]}"


def _top_level_widgets() -> list[Any]:
    widgets: Any = sys.modules.get("PySide6.QtWidgets")
    if widgets is None or widgets.QApplication.instance() is None:
        return []
    return [
        widget
        for widget in widgets.QApplication.topLevelWidgets()
        if widget.metaObject().className() not in _KEPT_BY_QT
    ]


def _new_widgets(before: Snapshot) -> Iterator[str]:
    for widget in _top_level_widgets():
        if not any(widget is known for known in before.widgets):
            yield f"widget {widget.metaObject().className()} {widget.objectName()!r}"


def _running() -> Iterator[str]:
    for kept in list(_started):
        started = kept()
        if started is None or not shiboken6.isValid(started):
            _started.remove(kept)
        elif _runs(started):
            yield f"running {type(started).__name__} {started.objectName()!r}"


def _runs(started: object) -> bool:
    match started:
        case QTimer():
            return started.isActive()
        case QAbstractAnimation():
            return started.state() == QAbstractAnimation.State.Running
        case QThread():
            return started.isRunning()
        case _:
            return False
