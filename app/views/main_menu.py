"""The window's menu, which also owns its shortcuts."""

from collections.abc import Callable

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.widgets.theme import ThemeChoice


class MainMenu(QMenu):
    """Actions only; the window does what they ask."""

    theme_chosen = Signal(object)
    """A `ThemeChoice`."""
    open_picture_asked = Signal()
    paste_asked = Signal()
    add_folder_asked = Signal()
    look_again_asked = Signal()
    export_asked = Signal()
    shortcuts_asked = Signal()
    about_asked = Signal()
    quit_asked = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        keys = QKeySequence.StandardKey
        self._add(self.tr("Open a picture…"), self.open_picture_asked.emit, keys.Open)
        self._add(self.tr("Paste a picture"), self.paste_asked.emit, keys.Paste)
        self.addSeparator()
        self._add(self.tr("Add folder…"), self.add_folder_asked.emit, "Ctrl+Shift+O")
        self._add(self.tr("Look for new photos"), self.look_again_asked.emit, keys.Refresh)
        self._export = self._add(self.tr("Export the hits…"), self.export_asked.emit, "Ctrl+E")
        self._export.setEnabled(False)
        self.addSeparator()
        self._themes = QActionGroup(self)
        theme = self.addMenu(self.tr("Appearance"))
        for choice, words in (
            (ThemeChoice.SYSTEM, self.tr("Like the system")),
            (ThemeChoice.LIGHT, self.tr("Light")),
            (ThemeChoice.DARK, self.tr("Dark")),
        ):
            action = theme.addAction(words)
            action.setCheckable(True)
            action.setData(choice)
            self._themes.addAction(action)
        self._themes.triggered.connect(self._on_theme_triggered)
        self._add(self.tr("Keyboard shortcuts"), self.shortcuts_asked.emit, "F1")
        self._add(self.tr("About Refocal"), self.about_asked.emit)
        self.addSeparator()
        self._add(self.tr("Quit"), self.quit_asked.emit, keys.Quit)

    def show_theme(self, choice: ThemeChoice) -> None:
        """Mark what is chosen."""
        for action in self._themes.actions():
            action.setChecked(action.data() == choice)

    def set_exportable(self, exportable: bool) -> None:
        """Whether there are hits."""
        self._export.setEnabled(exportable)

    def _add(
        self,
        words: str,
        ask: Callable[[], None],
        keys: QKeySequence.StandardKey | str | None = None,
    ) -> QAction:
        action = QAction(words, self)
        if isinstance(keys, str):
            action.setShortcut(QKeySequence(keys))
        elif keys is not None:
            action.setShortcuts(QKeySequence.keyBindings(keys))
        action.triggered.connect(ask)
        self.addAction(action)
        # In the window too, or the shortcut would work only while the menu is open.
        self._window.addAction(action)
        return action

    @Slot(QAction)
    def _on_theme_triggered(self, action: QAction) -> None:
        self.theme_chosen.emit(ThemeChoice(action.data()))
