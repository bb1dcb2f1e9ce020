"""What leads from a photo to other programs: its folder, its path."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMenu


def add_photo_actions(menu: QMenu, path: Path) -> None:
    """Add what can be done with any photo."""
    show = menu.addAction(QCoreApplication.translate("Elsewhere", "Show in folder"))
    show.triggered.connect(lambda: show_in_folder(path))
    copy = menu.addAction(QCoreApplication.translate("Elsewhere", "Copy path"))
    copy.triggered.connect(lambda: QGuiApplication.clipboard().setText(str(path)))


def show_in_folder(path: Path) -> bool:
    """Open a photo's folder in the system's file manager; whether that was possible."""
    return open_folder(path.parent)


def open_folder(path: Path) -> bool:
    """Open a folder in the system's file manager; whether that was possible."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
