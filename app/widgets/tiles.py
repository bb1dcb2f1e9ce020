"""How one tile of a grid looks: a photo of the library, or a hit.

A model gives a tile by three roles: ``DisplayRole`` its name, ``DecorationRole`` its thumbnail (a
`QPixmap`; None while it is on its way, a null one if there is none) and ``UserRole`` the `Photo` or
`Hit` (None while the page is on its way).
"""

from dataclasses import dataclass

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPainterPath,
    QPalette,
    QPixmap,
)
from PySide6.QtWidgets import (
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.widgets import icons
from app.widgets.theme import TYPE_SCALE
from engine.types import Hit, Photo, PhotoState

Index = QModelIndex | QPersistentModelIndex

_PADDING_PX = 8
_RADIUS_PX = 4
_IMAGE_ASPECT = 0.75
_OFFLINE_OPACITY = 0.45
_BAR_PX = 3


@dataclass(frozen=True, slots=True)
class Look:
    """What QStyleOptionViewItem holds, under names that the type checker knows."""

    rect: QRect
    palette: QPalette
    font: QFont
    selected: bool
    focused: bool
    hovered: bool


class TileDelegate(QStyledItemDelegate):
    """A photo: its thumbnail, whole, and its name."""

    def tile_height(self, width: int, font: QFont) -> int:
        """Height of a tile of this width, device independent pixels."""
        caption = QFontMetrics(caption_font(font)).height()
        return self._image_height(width) + caption + 3 * _PADDING_PX + self.extra_height()

    def extra_height(self) -> int:
        """What a kind of tile has below its caption."""
        return 0

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The grid decides; all tiles are equal."""
        look = look_of(option)
        return QSize(look.rect.width(), self.tile_height(look.rect.width(), look.font))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Background, image, caption."""
        look = look_of(option)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        _paint_ground(painter, look)
        area = self.image_area(look.rect)
        self.paint_image(painter, area, look, index)
        line = QRect(area)
        line.setTop(area.bottom() + 1 + _PADDING_PX)
        line.setHeight(QFontMetrics(caption_font(look.font)).height())
        painter.setFont(caption_font(look.font))
        self.paint_caption(painter, line, look, index)
        painter.restore()

    def paint_image(self, painter: QPainter, area: QRect, look: Look, index: Index) -> None:
        """The thumbnail, or what stands for it."""
        photo, thumbnail = photo_of(index), index.data(Qt.ItemDataRole.DecorationRole)
        drawing = _drawing_instead(photo, thumbnail)
        if drawing is not None:
            _paint_instead(painter, area, drawing, look.palette)
            return
        if not isinstance(thumbnail, QPixmap):
            painter.fillPath(_rounded(QRectF(area)), _quiet(look.palette))
            return
        target = fitted(thumbnail.size(), area)
        painter.save()
        painter.setClipPath(_rounded(target))
        offline = photo is not None and photo.state is PhotoState.OFFLINE
        painter.setOpacity(_OFFLINE_OPACITY if offline else 1.0)
        painter.drawPixmap(target, thumbnail, QRectF(thumbnail.rect()))
        painter.setOpacity(1.0)
        self.paint_over(painter, target, look, index)
        painter.restore()
        if offline:
            _paint_badge(painter, target, "offline", look.palette)

    def paint_over(self, painter: QPainter, target: QRectF, look: Look, index: Index) -> None:
        """What lies on the thumbnail."""

    def paint_caption(self, painter: QPainter, line: QRect, look: Look, index: Index) -> None:
        """The name, cut in its middle if it is long."""
        painter.setPen(look.palette.color(QPalette.ColorRole.PlaceholderText))
        draw_name(painter, line, str(index.data(Qt.ItemDataRole.DisplayRole) or ""), centred=True)

    def image_area(self, rect: QRect) -> QRect:
        """The room that a tile has for its image."""
        left, top = rect.left() + _PADDING_PX, rect.top() + _PADDING_PX
        return QRect(left, top, rect.width() - 2 * _PADDING_PX, self._image_height(rect.width()))

    @staticmethod
    def _image_height(width: int) -> int:
        return round((width - 2 * _PADDING_PX) * _IMAGE_ASPECT)


def caption_font(font: QFont) -> QFont:
    """The type scale's caption size of a font, with figures of equal width."""
    made = QFont(font)
    made.setPointSizeF(font.pointSizeF() * TYPE_SCALE["pt_caption"])
    made.setFeature(QFont.Tag("tnum"), 1)
    return made


def fitted(size: QSize, area: QRect) -> QRectF:
    """The whole of an image in the middle of an area, enlarged at most twice."""
    scale = min(area.width() / size.width(), area.height() / size.height(), 2.0)
    width, height = size.width() * scale, size.height() * scale
    return QRectF(
        area.left() + (area.width() - width) / 2,
        area.top() + (area.height() - height) / 2,
        width,
        height,
    )


def look_of(option: QStyleOptionViewItem) -> Look:
    """An option in the checker's names."""
    flags = QStyle.StateFlag
    state = option.state
    return Look(
        rect=QRect(option.rect),
        palette=option.palette,
        font=option.font,
        selected=bool(state & flags.State_Selected),
        focused=bool(state & flags.State_HasFocus),
        hovered=bool(state & flags.State_MouseOver),
    )


def photo_of(index: Index) -> Photo | None:
    """The photo of a tile, be it a photo's or a hit's; None while it is on its way."""
    item = index.data(Qt.ItemDataRole.UserRole)
    if isinstance(item, Hit):
        return item.photo
    return item if isinstance(item, Photo) else None


def _paint_ground(painter: QPainter, look: Look) -> None:
    accent = look.palette.color(QPalette.ColorRole.Highlight)
    ground = QRectF(look.rect).adjusted(1, 1, -1, -1)
    if look.selected:
        tint = QColor(accent)
        tint.setAlphaF(0.16)
        painter.fillPath(_rounded(ground, 8), tint)
    elif look.hovered:
        painter.fillPath(_rounded(ground, 8), look.palette.color(QPalette.ColorRole.Midlight))
    if look.focused:
        painter.setPen(accent)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(_rounded(ground.adjusted(0.5, 0.5, -0.5, -0.5), 8))


def _drawing_instead(photo: Photo | None, thumbnail: object) -> str | None:
    if photo is not None and photo.state is PhotoState.FAILED:
        return "warning"
    if isinstance(thumbnail, QPixmap) and thumbnail.isNull():
        return "offline" if photo is not None and photo.state is PhotoState.OFFLINE else "picture"
    return None


def _paint_instead(painter: QPainter, area: QRect, drawing: str, palette: QPalette) -> None:
    painter.fillPath(_rounded(QRectF(area)), _quiet(palette))
    muted = palette.color(QPalette.ColorRole.PlaceholderText)
    ratio = painter.device().devicePixelRatioF()
    drawn = icons.pixmap(drawing, muted, size_px=28, ratio=ratio)
    painter.drawPixmap(area.center().x() - 14, area.center().y() - 14, drawn)


def _paint_badge(painter: QPainter, target: QRectF, drawing: str, palette: QPalette) -> None:
    side = 24.0
    badge = QRectF(target.left() + 6, target.top() + 6, side, side)
    painter.setPen(Qt.PenStyle.NoPen)
    # Not Base: the style sheet takes it away from everything that scrolls.
    painter.setBrush(palette.color(QPalette.ColorRole.Light))
    painter.drawRoundedRect(badge, 6, 6)
    ratio = painter.device().devicePixelRatioF()
    colour = palette.color(QPalette.ColorRole.Text)
    drawn = icons.pixmap(drawing, colour, size_px=16, ratio=ratio)
    painter.drawPixmap(badge.topLeft() + QPointF(4, 4), drawn)


def _quiet(palette: QPalette) -> QColor:
    colour = palette.color(QPalette.ColorRole.Mid)
    colour.setAlphaF(0.6)
    return colour


def _rounded(rect: QRectF, radius: float = _RADIUS_PX) -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(rect, radius, radius)
    return path


def draw_name(painter: QPainter, line: QRect, name: str, *, centred: bool = False) -> None:
    """A name on one line, cut in its middle if it is long."""
    text = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, line.width())
    across = Qt.AlignmentFlag.AlignHCenter if centred else Qt.AlignmentFlag.AlignLeft
    painter.drawText(line, across | Qt.AlignmentFlag.AlignVCenter, text)
