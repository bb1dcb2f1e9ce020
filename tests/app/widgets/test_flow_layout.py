"""Chips go on in the next line where one ends."""

from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.flow_layout import FlowLayout


def test_lines_break_at_the_width(qtbot: QtBot) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    flow = FlowLayout(spacing_px=6, parent=holder)
    flow.setContentsMargins(10, 4, 10, 4)
    buttons = [QPushButton(f"photo {n}") for n in range(5)]
    for button in buttons:
        button.setFixedSize(100, 20)
        flow.addWidget(button)
    assert flow.heightForWidth(10 + 5 * 100 + 4 * 6 + 10) == 4 + 20 + 4
    assert flow.heightForWidth(10 + 2 * 100 + 6 + 10) == 4 + 3 * 20 + 2 * 6 + 4
    holder.resize(226, 200)
    holder.show()
    qtbot.waitExposed(holder)
    assert [(b.x(), b.y()) for b in buttons] == [
        (10, 4), (116, 4), (10, 30), (116, 30), (10, 56),
    ]  # fmt: skip
    assert flow.itemAt(5) is None
    assert flow.takeAt(-1) is None
