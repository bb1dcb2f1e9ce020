"""Under the header of the hits: from which score on they are shown, how many, and their export."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSlider, QWidget

from app.models.hits import HitsModel
from app.widgets.icons import IconButton
from app.widgets.labels import ElidedLabel, label
from app.widgets.tile_slider import TileSlider

_STEPS = 100
_SLIDER_PX = 100


class ResultsBar(QFrame):
    """A slider over the hits' least score; at its left end there is none."""

    export_asked = Signal()

    def __init__(
        self, hits: HitsModel, tile_slider: TileSlider, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self._hits = hits
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, _STEPS)
        self.slider.setPageStep(_STEPS // 10)
        self.slider.setFixedWidth(_SLIDER_PX)
        words = self.tr("Least score of the hits that are shown")
        self.slider.setToolTip(words)
        self.slider.setAccessibleName(words)
        self.slider.valueChanged.connect(self._on_moved)
        self._least = label(role="caption")
        self._least.setMinimumWidth(self._least.fontMetrics().horizontalAdvance("≥ 0.00"))
        self._count = ElidedLabel(role="caption", mode=Qt.TextElideMode.ElideRight)
        words = self.tr("Export these hits: CSV, JSON or a list of paths (Ctrl+E)")
        self.export_button = IconButton("export", words)
        self.export_button.clicked.connect(self.export_asked)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 4, 8, 4)
        row.setSpacing(8)
        row.addWidget(label(self.tr("Score"), role="caption"))
        row.addWidget(self.slider)
        row.addWidget(self._least)
        row.addWidget(self._count, stretch=1)
        row.addWidget(tile_slider)
        row.addWidget(self.export_button)
        hits.counted.connect(self._on_counted)
        self._show_least()
        self._on_counted()

    def reset(self) -> None:
        """Back to no limit."""
        self.slider.setValue(0)

    def show_exported(self, text: str) -> None:
        """Say what became of an export, until the hits change."""
        self._count.setText(text)

    @property
    def text(self) -> str:
        """What is said of how many there are."""
        return self._count.text()

    @Slot(int)
    def _on_moved(self, value: int) -> None:
        self._hits.set_min_score(value / _STEPS if value else None)
        self._show_least()

    def _show_least(self) -> None:
        value = self.slider.value()
        self._least.setText(f"≥ {value / _STEPS:.2f}" if value else self.tr("any"))

    @Slot()
    def _on_counted(self) -> None:
        self.setVisible(self._hits.total > 0)
        self._count.setText(self._count_text())

    def _count_text(self) -> str:
        shown, total = self._hits.rowCount(), self._hits.total
        if self._hits.min_score is None:
            return self.tr("all shown")
        if self._hits.complete:
            return self.tr("{n} of {total}").format(n=f"{shown:,}", total=f"{total:,}")
        # Further ones that reach the score come as one scrolls.
        return self.tr("more than {n} of {total}").format(n=f"{shown:,}", total=f"{total:,}")
