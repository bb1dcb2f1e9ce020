"""Colours, type and style sheet of the window, light and dark.

The colours stand in ``assets/style/light.json`` and ``dark.json`` and nowhere else. The style
sheet names them after a dollar sign; widgets that paint themselves find them in their palette:
``Highlight`` is the accent and ``HighlightedText`` what is legible on it, ``Accent`` the same hue
as it is seen on any photo, ``PlaceholderText`` the muted text, ``Dark`` the canvas behind photos,
``Mid`` a line, ``Midlight`` what lies under the mouse, ``Base`` a panel.
"""

import json
from collections.abc import Mapping
from enum import StrEnum
from string import Template

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from app.widgets.assets import STYLE

TYPE_SCALE: Mapping[str, float] = {
    "pt_caption": 0.9,
    "pt_heading": 1.12,
    "pt_title": 1.3,
    "pt_display": 2.2,
}
_FAMILY = "Inter"
_SMALLEST_PT = 9.5
_ROLES: Mapping[QPalette.ColorRole, str] = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "raised",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.Button: "raised",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "danger",
    QPalette.ColorRole.Light: "raised",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "line",
    QPalette.ColorRole.Dark: "canvas",
    QPalette.ColorRole.Shadow: "line_strong",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.Accent: "on_photo",
    QPalette.ColorRole.HighlightedText: "on_accent",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "accent",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "text",
}


class ThemeChoice(StrEnum):
    """What the user asked for."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def colours(*, dark: bool) -> dict[str, str]:
    """Every colour of a theme by its name, as #rrggbb."""
    table = json.loads((STYLE / ("dark.json" if dark else "light.json")).read_text("utf-8"))
    return {str(name): str(value) for name, value in table.items()}


def palette(table: Mapping[str, str]) -> QPalette:
    """The colours as Qt's roles."""
    made = QPalette()
    for role, name in _ROLES.items():
        made.setColor(role, QColor(table[name]))
    for role in (
        QPalette.ColorRole.WindowText,
        QPalette.ColorRole.Text,
        QPalette.ColorRole.ButtonText,
    ):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(table["muted"]))
    return made


def style_sheet(table: Mapping[str, str], *, base_pt: float) -> str:
    """The style sheet in these colours; ``base_pt``: size of body text in points."""
    sizes = {name: f"{base_pt * factor:.2f}" for name, factor in TYPE_SCALE.items()}
    return Template((STYLE / "refocal.qss").read_text("utf-8")).substitute({**table, **sizes})


class Theme(QObject):
    """Dresses the application, and follows the system while it is asked to."""

    changed = Signal()

    def __init__(self, app: QApplication, choice: ThemeChoice = ThemeChoice.SYSTEM) -> None:
        super().__init__(app)
        self._app = app
        self._choice = choice
        self._dressed: bool | None = None
        self._font = _font(app.font())
        app.setStyle(QStyleFactory.create("Fusion"))
        app.setFont(self._font)
        app.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)
        self.choose(choice)

    @property
    def choice(self) -> ThemeChoice:
        return self._choice

    @property
    def dark(self) -> bool:
        """Whether the window is dark now."""
        if self._choice is ThemeChoice.SYSTEM:
            return self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return self._choice is ThemeChoice.DARK

    def choose(self, choice: ThemeChoice) -> None:
        """Change to what the user asked for."""
        self._choice = choice
        # Asked of the platform as well, so that title bars and file dialogs follow.
        self._app.styleHints().setColorScheme(
            {
                ThemeChoice.SYSTEM: Qt.ColorScheme.Unknown,
                ThemeChoice.LIGHT: Qt.ColorScheme.Light,
                ThemeChoice.DARK: Qt.ColorScheme.Dark,
            }[choice]
        )
        self._dress()

    @Slot()
    def _on_scheme_changed(self) -> None:
        self._dress()

    def _dress(self) -> None:
        if self._dressed == self.dark:
            return
        self._dressed = self.dark
        table = colours(dark=self.dark)
        self._app.setPalette(palette(table))
        self._app.setStyleSheet(style_sheet(table, base_pt=self._font.pointSizeF()))
        self.changed.emit()


def _font(system: QFont) -> QFont:
    """Inter at the size that the system asks for, the system's own font where it fails."""
    for file in sorted((STYLE / "fonts").glob("*.otf")):
        QFontDatabase.addApplicationFont(str(file))
    font = QFont(system)
    if _FAMILY in QFontDatabase.families():
        font.setFamilies([_FAMILY, *system.families()])
    # A font given in pixels has no point size (-1).
    font.setPointSizeF(max(system.pointSizeF(), _SMALLEST_PT))
    return font
