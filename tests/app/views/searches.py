"""Searches in a whole window, for tests of what becomes of their hits."""

from pytestqt.qtbot import QtBot

from app.views.main_window import MainWindow
from engine.requests import SearchRequest
from engine.types import Box
from tests.app.views.conftest import OpenWindow
from tests.app.views.driving import open_first, search_in
from tests.fakes.scripted_engine import ScriptedEngine

BOX = Box(10, 10, 100, 100)


def searched(qtbot: QtBot, open_window: OpenWindow, engine: ScriptedEngine) -> MainWindow:
    """A window with the hits of a box."""
    window = open_window(engine)
    open_first(qtbot, window)
    search_in(qtbot, window, BOX)
    return window


def asked(engine: ScriptedEngine) -> list[SearchRequest]:
    """The searches so far."""
    return [one for one in engine.requests(SearchRequest) if isinstance(one, SearchRequest)]


def idle(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until nothing is on its way."""
    qtbot.waitUntil(lambda: not window._calls.host.jobs)
