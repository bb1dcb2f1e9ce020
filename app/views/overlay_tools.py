"""The tools over the hits: focus map on or off, how strong, found box on or off."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from app.widgets.icons import IconButton
from app.widgets.overlay import Overlay


class OverlayTools(QWidget):
    """Shows and changes an `Overlay`; several of these may share one."""

    def __init__(self, overlay: Overlay, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._overlay = overlay
        self._focus = IconButton("focus", self.tr("Focus map on or off (F)"), checkable=True)
        self._focus.toggled.connect(overlay.set_focus)
        self._box = IconButton("outline", self.tr("Found box on or off (B)"), checkable=True)
        self._box.toggled.connect(overlay.set_box)
        self._opacity = QSlider(Qt.Orientation.Horizontal)
        self._opacity.setRange(10, 100)
        self._opacity.setPageStep(10)
        self._opacity.setFixedWidth(80)
        words = self.tr("How strong the focus map is")
        self._opacity.setToolTip(words)
        self._opacity.setAccessibleName(words)
        self._opacity.valueChanged.connect(self._on_opacity_changed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for part in (self._box, self._focus, self._opacity):
            row.addWidget(part)
        overlay.changed.connect(self._on_overlay_changed)
        self._on_overlay_changed()

    @Slot(int)
    def _on_opacity_changed(self, percent: int) -> None:
        self._overlay.set_opacity(percent / 100)

    @Slot()
    def _on_overlay_changed(self) -> None:
        for part in (self._focus, self._box, self._opacity):
            part.blockSignals(True)
        self._focus.setChecked(self._overlay.focus)
        self._box.setChecked(self._overlay.box)
        self._opacity.setValue(round(self._overlay.opacity * 100))
        self._opacity.setEnabled(self._overlay.focus)
        for part in (self._focus, self._box, self._opacity):
            part.blockSignals(False)
