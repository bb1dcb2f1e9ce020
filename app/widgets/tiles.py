"""How one tile of a grid looks: a photo of the library, or a hit.

A model gives a tile by three roles: ``DisplayRole`` its name, ``DecorationRole`` its thumbnail (a
`QPixmap`; None while it is on its way, a null one if there is none) and ``UserRole`` the `Photo` or
`Hit` (None while the page is on its way).
"""

from collections.abc import Collection
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPalette,
    QPixmap,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
)

from app.widgets import icons
from app.widgets.overlay import Overlay
from app.widgets.steer_buttons import Steer, button_at, paint_buttons
from app.widgets.theme import TYPE_SCALE
from engine.types import Hit, Photo, PhotoState

Index = QModelIndex | QPersistentModelIndex

_PADDING_PX = 8
_RADIUS_PX = 4
_IMAGE_ASPECT = 0.75
_OFFLINE_OPACITY = 0.45
_BAR_PX = 3


@dataclass(frozen=True, slots=True)
class _Look:
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
        look = _look(option)
        return QSize(look.rect.width(), self.tile_height(look.rect.width(), look.font))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Background, image, caption."""
        look = _look(option)
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

    def paint_image(self, painter: QPainter, area: QRect, look: _Look, index: Index) -> None:
        """The thumbnail, or what stands for it."""
        photo, thumbnail = _photo(index), index.data(Qt.ItemDataRole.DecorationRole)
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

    def paint_over(self, painter: QPainter, target: QRectF, look: _Look, index: Index) -> None:
        """What lies on the thumbnail."""

    def paint_caption(self, painter: QPainter, line: QRect, look: _Look, index: Index) -> None:
        """The name, cut in its middle if it is long."""
        painter.setPen(look.palette.color(QPalette.ColorRole.PlaceholderText))
        _draw_name(painter, line, str(index.data(Qt.ItemDataRole.DisplayRole) or ""), centred=True)

    def image_area(self, rect: QRect) -> QRect:
        """The room that a tile has for its image."""
        left, top = rect.left() + _PADDING_PX, rect.top() + _PADDING_PX
        return QRect(left, top, rect.width() - 2 * _PADDING_PX, self._image_height(rect.width()))

    @staticmethod
    def _image_height(width: int) -> int:
        return round((width - 2 * _PADDING_PX) * _IMAGE_ASPECT)


class HitDelegate(TileDelegate):
    """A hit: thumbnail with focus map and found box, rank, name, score and its bar; under the
    pointer or selected, with the buttons that steer the search."""

    steered = Signal(object, object)
    """The `Hit` and the `Steer` that was pressed on it."""

    def __init__(self, overlay: Overlay) -> None:
        super().__init__()
        self._overlay = overlay
        self._likely: int | None = None
        self._said: dict[int, Steer] = {}

    def set_said(self, liked: Collection[int], disliked: Collection[int]) -> None:
        """The ids of the photos that steer the search."""
        self._said = dict.fromkeys(liked, Steer.LIKE) | dict.fromkeys(disliked, Steer.DISLIKE)

    def set_likely(self, count: int | None) -> None:
        """The first ``count`` hits (None: all) look like finds, those below them like the rest."""
        self._likely = count

    def extra_height(self) -> int:
        """The bar."""
        return _BAR_PX + 4

    def paint_image(self, painter: QPainter, area: QRect, look: _Look, index: Index) -> None:
        """The buttons lie on it."""
        super().paint_image(painter, area, look, index)
        photo = _photo(index)
        if photo is not None:
            said, offered = self._said.get(photo.id), look.hovered or look.selected
            paint_buttons(painter, area, look.palette, said=said, offered=offered)

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        """A press on a button is the button's, and opens nothing."""
        if not isinstance(event, QMouseEvent) or event.button() != Qt.MouseButton.LeftButton:
            return False
        pressed = button_at(self.image_area(_look(option).rect), event.position())
        hit = index.data(Qt.ItemDataRole.UserRole)
        if pressed is None or not isinstance(hit, Hit):
            return False
        if event.type() == QEvent.Type.MouseButtonRelease:
            self.steered.emit(hit, pressed)
        return True

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        """A button's words, or else the hit's."""
        under = button_at(self.image_area(_look(option).rect), event.pos().toPointF())
        if under is None:
            return super().helpEvent(event, view, option, index)
        like = under is Steer.LIKE
        words = self.tr("More like this (M)") if like else self.tr("Not this (N)")
        QToolTip.showText(event.globalPos(), words, view)
        return True

    def paint_over(self, painter: QPainter, target: QRectF, look: _Look, index: Index) -> None:
        """Focus map and found box."""
        hit = index.data(Qt.ItemDataRole.UserRole)
        if isinstance(hit, Hit):
            accent = look.palette.color(QPalette.ColorRole.Accent)
            self._overlay.paint(painter, target, hit, accent=accent)

    def paint_caption(self, painter: QPainter, line: QRect, look: _Look, index: Index) -> None:
        """Rank and name on the left, the score on the right, its bar below."""
        hit = index.data(Qt.ItemDataRole.UserRole)
        if not isinstance(hit, Hit):
            super().paint_caption(painter, line, look, index)
            return
        metrics = painter.fontMetrics()
        strong = self._likely is None or index.row() < self._likely
        text, muted = (
            look.palette.color(role)
            for role in (QPalette.ColorRole.Text, QPalette.ColorRole.PlaceholderText)
        )
        score = score_text(hit.score)
        score_width = metrics.horizontalAdvance(score)
        painter.setPen(text if strong else muted)
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, score)
        rank = f"{index.row() + 1}"
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, rank)
        name = line.adjusted(metrics.horizontalAdvance(rank) + 6, 0, -score_width - 8, 0)
        painter.setPen(muted)
        _draw_name(painter, name, str(index.data(Qt.ItemDataRole.DisplayRole) or ""))
        bar = QRectF(line.left(), line.bottom() + 4, line.width(), _BAR_PX)
        paint_score_bar(painter, bar, hit.score, look.palette, strong=strong)


