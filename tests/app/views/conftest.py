"""The real main window over a scripted engine."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.views.main_window import MainWindow
from app.widgets.overlay import Overlay
from app.widgets.theme import Theme, ThemeChoice
from tests.app.conftest import MakeCalls
from tests.fakes.scripted_engine import ScriptedEngine

OpenWindow = Callable[[ScriptedEngine], MainWindow]


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme(qapp, ThemeChoice.DARK)
    yield made
    made.choose(ThemeChoice.SYSTEM)
    made.deleteLater()


@pytest.fixture
def open_window(qtbot: QtBot, make_calls: MakeCalls, theme: Theme) -> Iterator[OpenWindow]:
    """Opens the window on an engine and waits until the library is shown."""
    opened: list[MainWindow] = []

    def make(engine: ScriptedEngine) -> MainWindow:
        window = MainWindow(make_calls(engine), theme=theme, overlay=Overlay())
        opened.append(window)
        window.show()
        window.start()
        qtbot.waitExposed(window)
        return window

    yield make
    for window in opened:
        window.close()
        window.deleteLater()
