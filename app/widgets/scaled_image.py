"""An image that is painted at any size without jagged edges and without scaling it every time."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPixmap


class ScaledImage:
    """Keeps the image at the last size it was painted at.

    Qt's painter samples four pixels wherever it reduces; `QImage.scaled` averages all of them.
    """

    def __init__(self, image: QImage) -> None:
        self._image = image
        self._pixmap: QPixmap | None = None
        self._for: QSize | None = None

    def paint(self, painter: QPainter, target: QRectF) -> None:
        """Fill ``target`` (device independent pixels)."""
        ratio = painter.device().devicePixelRatioF()
        wanted = QSize(
            max(1, round(target.width() * ratio)), max(1, round(target.height() * ratio))
        )
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if wanted.width() >= self._image.width():
            painter.drawImage(target, self._image)
            return
        if self._pixmap is None or self._for != wanted:
            self._pixmap = QPixmap.fromImage(
                self._image.scaled(
                    wanted,
                    Qt.AspectRatioMode.IgnoreAspectRatio,
                    Qt.TransformationMode.SmoothTransformation,
                )
            )
            self._for = wanted
        painter.drawPixmap(target, self._pixmap, QRectF(self._pixmap.rect()))
