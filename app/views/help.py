"""Two small dialogs: the keys, and what Refocal is."""

from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QVBoxLayout, QWidget

from app.widgets.icons import Mark
from app.widgets.labels import label


def show_shortcuts(parent: QWidget) -> QDialog:
    """Show the keys; returns the open dialog, which deletes itself when it is closed."""
    dialog, column = _dialog(parent, _tr("Keyboard shortcuts"))
    grid = QGridLayout()
    grid.setHorizontalSpacing(32)
    grid.setVerticalSpacing(6)
    row = 0
    for title, keys in _keys():
        section = label(title, role="section")
        section.setContentsMargins(0, 12 if row else 0, 0, 2)
        grid.addWidget(section, row, 0, 1, 2)
        for pressed, does in keys:
            row += 1
            grid.addWidget(label(does), row, 0)
            native = label(pressed, role="muted")
            grid.addWidget(native, row, 1, alignment=Qt.AlignmentFlag.AlignRight)
        row += 1
    column.insertLayout(1, grid)
    dialog.open()
    return dialog


def show_about(parent: QWidget) -> QDialog:
    """Show what Refocal is; returns the open dialog, which deletes itself when it is closed."""
    dialog, column = _dialog(parent, "Refocal")
    lines = (
        (_tr("Version {n}").format(n=_version()), "muted"),
        (_tr("Finds the same thing again in your own photos."), None),
        (_tr("Nothing leaves this computer. Your photos are never changed or moved."), None),
        (_tr("Free software under the Apache License 2.0. Set in Inter (SIL OFL 1.1)."), "muted"),
    )
    column.insertWidget(0, Mark(48))
    for n, (text, role) in enumerate(lines, start=1):
        column.insertWidget(1 + n, label(text, role=role, wrap=True))
    dialog.open()
    return dialog


def _dialog(parent: QWidget, title: str) -> tuple[QDialog, QVBoxLayout]:
    dialog = QDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    dialog.setMinimumWidth(400)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(24, 20, 24, 20)
    column.setSpacing(8)
    column.addWidget(label(title, role="title"))
    column.addSpacing(8)
    column.addWidget(buttons)
    return dialog, column


def _keys() -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    native = QKeySequence.SequenceFormat.NativeText
    control = QKeySequence("Ctrl+A").toString(native).removesuffix("A")
    alt = QKeySequence("Alt+A").toString(native).removesuffix("A")
    return (
        (
            _tr("Box"),
            (
                (_tr("Space"), _tr("Put a box in the middle")),
                (_tr("Arrows"), _tr("Move it by 1 pixel, with Shift by 10")),
                (_tr("{ctrl}Arrows").format(ctrl=control), _tr("Resize it")),
                (_tr("Enter"), _tr("Search")),
                (_tr("Esc"), _tr("Take it away, then go back")),
                (_tr("Wheel, 0"), _tr("Zoom, whole photo")),
            ),
        ),
        (
            _tr("Hits"),
            (
                ("F", _tr("Focus map on or off")),
                ("B", _tr("Found box on or off")),
                (_tr("Enter"), _tr("Open a hit")),
                (_tr("Left, Right"), _tr("Step through the hits")),
                ("M", _tr("More like this hit")),
                ("N", _tr("Not this hit")),
                (_tr("{alt}Left, Right").format(alt=alt), _tr("Earlier and later search")),
                (f"{control}E", _tr("Export the hits")),
                (_tr("{ctrl}Wheel").format(ctrl=control), _tr("Size of the pictures")),
            ),
        ),
        (
            _tr("Library"),
            (
                (f"{control}O", _tr("Search with another picture")),
                (f"{control}V", _tr("Paste a picture to search with")),
                ("F5", _tr("Look for new photos")),
            ),
        ),
    )


def _version() -> str:
    try:
        return version("refocal")
    except PackageNotFoundError:
        return _tr("unknown")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Help", text)
