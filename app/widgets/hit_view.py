"""A hit at full size, with its focus map and its found box."""

from PySide6.QtCore import QEvent, QRectF, Qt, Slot
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPalette, QPixmap, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.widgets import crop_geometry as geometry
from app.widgets.crop_geometry import FITTED
from app.widgets.crop_view import MARGIN_PX
from app.widgets.overlay import Overlay
from app.widgets.scaled_image import ScaledImage
from engine.types import Hit, PhotoState, Size


class HitView(QWidget):
    """Shows the thumbnail at once and the photo when it is there."""

    def __init__(self, overlay: Overlay, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._overlay = overlay
        self._hit: Hit | None = None
        self._image: ScaledImage | None = None
        self._size: Size | None = None
        self._zoom = FITTED
        overlay.changed.connect(self._on_overlay_changed)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(200, 160)
        self.setAccessibleName(self.tr("Hit with its focus map"))

    @property
    def hit(self) -> Hit | None:
        """What it shows."""
        return self._hit

    def show_hit(self, hit: Hit, thumbnail: QPixmap | None) -> None:
        """Show a hit; the same photo again keeps its image and zoom (a better focus map came)."""
        if self._hit is None or self._hit.photo.id != hit.photo.id:
            has_thumbnail = thumbnail is not None and not thumbnail.isNull()
            self._image = ScaledImage(thumbnail.toImage()) if thumbnail and has_thumbnail else None
            size = thumbnail.size() if thumbnail and has_thumbnail else None
            self._size = hit.photo.size or (Size(size.width(), size.height()) if size else None)
            self._zoom = FITTED
        self._hit = hit
        self.setAccessibleDescription(hit.photo.path.name)
        self.update()

    def show_image(self, image: QImage, size: Size) -> None:
        """Show the photo itself, at any resolution; ``size``: of the upright photo."""
        self._image = ScaledImage(image)
        self._size = size
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom round the pointer."""
        if self._size is None or not event.angleDelta().y():
            return
        at = (event.position().x(), event.position().y())
        self._zoom = geometry.zoomed(
            self._zoom,
            1.0015 ** event.angleDelta().y(),
            at=at,
            photo=self._size,
            view=(self.width(), self.height()),
        )
        self.update()
        event.accept()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Canvas, photo, overlay."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.Dark))
        if self._hit is None or self._size is None or self._image is None:
            return
        view = (self.width(), self.height())
        placed = geometry.place(self._size, view, margin=MARGIN_PX, zoom=self._zoom)
        target = QRectF(
            placed.x, placed.y, self._size.w * placed.scale, self._size.h * placed.scale
        )
        offline = self._hit.photo.state is PhotoState.OFFLINE
        painter.setOpacity(0.6 if offline else 1.0)
        self._image.paint(painter, target)
        painter.setOpacity(1.0)
        accent = self.palette().color(QPalette.ColorRole.Accent)
        self._overlay.paint(painter, target, self._hit, accent=accent, longest_px=512, width_px=2.5)

    def changeEvent(self, event: QEvent) -> None:
        """Draw anew in another theme's colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()

    @Slot()
    def _on_overlay_changed(self) -> None:
        self.update()
