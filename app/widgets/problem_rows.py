"""How one problem looks in a list: the file, its folder, and the reason."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.widgets import icons
from app.widgets.labels import sentence
from app.widgets.tiles import caption_font
from engine.types import Failure

Index = QModelIndex | QPersistentModelIndex

_SIDE_PX = 16
_ICON_PX = 20


class ProblemDelegate(QStyledItemDelegate):
    """Two lines: name and reason, then the folder."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Two lines and some air."""
        font: QFont = option.font
        lines = QFontMetrics(font).height() + QFontMetrics(caption_font(font)).height()
        return QSize(200, lines + 22)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Drawing, name, folder on the left; the reason on the right."""
        failure = index.data(Qt.ItemDataRole.UserRole)
        if not isinstance(failure, Failure):
            return
        rect: QRect = option.rect
        palette: QPalette = option.palette
        font: QFont = option.font
        state: QStyle.StateFlag = option.state
        roles = QPalette.ColorRole
        painter.save()
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.fillRect(rect, palette.color(roles.Midlight))
        painter.setPen(palette.color(roles.Mid))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        ratio = painter.device().devicePixelRatioF()
        drawn = icons.pixmap(
            "warning", palette.color(roles.PlaceholderText), size_px=_ICON_PX, ratio=ratio
        )
        painter.drawPixmap(rect.left() + _SIDE_PX, rect.center().y() - _ICON_PX // 2, drawn)
        text = rect.adjusted(2 * _SIDE_PX + _ICON_PX, 10, -_SIDE_PX, -11)
        half = text.width() // 2
        name = QRect(text.left(), text.top(), half - _SIDE_PX, QFontMetrics(font).height())
        reason = QRect(text.left() + half, text.top(), text.width() - half, text.height())
        folder = QRect(name)
        folder.moveTop(name.bottom() + 2)
        painter.setFont(font)
        painter.setPen(palette.color(roles.Text))
        _draw(painter, name, failure.path.name, Qt.TextElideMode.ElideMiddle)
        wrapped = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(reason, wrapped, sentence(failure.reason))
        painter.setFont(caption_font(font))
        painter.setPen(palette.color(roles.PlaceholderText))
        _draw(painter, folder, str(failure.path.parent), Qt.TextElideMode.ElideMiddle)
        painter.restore()


def _draw(painter: QPainter, line: QRect, text: str, mode: Qt.TextElideMode) -> None:
    elided = painter.fontMetrics().elidedText(text, mode, line.width())
    painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)
