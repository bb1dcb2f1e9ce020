"""How a hit looks in a grid, and what can be pressed on it; `app.widgets.tiles` has the roles."""

from collections.abc import Collection

from PySide6.QtCore import QAbstractItemModel, QEvent, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPalette
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem, QToolTip

from app.widgets.overlay import Overlay
from app.widgets.steer_buttons import Steer, button_at, paint_buttons
from app.widgets.tiles import Index, Look, TileDelegate, draw_name, look_of, photo_of
from engine.types import Hit

_BAR_PX = 3


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

    def paint_image(self, painter: QPainter, area: QRect, look: Look, index: Index) -> None:
        """The buttons lie on it."""
        super().paint_image(painter, area, look, index)
        photo = photo_of(index)
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
        pressed = button_at(self.image_area(look_of(option).rect), event.position())
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
        under = button_at(self.image_area(look_of(option).rect), event.pos().toPointF())
        if under is None:
            return super().helpEvent(event, view, option, index)
        like = under is Steer.LIKE
        words = self.tr("More like this (M)") if like else self.tr("Not this (N)")
        QToolTip.showText(event.globalPos(), words, view)
        return True

    def paint_over(self, painter: QPainter, target: QRectF, look: Look, index: Index) -> None:
        """Focus map and found box."""
        hit = index.data(Qt.ItemDataRole.UserRole)
        if isinstance(hit, Hit):
            accent = look.palette.color(QPalette.ColorRole.Accent)
            self._overlay.paint(painter, target, hit, accent=accent)

    def paint_caption(self, painter: QPainter, line: QRect, look: Look, index: Index) -> None:
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
        draw_name(painter, name, str(index.data(Qt.ItemDataRole.DisplayRole) or ""))
        bar = QRectF(line.left(), line.bottom() + 4, line.width(), _BAR_PX)
        paint_score_bar(painter, bar, hit.score, look.palette, strong=strong)


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