def caption_font(font: QFont) -> QFont:
    """The type scale's caption size of a font, with figures of equal width."""
    made = QFont(font)
    made.setPointSizeF(font.pointSizeF() * TYPE_SCALE["pt_caption"])
    made.setFeature(QFont.Tag("tnum"), 1)
    return made


def score_text(score: float) -> str:
    """A cosine as it is shown: three decimals, a real minus sign."""
    return f"{score:.3f}".replace("-", "−")


def paint_score_bar(
    painter: QPainter, bar: QRectF, score: float, palette: QPalette, *, strong: bool = True
) -> None:
    """A bar as long as the cosine, in the accent if it is ``strong``; nothing for one below 0."""
    radius = bar.height() / 2
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(palette.color(QPalette.ColorRole.Mid))
    painter.drawRoundedRect(bar, radius, radius)
    length = bar.width() * min(max(score, 0.0), 1.0)
    if length > 0:
        role = QPalette.ColorRole.Highlight if strong else QPalette.ColorRole.PlaceholderText
        painter.setBrush(palette.color(role))
        filled = QRectF(bar.left(), bar.top(), length, bar.height())
        painter.drawRoundedRect(filled, radius, radius)


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


def _look(option: QStyleOptionViewItem) -> _Look:
    flags = QStyle.StateFlag
    state = option.state
    return _Look(
        rect=QRect(option.rect),
        palette=option.palette,
        font=option.font,
        selected=bool(state & flags.State_Selected),
        focused=bool(state & flags.State_HasFocus),
        hovered=bool(state & flags.State_MouseOver),
    )


def _photo(index: Index) -> Photo | None:
    item = index.data(Qt.ItemDataRole.UserRole)
    if isinstance(item, Hit):
        return item.photo
    return item if isinstance(item, Photo) else None


def _paint_ground(painter: QPainter, look: _Look) -> None:
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


def _draw_name(painter: QPainter, line: QRect, name: str, *, centred: bool = False) -> None:
    text = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, line.width())
    across = Qt.AlignmentFlag.AlignHCenter if centred else Qt.AlignmentFlag.AlignLeft
    painter.drawText(line, across | Qt.AlignmentFlag.AlignVCenter, text)
