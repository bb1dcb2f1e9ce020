"""Fixtures for tests of the window."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.bridge.calls import EngineCalls
from app.bridge.host import EngineHost
from tests.fakes.scripted_engine import ScriptedEngine

MakeCalls = Callable[[ScriptedEngine], EngineCalls]


@pytest.fixture(autouse=True)
def _plain_application(qapp: QApplication) -> Iterator[None]:
    """The one application of the run, given back as it was: no style, palette, font or cursor."""
    sheet, palette, font = qapp.styleSheet(), qapp.palette(), qapp.font()
    yield
    while QGuiApplication.overrideCursor() is not None:
        QGuiApplication.restoreOverrideCursor()
    if qapp.styleSheet() != sheet:
        qapp.setStyleSheet(sheet)
    if qapp.palette() != palette:
        qapp.setPalette(palette)
    if qapp.font() != font:
        qapp.setFont(font)


@pytest.fixture
def make_calls(qapp: QApplication) -> Iterator[MakeCalls]:
    """Makes the window's calls to a scripted engine; ends their threads after the test."""
    made: list[EngineCalls] = []

    def make(engine: ScriptedEngine) -> EngineCalls:
        calls = EngineCalls(EngineHost(), Path("library"), open_engine=lambda _, writable: engine)
        made.append(calls)
        return calls

    yield make
    for calls in made:
        assert calls.close()
