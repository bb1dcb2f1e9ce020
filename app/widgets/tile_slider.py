"""A slider for the size of a grid's tiles, between a drawing of small ones and one of a large."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from app.widgets.grid_view import TILE_RANGE_PX, GridView
from app.widgets.icons import IconLabel


class TileSlider(QWidget):
    """Moves with its grid, whoever changes the size."""

    def __init__(self, grid: GridView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(*TILE_RANGE_PX)
        self._slider.setPageStep(40)
        self._slider.setFixedWidth(80)
        self._slider.setValue(grid.tile_px)
        words = self.tr("Size of the pictures (Ctrl+wheel)")
        self._slider.setToolTip(words)
        self._slider.setAccessibleName(words)
        self._slider.valueChanged.connect(grid.set_tile_px)
        grid.tile_width_changed.connect(self._on_tile_width_changed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(IconLabel("small", size_px=16))
        row.addWidget(self._slider)
        row.addWidget(IconLabel("large", size_px=16))

    @Slot(int)
    def _on_tile_width_changed(self, tile_px: int) -> None:
        self._slider.setValue(tile_px)
