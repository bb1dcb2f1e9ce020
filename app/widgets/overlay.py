"""What is drawn over a hit: the focus map and the outline of the found box."""

from collections import OrderedDict

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from app.bridge.images import focus_image
from engine.types import FocusMap, Hit, Size

_KEPT = 400


class Overlay(QObject):
    """The user's choice of what is drawn, and the drawing. One for all views of the hits."""

    changed = Signal()

    def __init__(
        self,
        *,
        focus: bool = True,
        box: bool = True,
        opacity: float = 0.7,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._focus = focus
        self._box = box
        self._opacity = opacity
        self._images: OrderedDict[tuple[int, int], tuple[FocusMap, QImage]] = OrderedDict()

    @property
    def focus(self) -> bool:
        """Whether focus maps are drawn."""
        return self._focus

    @property
    def box(self) -> bool:
        """Whether found boxes are drawn."""
        return self._box

    @property
    def opacity(self) -> float:
        """Of the focus maps, in [0, 1]."""
        return self._opacity

    def set_focus(self, shown: bool) -> None:
        """Draw focus maps or not."""
        self._focus = shown
        self.changed.emit()

    def set_box(self, shown: bool) -> None:
        """Draw found boxes or not."""
        self._box = shown
        self.changed.emit()

    def set_opacity(self, opacity: float) -> None:
        """Draw focus maps more or less strongly; in [0, 1]."""
        self._opacity = min(max(opacity, 0.0), 1.0)
        self.changed.emit()

    def paint(
        self,
        painter: QPainter,
        target: QRectF,
        hit: Hit,
        *,
        accent: QColor,
        longest_px: int = 192,
        width_px: float = 1.75,
    ) -> None:
        """Draw over a photo that fills ``target``.

        Args:
            accent: colour of the outline.
            longest_px: resolution of the focus map's image.
            width_px: of the outline.
        """
        size = hit.photo.size
        if size is None:
            return
        if self._focus and hit.focus is not None and self._opacity > 0:
            painter.save()
            painter.setOpacity(self._opacity)
            painter.drawImage(target, self._image(hit.photo.id, hit.focus, size, longest_px))
            painter.restore()
        if self._box and hit.box is not None:
            scale_x, scale_y = target.width() / size.w, target.height() / size.h
            outline = QRectF(
                target.left() + hit.box.x * scale_x,
                target.top() + hit.box.y * scale_y,
                hit.box.w * scale_x,
                hit.box.h * scale_y,
            )
            # Kept whole where the box ends at the photo's edge.
            half = width_px / 2 + 0.5
            outline = outline.intersected(target.adjusted(half, half, -half, -half))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(0, 0, 0, 130), width_px + 1.5))
            painter.drawRoundedRect(outline, 2, 2)
            painter.setPen(QPen(accent, width_px))
            painter.drawRoundedRect(outline, 2, 2)

    def _image(self, photo_id: int, focus: FocusMap, size: Size, longest_px: int) -> QImage:
        key = (photo_id, longest_px)
        kept = self._images.get(key)
        if kept is None or kept[0] is not focus:
            kept = (focus, focus_image(focus, size, longest_px=longest_px))
            self._images[key] = kept
        self._images.move_to_end(key)
        while len(self._images) > _KEPT:
            self._images.popitem(last=False)
        return kept[1]
