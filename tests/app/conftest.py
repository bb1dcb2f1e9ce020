"""Fixtures for tests of the window."""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication


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
