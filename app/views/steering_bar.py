"""Above the hits: the photos that steer the search, each to be taken away again."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.models.steps import Steering
from app.widgets import icons
from app.widgets.flow_layout import FlowLayout
from app.widgets.steer_buttons import Steer
from engine.types import Photo

_NAME_PX = 160
_ICON_PX = 16


class SteeringBar(QFrame):
    """Chips; hidden while nothing steers."""

    photo_dropped = Signal(int)
    """The id of a photo that shall steer no more."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self._steering = Steering()
        self._flow = FlowLayout(spacing_px=6, parent=self)
        self._flow.setContentsMargins(16, 8, 12, 8)
        self.hide()

    def show_steering(self, steering: Steering) -> None:
        """Show these photos as chips."""
        if steering == self._steering:
            return
        self._steering = steering
        self._fill()
        self.setVisible(bool(steering))

    def changeEvent(self, event: QEvent) -> None:
        """Draw anew in another theme's colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._fill()

    def _fill(self) -> None:
        while self._flow.count():
            widget = self._flow.takeAt(0).widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for steer, photos in (
            (Steer.LIKE, self._steering.liked),
            (Steer.DISLIKE, self._steering.disliked),
        ):
            for photo in photos:
                self._flow.addWidget(self._chip(steer, photo))
        self.updateGeometry()

    def _chip(self, steer: Steer, photo: Photo) -> QPushButton:
        said = (
            self.tr("More like {name}") if steer is Steer.LIKE else self.tr("Not {name}")
        ).format(name=photo.path.name)
        name = self.fontMetrics().elidedText(
            photo.path.name.replace("&", "&&"), Qt.TextElideMode.ElideMiddle, _NAME_PX
        )
        chip = QPushButton(f"{name}  ×")
        chip.setProperty("kind", "chip")
        role = (
            QPalette.ColorRole.Highlight if steer is Steer.LIKE else QPalette.ColorRole.BrightText
        )
        colour = self.palette().color(role)
        chip.setIcon(icons.pixmap(steer, colour, size_px=_ICON_PX, ratio=self.devicePixelRatioF()))
        chip.setIconSize(QSize(_ICON_PX, _ICON_PX))
        chip.setToolTip(self.tr("{said}. Press to take it away.").format(said=said))
        chip.setAccessibleName(self.tr("{said}; take it away").format(said=said))
        chip.clicked.connect(lambda: self.photo_dropped.emit(photo.id))
        return chip
