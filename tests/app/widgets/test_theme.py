"""Light and dark: complete, legible, and changed without a restart."""

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.widgets import icons
from app.widgets.assets import ICONS
from app.widgets.theme import Theme, ThemeChoice, colours, palette, style_sheet

BOTH = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""

    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    named = QColor(colour)
    red, green, blue = (linear(v) for v in (named.redF(), named.greenF(), named.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_both_themes_name_the_same_colours() -> None:
    light, dark = colours(dark=False), colours(dark=True)
    assert light.keys() == dark.keys()
    assert all(QColor(value).isValid() for value in (*light.values(), *dark.values()))


@BOTH
def test_text_is_legible_wherever_it_stands(dark: bool) -> None:
    table = colours(dark=dark)
    for ground in ("window", "surface", "raised", "hover", "canvas", "accent_soft"):
        assert contrast(table["text"], table[ground]) >= 7, ground
        assert contrast(table["muted"], table[ground]) >= 4.5, ground
    for ground in ("danger_soft", "warning_soft"):
        assert contrast(table["text"], table[ground]) >= 7, ground
        assert contrast(table["muted"], table[ground]) >= 4.5, ground
    for state in ("accent", "accent_hover", "accent_pressed"):
        assert contrast(table["on_accent"], table[state]) >= 4.5, state
    for ground in ("window", "surface", "raised"):
        assert contrast(table["accent"], table[ground]) >= 3, ground


@BOTH
def test_the_style_sheet_names_known_colours_only(dark: bool) -> None:
    sheet = style_sheet(colours(dark=dark), base_pt=10)
    assert "$" not in sheet
    assert "font-size: 13.00pt" in sheet


@BOTH
def test_the_palette_carries_the_colours(dark: bool) -> None:
    table = colours(dark=dark)
    made = palette(table)
    assert made.color(QPalette.ColorRole.Window) == QColor(table["window"])
    assert made.color(QPalette.ColorRole.Highlight) == QColor(table["accent"])
    disabled = made.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
    assert disabled == QColor(table["muted"])


def test_choosing_changes_the_application(qtbot: QtBot, qapp: QApplication) -> None:
    theme = Theme(qapp, ThemeChoice.LIGHT)
    before = theme.dark
    light = qapp.palette().color(QPalette.ColorRole.Window)
    with qtbot.waitSignal(theme.changed):
        theme.choose(ThemeChoice.DARK)
    assert (before, theme.dark) == (False, True)
    assert qapp.palette().color(QPalette.ColorRole.Window).lightness() < light.lightness()
    assert colours(dark=True)["surface"] in qapp.styleSheet()
    theme.choose(ThemeChoice.SYSTEM)
    theme.deleteLater()


def test_the_font_keeps_the_size_that_the_system_asks_for(qapp: QApplication) -> None:
    font = qapp.font()
    font.setPointSizeF(14)
    qapp.setFont(font)
    theme = Theme(qapp, ThemeChoice.LIGHT)
    assert qapp.font().pointSizeF() == 14
    assert qapp.font().family() == "Inter"
    theme.choose(ThemeChoice.SYSTEM)
    theme.deleteLater()


@pytest.mark.parametrize(
    "name", sorted(p.stem for p in ICONS.glob("*.svg") if p.stem != "found-again")
)
def test_every_icon_is_drawn_in_the_colour_asked_for(qapp: QApplication, name: str) -> None:
    image = icons.pixmap(name, QColor("#ff0000"), size_px=24, ratio=2).toImage()
    assert (image.width(), image.devicePixelRatio()) == (48, 2)
    painted = [
        image.pixelColor(x, y)
        for x in range(48)
        for y in range(48)
        if image.pixelColor(x, y).alpha() > 200
    ]
    assert painted
    assert all(colour.red() > 240 and colour.green() < 15 for colour in painted)


def test_an_unknown_icon_is_an_error(qapp: QApplication) -> None:
    with pytest.raises(FileNotFoundError):
        icons.pixmap("no such drawing", QColor("red"))
