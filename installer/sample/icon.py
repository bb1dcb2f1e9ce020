"""Renders the application's icon from its drawing: `python -m installer.sample.icon`."""

import os
import sys
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

ICONS = Path(__file__).resolve().parents[2] / "assets" / "icons"
SIZES_PX = (16, 24, 32, 48, 64, 128, 256)


def drawn(size_px: int) -> Image.Image:
    """The icon at one size; needs a running QGuiApplication."""
    renderer = QSvgRenderer(QByteArray((ICONS / "app.svg").read_bytes()))
    canvas = QImage(size_px, size_px, QImage.Format.Format_RGBA8888)
    canvas.fill(0)
    painter = QPainter(canvas)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    renderer.render(painter)
    painter.end()
    return Image.frombytes("RGBA", (size_px, size_px), bytes(canvas.constBits()))


def main() -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication(sys.argv[:1])
    pictures = [drawn(size_px) for size_px in SIZES_PX]
    pictures[-1].save(ICONS / "app.png", optimize=True)
    pictures[-1].save(
        ICONS / "app.ico",
        sizes=[(size_px, size_px) for size_px in SIZES_PX],
        append_images=pictures[:-1],
    )
    drawn(512).save(ICONS / "app.icns")
    application.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
