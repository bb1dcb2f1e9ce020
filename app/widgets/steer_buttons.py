"""The two small buttons on a hit's picture: more like this, and not this."""

from enum import StrEnum

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPalette

from app.widgets import icons

SIDE_PX = 28
_GAP_PX = 4
_INSET_PX = 6
_ICON_PX = 18


class Steer(StrEnum):
    """What a person says of a hit; the value names the drawing."""

    LIKE = "like"
    DISLIKE = "dislike"


def button_rects(area: QRect) -> dict[Steer, QRectF]:
    """Where the buttons lie on a picture that has this room: in its upper right corner."""
    right, top = area.right() + 1 - _INSET_PX, area.top() + _INSET_PX
    second = QRectF(right - SIDE_PX, top, SIDE_PX, SIDE_PX)
    return {Steer.LIKE: second.translated(-SIDE_PX - _GAP_PX, 0), Steer.DISLIKE: second}


def button_at(area: QRect, point: QPointF) -> Steer | None:
    """The button under a point."""
    hit = (steer for steer, rect in button_rects(area).items() if rect.contains(point))
    return next(hit, None)


def paint_buttons(
    painter: QPainter, area: QRect, palette: QPalette, *, said: Steer | None, offered: bool
) -> None:
    """Paint what was ``said`` of the hit, and if they are ``offered`` both buttons."""
    for steer, rect in button_rects(area).items():
        if offered or steer is said:
            _paint_button(painter, rect, steer, palette, said=steer is said)


def _paint_button(
    painter: QPainter, rect: QRectF, steer: Steer, palette: QPalette, *, said: bool
) -> None:
    # Not Base: the style sheet takes it away from everything that scrolls.
    ground = palette.color(QPalette.ColorRole.Light)
    drawn = palette.color(QPalette.ColorRole.Text)
    if said:
        like = steer is Steer.LIKE
        ground = palette.color(
            QPalette.ColorRole.Highlight if like else QPalette.ColorRole.BrightText
        )
        drawn = palette.color(QPalette.ColorRole.HighlightedText)
    painter.setPen(QColor(0, 0, 0, 60))
    painter.setBrush(ground)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    painter.setPen(Qt.PenStyle.NoPen)
    ratio = painter.device().devicePixelRatioF()
    inset = (SIDE_PX - _ICON_PX) / 2
    image = icons.pixmap(steer, drawn, size_px=_ICON_PX, ratio=ratio)
    painter.drawPixmap(rect.topLeft() + QPointF(inset, inset), image)
