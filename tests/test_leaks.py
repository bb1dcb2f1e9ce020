"""The watch over leftovers sees each kind of them."""

import subprocess
import sys
import threading

import pytest
from PySide6.QtCore import QPauseAnimation, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from tests import leaks


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "_GRACE_S", 0.05)


def test_a_thread_is_seen() -> None:
    before = leaks.snapshot()
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait, name="forgotten")
    thread.start()
    assert leaks.leftovers(before) == ["thread forgotten"]
    stop.set()
    thread.join()
    assert leaks.leftovers(before) == []


def test_a_child_process_is_seen() -> None:
    before = leaks.snapshot()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        (found,) = leaks.leftovers(before)
        assert found.startswith(f"process {child.pid}")
    assert leaks.leftovers(before) == []


def test_a_widget_is_seen(qapp: QApplication) -> None:
    before = leaks.snapshot()
    widget = QWidget()
    widget.setObjectName("orphan")
    assert leaks.leftovers(before) == ["widget QWidget 'orphan'"]
    widget.deleteLater()
    del widget
    assert leaks.leftovers(before) == []


def test_a_running_timer_and_animation_are_seen(qapp: QApplication) -> None:
    before = leaks.snapshot()
    timer = QTimer()
    timer.start(60_000)
    animation = QPauseAnimation()
    animation.setDuration(60_000)
    animation.start()
    assert leaks.leftovers(before) == [
        "running QTimer ''",
        "running QPauseAnimation ''",
    ]
    timer.stop()
    animation.stop()
    assert leaks.leftovers(before) == []
