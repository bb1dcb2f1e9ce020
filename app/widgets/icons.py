"""The window's own icons: line drawings in ``assets/icons/ui``, drawn in any colour and size."""

from functools import cache

from PySide6.QtCore import QByteArray, QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from app.widgets.assets import APP_ICON, ICONS

SIZE_PX = 18
_RATIOS = (1.0, 1.5, 2.0, 3.0)
_APP_SIDES = (16, 24, 32, 48, 64, 128, 256)


def pixmap(name: str, colour: QColor, *, size_px: int = SIZE_PX, ratio: float = 1.0) -> QPixmap:
    """The drawing ``name``, ``size_px`` wide and high, at a device pixel ratio.

    Raises:
        FileNotFoundError: there is no such drawing.
    """
    key = f"refocal/{name}/{colour.rgba():08x}/{size_px}/{ratio}"
    made = QPixmap()
    if not QPixmapCache.find(key, made):
        made = _drawn(name, colour, round(size_px * ratio))
        made.setDevicePixelRatio(ratio)
        QPixmapCache.insert(key, made)
    return made


def icon(name: str, colours: QPalette, *, size_px: int = SIZE_PX) -> QIcon:
    """The drawing ``name`` in the palette's colours: accent when checked, muted when disabled."""
    text = colours.color(QPalette.ColorRole.ButtonText)
    accent = colours.color(QPalette.ColorRole.Highlight)
    faint = colours.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText)
    faint.setAlphaF(0.5)
    made = QIcon()
    for ratio in _RATIOS:
        for colour, mode, state in (
            (text, QIcon.Mode.Normal, QIcon.State.Off),
            (accent, QIcon.Mode.Normal, QIcon.State.On),
            (faint, QIcon.Mode.Disabled, QIcon.State.Off),
            (faint, QIcon.Mode.Disabled, QIcon.State.On),
        ):
            made.addPixmap(pixmap(name, colour, size_px=size_px, ratio=ratio), mode, state)
    return made


def app_icon() -> QIcon:
    """The program's own icon, in the sizes that desktops ask for."""
    made = QIcon()
    for side in _APP_SIDES:
        made.addPixmap(_rendered(APP_ICON.read_bytes(), side))
    return made


class Mark(QLabel):
    """The program's own icon in the window."""

    def __init__(self, size_px: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedSize(size_px, size_px)
        ratio = self.devicePixelRatioF()
        drawn = _rendered(APP_ICON.read_bytes(), round(size_px * ratio))
        drawn.setDevicePixelRatio(ratio)
        self.setPixmap(drawn)


class IconButton(QToolButton):
    """A tool button with a drawing, whose tip and accessible name are its words."""

    def __init__(
        self,
        name: str,
        words: str,
        *,
        checkable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._name = name
        self.setCheckable(checkable)
        self.setIconSize(QSize(SIZE_PX, SIZE_PX))
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setIcon(icon(name, self.palette()))

    def changeEvent(self, event: QEvent) -> None:
        """Draw anew in another theme's colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.setIcon(icon(self._name, self.palette()))


class IconLabel(QLabel):
    """A drawing that stands by itself, in the colour of a palette role."""

    def __init__(
        self,
        name: str,
        *,
        size_px: int = SIZE_PX,
        role: QPalette.ColorRole = QPalette.ColorRole.PlaceholderText,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._size_px = size_px
        self._role = role
        self.setFixedSize(size_px, size_px)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Draw anew in another theme's colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()

    def show_drawing(self, name: str) -> None:
        """Show another drawing."""
        self._name = name
        self._draw()

    def _draw(self) -> None:
        colour = self.palette().color(self._role)
        self.setPixmap(
            pixmap(self._name, colour, size_px=self._size_px, ratio=self.devicePixelRatioF())
        )


def _drawn(name: str, colour: QColor, side: int) -> QPixmap:
    text = _drawing(name).replace("currentColor", colour.name())
    return _rendered(text.encode(), side, opacity=colour.alphaF())


def _rendered(svg: bytes, side: int, *, opacity: float = 1.0) -> QPixmap:
    made = QPixmap(side, side)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    painter.setOpacity(opacity)
    QSvgRenderer(QByteArray(svg)).render(painter, QRectF(0, 0, side, side))
    painter.end()
    return made


@cache
def _drawing(name: str) -> str:
    return (ICONS / f"{name}.svg").read_text("utf-8")
