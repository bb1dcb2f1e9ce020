"""Draws a box with the mouse and prints what came of it; run by itself with QT_SCALE_FACTOR set."""

import json
import sys

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.widgets.crop_view import MARGIN_PX, CropView
from engine.types import Size

WANTED = (600, 450, 1800, 900)  # x, y, right, bottom of a photo of 2400 x 1800


def main() -> None:
    """One drag, and the pixels of what was painted."""
    app = QApplication(["probe"])
    view = CropView()
    view.resize(800 + 2 * MARGIN_PX, 600 + 2 * MARGIN_PX)
    image = QImage(1200, 900, QImage.Format.Format_RGB888)
    image.fill(Qt.GlobalColor.white)
    view.show_photo(image, Size(2400, 1800))
    view.show()
    placement = view.placement()
    assert placement is not None
    start = QPointF(*placement.to_view(*WANTED[:2])).toPoint()
    end = QPointF(*placement.to_view(*WANTED[2:])).toPoint()
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view, end)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end)
    box = view.box
    assert box is not None
    grabbed = view.grab().toImage()
    ratio = grabbed.devicePixelRatio()
    inside = (QPointF(start + end) / 2 * ratio).toPoint()
    outside = (QPointF(start) * ratio).toPoint() - (QPointF(30, 30) * ratio).toPoint()
    found = {
        "ratio": ratio,
        "box": [box.x, box.y, box.w, box.h],
        "inside": grabbed.pixelColor(inside).lightness(),
        "outside": grabbed.pixelColor(outside).lightness(),
    }
    sys.stdout.write(json.dumps(found) + "\n")
    app.processEvents()


if __name__ == "__main__":
    main()
