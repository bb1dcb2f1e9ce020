"""A photo on which a box is drawn, moved and resized, by mouse and by keyboard."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.widgets import crop_geometry as geometry
from app.widgets.crop_geometry import FITTED, Handle, Placement, Zoom
from app.widgets.scaled_image import ScaledImage
from engine.types import Box, Size

MARGIN_PX = 16
REACH_PX = 9
_HANDLE_PX = 9
_SCRIM = QColor(0, 0, 0, 96)
_ARROWS: Mapping[int, tuple[int, int]] = MappingProxyType(
    {
        Qt.Key.Key_Left: (-1, 0),
        Qt.Key.Key_Right: (1, 0),
        Qt.Key.Key_Up: (0, -1),
        Qt.Key.Key_Down: (0, 1),
    }
)
_CURSORS: Mapping[Handle, Qt.CursorShape] = MappingProxyType(
    {
        Handle.TOP_LEFT: Qt.CursorShape.SizeFDiagCursor,
        Handle.BOTTOM_RIGHT: Qt.CursorShape.SizeFDiagCursor,
        Handle.TOP_RIGHT: Qt.CursorShape.SizeBDiagCursor,
        Handle.BOTTOM_LEFT: Qt.CursorShape.SizeBDiagCursor,
        Handle.TOP: Qt.CursorShape.SizeVerCursor,
        Handle.BOTTOM: Qt.CursorShape.SizeVerCursor,
        Handle.LEFT: Qt.CursorShape.SizeHorCursor,
        Handle.RIGHT: Qt.CursorShape.SizeHorCursor,
        Handle.INSIDE: Qt.CursorShape.SizeAllCursor,
    }
)


@dataclass(frozen=True, slots=True)
class _Drag:
    """``start``: where it began, in photo pixels; ``before``: the box at that moment; ``handle``
    None: a new box is drawn."""

    start: tuple[float, float]
    before: Box | None
    handle: Handle | None


class CropView(QWidget):
    """Shows a photo as large as it fits, and the box on it.

    Boxes are whole pixels of the upright photo, whatever the view's size, zoom or device pixel
    ratio. Keys: arrows move the box (Shift: ten pixels), Ctrl+arrows move its lower right edges,
    Space puts one in the middle, Escape takes it away (and is left to others when there is none),
    Enter asks for a search.
    """

    box_changed = Signal(object)
    """The new `Box`, or None."""
    search_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._photo: ScaledImage | None = None
        self._size: Size | None = None
        self._box: Box | None = None
        self._drag: _Drag | None = None
        self._pan: QPointF | None = None
        self._zoom = FITTED
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(200, 160)
        self.setAccessibleName(self.tr("Photo: draw a box round a thing"))
        self._describe()

    # --- what it shows ---

    @property
    def box(self) -> Box | None:
        """The box in photo pixels, or None."""
        return self._box

    @property
    def photo_size(self) -> Size | None:
        """Size of the upright photo, or None while there is none."""
        return self._size

    def show_photo(self, image: QImage, size: Size) -> None:
        """Show another photo, without a box.

        Args:
            image: its pixels, at any resolution.
            size: of the upright photo.
        """
        self._photo = ScaledImage(image)
        self._size = size
        self._zoom = FITTED
        self._drag = None
        self._set_box(None)
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self._photo = self._size = self._drag = None
        self._set_box(None)
        self.update()

    def set_box(self, box: Box | None) -> None:
        """Put a box on the photo; parts outside are cut off.

        Raises:
            BoxError: it lies outside the photo.
        """
        if box is not None and self._size is not None:
            box = geometry.fitting(box, self._size)
        self._set_box(box if self._size else None)

    def fit(self) -> None:
        """Show the whole photo."""
        self._zoom = FITTED
        self.update()

    def placement(self) -> Placement | None:
        """Where the photo lies in the view now."""
        if self._size is None:
            return None
        view = (self.width(), self.height())
        return geometry.place(self._size, view, margin=MARGIN_PX, zoom=self._zoom)

    def _set_box(self, box: Box | None) -> None:
        if box == self._box:
            return
        self._box = box
        self._describe()
        self.update()
        self.box_changed.emit(box)

    def _describe(self) -> None:
        if self._box is None:
            text = self.tr("No box. Space puts one in the middle.")
        else:
            text = self.tr("Box of {w} by {h} pixels at {x}, {y}").format(
                w=round(self._box.w),
                h=round(self._box.h),
                x=round(self._box.x),
                y=round(self._box.y),
            )
        self.setAccessibleDescription(text)

    # --- mouse ---

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the box, or begin a new one."""
        placement = self.placement()
        if placement is None:
            return
        if event.button() == Qt.MouseButton.MiddleButton:
            self._pan = event.position()
        elif event.button() == Qt.MouseButton.LeftButton:
            at = _pair(event.position())
            self._drag = _Drag(placement.to_photo(*at), self._box, self._under(at))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on with what was begun, or show what could be."""
        placement = self.placement()
        if placement is None or self._size is None:
            return
        at = _pair(event.position())
        if self._pan is not None:
            self._pan_to(event.position(), placement, self._size)
        elif self._drag is not None:
            self._set_box(_dragged(self._drag, placement.to_photo(*at), self._size))
        else:
            handle = self._under(at)
            self.setCursor(_CURSORS[handle] if handle else Qt.CursorShape.CrossCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End it. A click that draws nothing changes nothing."""
        if event.button() == Qt.MouseButton.MiddleButton:
            self._pan = None
        elif event.button() == Qt.MouseButton.LeftButton:
            self._drag = None
            self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Search for what the box holds."""
        if event.button() == Qt.MouseButton.LeftButton and self._under(_pair(event.position())):
            self._drag = None
            self.search_asked.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom round the pointer."""
        if self._size is None or not event.angleDelta().y():
            return
        factor = 1.0015 ** event.angleDelta().y()
        view = (self.width(), self.height())
        self._zoom = geometry.zoomed(
            self._zoom, factor, at=_pair(event.position()), photo=self._size, view=view
        )
        self.update()
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Give the pointer back."""
        self.unsetCursor()
        super().leaveEvent(event)

    def _under(self, at: tuple[float, float]) -> Handle | None:
        placement = self.placement()
        if placement is None or self._box is None:
            return None
        return geometry.grabbed(placement.box_to_view(self._box), at, reach=REACH_PX)

    def _pan_to(self, to: QPointF, placement: Placement, size: Size) -> None:
        assert self._pan is not None
        by, self._pan = to - self._pan, to
        self._zoom = Zoom(
            self._zoom.factor,
            min(max(self._zoom.x - by.x() / placement.scale / size.w, 0.0), 1.0),
            min(max(self._zoom.y - by.y() / placement.scale / size.h, 0.0), 1.0),
        )
        self.update()

    # --- keyboard ---

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the class."""
        if self._size is None or not self._pressed(event, self._size):
            super().keyPressEvent(event)

    def _pressed(self, event: QKeyEvent, size: Size) -> bool:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.search_asked.emit()
        elif key == Qt.Key.Key_Escape and self._drag is not None:
            drag, self._drag = self._drag, None
            self._set_box(drag.before)
        elif key == Qt.Key.Key_Escape and self._box is not None:
            self._set_box(None)
        elif key == Qt.Key.Key_Space and self._box is None:
            self._set_box(geometry.middle(size))
        elif key == Qt.Key.Key_0 and self._zoom != FITTED:
            self.fit()
        elif key in _ARROWS and self._box is not None:
            step = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            by = (_ARROWS[key][0] * step, _ARROWS[key][1] * step)
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self._set_box(geometry.resized(self._box, Handle.BOTTOM_RIGHT, by, size))
            else:
                self._set_box(geometry.moved(self._box, by, size))
        else:
            return False
        event.accept()
        return True

    # --- painting ---

    def paintEvent(self, event: QPaintEvent) -> None:
        """Canvas, photo, box."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.Dark))
        placement = self.placement()
        if placement is None or self._size is None or self._photo is None:
            return
        left, top = placement.to_view(0, 0)
        photo = QRectF(left, top, self._size.w * placement.scale, self._size.h * placement.scale)
        self._photo.paint(painter, photo)
        if self._box is not None:
            self._paint_box(painter, photo, placement.box_to_view(self._box))

    def _paint_box(
        self, painter: QPainter, photo: QRectF, rect: tuple[float, float, float, float]
    ) -> None:
        box = QRectF(*rect)
        around = QPainterPath()
        around.addRect(photo)
        around.addRect(box)
        around.setFillRule(Qt.FillRule.OddEvenFill)
        painter.fillPath(around, _SCRIM)
        accent = self.palette().color(QPalette.ColorRole.Accent)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(0, 0, 0, 140), 3.5))
        painter.drawRect(box)
        painter.setPen(QPen(QColor(255, 255, 255) if self.hasFocus() else accent, 1.75))
        painter.drawRect(box)
        painter.setPen(QPen(QColor(0, 0, 0, 160), 1))
        painter.setBrush(accent)
        half = _HANDLE_PX / 2
        for x, y in geometry.handle_points(rect).values():
            knob = QRectF(x - half, y - half, _HANDLE_PX, _HANDLE_PX)
            painter.drawRoundedRect(knob, 2, 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit anew."""
        super().resizeEvent(event)
        self.update()


def _dragged(drag: _Drag, to: tuple[float, float], photo: Size) -> Box | None:
    by = (to[0] - drag.start[0], to[1] - drag.start[1])
    if drag.handle is None or drag.before is None:
        return geometry.drawn(drag.start, to, photo) or drag.before
    if drag.handle is Handle.INSIDE:
        return geometry.moved(drag.before, by, photo)
    return geometry.resized(drag.before, drag.handle, by, photo)


def _pair(point: QPointF) -> tuple[float, float]:
    return point.x(), point.y()
