"""A grid of equal tiles over any number of rows.

QListView lays every row out one by one: 100,000 rows cost 90-220 ms for each step of a resize.
Equal tiles need arithmetic only, so this view costs the same for ten rows and for ten million.
"""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from app.widgets.grid_geometry import GridGeometry, columns_and_width
from app.widgets.tiles import TileDelegate

Index = QModelIndex | QPersistentModelIndex

MARGIN_PX = 8
GAP_PX = 4
TILE_RANGE_PX = (120, 360)
_SETTLE_MS = 60


class GridView(QAbstractItemView):
    """Tiles in rows from left to right, as wide as the view allows."""

    visible_changed = Signal(int, int)
    """The first and last row in sight, once scrolling has settled; (0, -1) when there is none."""
    tile_width_changed = Signal(int)
    """The user changed the tiles' width, device independent pixels."""

    def __init__(
        self,
        model: QAbstractItemModel,
        tiles: TileDelegate,
        *,
        tile_px: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        # Qt asks for the layout before the model is set.
        self._source = model
        self._tile_px = tile_px
        self._tiles = tiles
        self._anchor = 0
        self._geometry_for: tuple[int, int, int] | None = None
        self._kept_geometry = GridGeometry(0, 1, 1, 1, GAP_PX, MARGIN_PX)
        self._hovered = QPersistentModelIndex()
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._on_settled)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.entered.connect(self._on_entered)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        tiles.setParent(self)
        self.setItemDelegate(tiles)
        self.setModel(model)
        model.rowsRemoved.connect(self._on_rows_removed)

    # --- tiles ---

    @property
    def tile_px(self) -> int:
        """The least width of a tile."""
        return self._tile_px

    def set_tile_px(self, tile_px: int) -> None:
        """Change the least width of a tile, and keep in sight what is."""
        tile_px = min(max(tile_px, TILE_RANGE_PX[0]), TILE_RANGE_PX[1])
        if tile_px == self._tile_px:
            return
        self._tile_px = tile_px
        self._lay_out()
        self.tile_width_changed.emit(tile_px)

    def visible_rows(self) -> range:
        """The rows that are at least partly in sight."""
        return self._geometry().rows_between(
            self.verticalOffset(), self.verticalOffset() + self.viewport().height()
        )

    def _geometry(self) -> GridGeometry:
        key = (self._source.rowCount(), self.viewport().width(), self._tile_px)
        if self._geometry_for != key:
            rows, width, tile = key
            columns, tile_width = columns_and_width(width, tile, gap=GAP_PX, margin=MARGIN_PX)
            self._geometry_for = key
            self._kept_geometry = GridGeometry(
                rows=rows,
                columns=columns,
                tile_width=tile_width,
                tile_height=self._tiles.tile_height(tile_width, self.font()),
                gap=GAP_PX,
                margin=MARGIN_PX,
            )
        return self._kept_geometry

    # --- what QAbstractItemView leaves to a view ---

    def visualRect(self, index: Index) -> QRect:
        """Where a tile lies in the viewport."""
        if not index.isValid():
            return QRect()
        left, top, width, height = self._geometry().tile(index.row())
        return QRect(left, top - self.verticalOffset(), width, height)

    def indexAt(self, point: QPoint) -> QModelIndex:
        """The tile under a point of the viewport."""
        row = self._geometry().row_at(point.x(), point.y() + self.verticalOffset())
        if row is None:
            return QModelIndex()
        return self._source.index(row, 0)

    def scrollTo(
        self,
        index: Index,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Bring a tile into sight."""
        rect = self.visualRect(index)
        if not rect.isValid():
            return
        bar, height = self.verticalScrollBar(), self.viewport().height()
        if hint == QAbstractItemView.ScrollHint.PositionAtCenter:
            bar.setValue(bar.value() + rect.center().y() - height // 2)
        elif hint == QAbstractItemView.ScrollHint.PositionAtTop or rect.top() < GAP_PX:
            bar.setValue(bar.value() + rect.top() - GAP_PX)
        elif rect.bottom() > height - GAP_PX:
            bar.setValue(bar.value() + rect.bottom() - height + GAP_PX)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """The tile that a key leads to."""
        grid = self._geometry()
        if not grid.rows:
            return QModelIndex()
        now = self.currentIndex().row()
        page = grid.columns * max(1, self.viewport().height() // grid.step - 1)
        actions = QAbstractItemView.CursorAction
        by = {
            actions.MoveLeft: -1,
            actions.MovePrevious: -1,
            actions.MoveRight: 1,
            actions.MoveNext: 1,
            actions.MoveUp: -grid.columns,
            actions.MoveDown: grid.columns,
            actions.MovePageUp: -page,
            actions.MovePageDown: page,
            actions.MoveHome: -grid.rows,
            actions.MoveEnd: grid.rows,
        }[action]
        if now < 0:
            row = 0
        elif action in (actions.MoveUp, actions.MovePageUp) and now + by < 0:
            row = now % grid.columns
        else:
            row = min(max(now + by, 0), grid.rows - 1)
        return self._source.index(row, 0)

    def horizontalOffset(self) -> int:
        """Never scrolled sideways."""
        return 0

    def verticalOffset(self) -> int:
        """Pixels above the viewport."""
        return self.verticalScrollBar().value()

    def isIndexHidden(self, index: Index) -> bool:
        """No tile is hidden."""
        return False

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Select the tiles that a rectangle of the viewport touches."""
        rect = rect.normalized().translated(0, self.verticalOffset())
        rows = self._geometry().rows_within(
            (rect.left(), rect.top(), rect.right() + 1, rect.bottom() + 1)
        )
        selection = QItemSelection()
        for row in rows:
            index = self._source.index(row, 0)
            selection.select(index, index)
        self.selectionModel().select(selection, command)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """What must be painted anew when these change; only what is in sight."""
        region = QRegion()
        for row in self.visible_rows():
            index = self._source.index(row, 0)
            if selection.contains(index):
                region += self.visualRect(index)
        return region

    # --- painting ---

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the tiles that the event touches."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.palette().color(QPalette.ColorRole.Window))
        top = event.rect().top() + self.verticalOffset()
        for row in self._geometry().rows_between(top, top + event.rect().height()):
            index = self._source.index(row, 0)
            self.itemDelegate().paint(painter, self._option(index), index)

    def _option(self, index: QModelIndex) -> QStyleOptionViewItem:
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        flags = QStyle.StateFlag
        state = option.state & ~(flags.State_HasFocus | flags.State_MouseOver)
        if self.selectionModel().isSelected(index):
            state |= flags.State_Selected
        if index == self.currentIndex() and self.hasFocus():
            state |= flags.State_HasFocus
        if index == self._hovered:
            state |= flags.State_MouseOver
        option.state = state
        option.rect = self.visualRect(index)
        return option

    # --- layout, scrolling, pointer ---

    def updateGeometries(self) -> None:
        """Fit the scroll bar to the rows."""
        super().updateGeometries()
        grid, bar, height = self._geometry(), self.verticalScrollBar(), self.viewport().height()
        bar.setRange(0, max(0, grid.height - height))
        bar.setPageStep(height)
        bar.setSingleStep(max(24, grid.step // 4))
        self._settle.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep in sight what is."""
        super().resizeEvent(event)
        self._lay_out()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; with Ctrl, change the size of the tiles."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.set_tile_px(self._tile_px + (16 if event.angleDelta().y() > 0 else -16))
            event.accept()
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens a tile; Escape is left to whoever holds the grid."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.currentIndex().isValid():
                self.activated.emit(self.currentIndex())
            event.accept()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def reset(self) -> None:
        """Begin at the top with another model's rows."""
        super().reset()
        self._hovered = QPersistentModelIndex()
        self._anchor = 0
        self._lay_out()

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Bring it into sight, and keep it there."""
        super().currentChanged(current, previous)
        self._remember()

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        """Make room; what is in sight does not move."""
        super().rowsInserted(parent, start, end)
        self.updateGeometries()
        self.viewport().update()

    def dataChanged(self, top_left: Index, bottom_right: Index, roles: Sequence[int] = ()) -> None:
        """Paint anew what is in sight of it."""
        seen = self.visible_rows()
        for row in range(max(top_left.row(), seen.start), min(bottom_right.row() + 1, seen.stop)):
            self.viewport().update(self.visualRect(self._source.index(row, 0)))

    def changeEvent(self, event: QEvent) -> None:
        """Another font makes other tiles."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._geometry_for = None
            self._lay_out()

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is under the pointer any more."""
        self._on_entered(QModelIndex())
        super().leaveEvent(event)

    def sizeHint(self) -> QSize:
        """Three tiles wide and two high."""
        return QSize(3 * self._tile_px, 2 * self._tile_px)

    def _remember(self) -> None:
        """Keep which row shall stay in sight: the current one if it is, else the first."""
        seen = self.visible_rows()
        current = self.currentIndex().row()
        self._anchor = current if current in seen else seen.start

    def _lay_out(self) -> None:
        anchor = self._anchor
        self.updateGeometries()
        if 0 < anchor < self._source.rowCount():
            hint = QAbstractItemView.ScrollHint
            is_current = anchor == self.currentIndex().row()
            self.scrollTo(
                self._source.index(anchor, 0),
                hint.EnsureVisible if is_current else hint.PositionAtTop,
            )
        self._anchor = anchor
        self.viewport().update()

    @Slot(QModelIndex)
    def _on_entered(self, index: QModelIndex) -> None:
        before, self._hovered = self._hovered, QPersistentModelIndex(index)
        for changed in (before, self._hovered):
            if changed.isValid():
                self.viewport().update(self.visualRect(changed))

    @Slot()
    def _on_rows_removed(self) -> None:
        self.updateGeometries()
        self.viewport().update()

    @Slot()
    def _on_scrolled(self) -> None:
        self._remember()
        if not self._settle.isActive():
            self._settle.start()

    @Slot()
    def _on_settled(self) -> None:
        seen = self.visible_rows()
        self.visible_changed.emit(seen.start, seen.stop - 1)
