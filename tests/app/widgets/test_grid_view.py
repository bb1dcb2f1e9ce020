"""The grid: arithmetic layout, keys, what is in sight, and its price at 100,000 rows."""

import time

import pytest
from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView
from pytestqt.qtbot import QtBot

from app.widgets.grid_geometry import GridGeometry, columns_and_width
from app.widgets.grid_view import GridView
from app.widgets.tiles import TileDelegate
from engine.types import Photo
from tests.fakes.scripted_engine import photo

MANY = 100_000
NO_PARENT = QModelIndex()


class Rows(QAbstractListModel):
    """Any number of photos that exist only while somebody asks for them."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.touched: set[int] = set()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = NO_PARENT) -> int:
        return 0 if parent.isValid() else self.count

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        self.touched.add(index.row())
        shown: Photo = photo(index.row() + 1)
        if role == Qt.ItemDataRole.UserRole:
            return shown
        return shown.path.name if role == Qt.ItemDataRole.DisplayRole else None

    def grow(self, by: int) -> None:
        self.beginInsertRows(NO_PARENT, self.count, self.count + by - 1)
        self.count += by
        self.endInsertRows()


@pytest.fixture
def rows() -> Rows:
    return Rows(MANY)


@pytest.fixture
def grid(qtbot: QtBot, rows: Rows) -> GridView:
    made = GridView(rows, TileDelegate(), tile_px=176)
    qtbot.addWidget(made)
    made.resize(1040, 700)
    made.show()
    qtbot.waitExposed(made)
    made.setFocus()
    return made


def test_tiles_fill_the_width_without_overlap() -> None:
    columns, width = columns_and_width(1000, 176, gap=4, margin=8)
    assert columns == 5
    grid = GridGeometry(23, columns, width, 150, 4, 8)
    tiles = [grid.tile(row) for row in range(23)]
    assert all(left >= 8 and left + w <= 1000 - 8 for left, _top, w, _h in tiles)
    assert len({(left, top) for left, top, _w, _h in tiles}) == 23
    assert grid.height == 8 + 5 * 150 + 4 * 4 + 8


def test_every_point_belongs_to_the_tile_that_covers_it() -> None:
    grid = GridGeometry(23, 5, 190, 150, 4, 8)
    for row in range(23):
        left, top, width, height = grid.tile(row)
        for x, y in ((left, top), (left + width - 1, top + height - 1)):
            assert grid.row_at(x, y) == row
        assert grid.row_at(left + width, top) != row
    assert grid.row_at(0, 0) is None
    assert grid.row_at(8 + 3 * 194 + 5, 8 + 4 * 154 + 5) is None  # row 23 is not there


def test_a_narrow_view_keeps_one_column() -> None:
    assert columns_and_width(50, 176, gap=4, margin=8)[0] == 1


def test_a_hundred_thousand_rows_cost_what_is_in_sight(grid: GridView, rows: Rows) -> None:
    rows.touched.clear()
    started = time.perf_counter()
    for width in (1100, 900, 1300, 760):
        grid.resize(width, 700)
        grid.grab()
    grid.verticalScrollBar().setValue(grid.verticalScrollBar().maximum() // 2)
    grid.grab()
    grid.scrollToBottom()
    grid.grab()
    elapsed = time.perf_counter() - started
    assert MANY - 1 in rows.touched
    assert len(rows.touched) < 400
    # QListView needs about 0.1 s for each of these resizes; six pictures are painted here too.
    assert elapsed < 1.0


def test_one_step_of_scrolling_is_far_below_a_frame_of_a_tenth(grid: GridView) -> None:
    grid.grab()
    slowest = 0.0
    bar = grid.verticalScrollBar()
    for step in range(20):
        started = time.perf_counter()
        bar.setValue(step * 997_003 % bar.maximum())
        grid.viewport().repaint()
        slowest = max(slowest, time.perf_counter() - started)
    assert slowest < 0.1


def test_it_tells_what_is_in_sight_once_scrolling_rests(qtbot: QtBot, grid: GridView) -> None:
    told: list[tuple[int, int]] = []
    qtbot.waitUntil(lambda: len(grid.visible_rows()) > 0)
    grid.visible_changed.connect(lambda first, last: told.append((first, last)))
    bar = grid.verticalScrollBar()
    for _ in range(30):
        bar.setValue(bar.value() + 500)
    qtbot.waitUntil(lambda: bool(told))
    assert len(told) <= 2
    seen = grid.visible_rows()
    qtbot.waitUntil(lambda: told[-1] == (seen.start, seen.stop - 1))
    assert seen.start > 100


def test_arrows_page_home_and_end(grid: GridView) -> None:
    grid.setCurrentIndex(grid.model().index(0, 0))
    columns = grid.visualRect(grid.model().index(0, 0)).width()
    columns = next(
        row
        for row in range(1, 50)
        if grid.visualRect(grid.model().index(row, 0)).top()
        > grid.visualRect(grid.model().index(0, 0)).top()
    )
    for key, row in (
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_Down, 1 + columns),
        (Qt.Key.Key_Left, columns),
        (Qt.Key.Key_Up, 0),
        (Qt.Key.Key_Up, 0),
        (Qt.Key.Key_End, MANY - 1),
    ):
        QTest.keyClick(grid, key)
        assert grid.currentIndex().row() == row
    assert grid.viewport().rect().contains(grid.visualRect(grid.currentIndex()))
    QTest.keyClick(grid, Qt.Key.Key_PageUp)
    assert 0 < grid.currentIndex().row() < MANY - columns
    QTest.keyClick(grid, Qt.Key.Key_Home)
    assert grid.currentIndex().row() == 0


def test_enter_and_double_click_open(qtbot: QtBot, grid: GridView) -> None:
    grid.setCurrentIndex(grid.model().index(3, 0))
    with qtbot.waitSignal(grid.activated) as opened:
        QTest.keyClick(grid, Qt.Key.Key_Return)
    assert opened.args is not None
    assert opened.args[0].row() == 3
    centre = grid.visualRect(grid.model().index(2, 0)).center()
    with qtbot.waitSignal(grid.activated) as opened:
        QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=centre)
        QTest.mouseDClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    assert opened.args is not None
    assert opened.args[0].row() == 2


def test_resizing_keeps_the_selected_photo_in_sight(grid: GridView) -> None:
    index = grid.model().index(5_000, 0)
    grid.setCurrentIndex(index)
    for width in (700, 1400, 500):
        grid.resize(width, 600)
        assert grid.viewport().rect().intersects(grid.visualRect(index))


def test_tiles_grow_and_shrink_within_limits(qtbot: QtBot, grid: GridView) -> None:
    grid.set_tile_px(10_000)
    assert grid.tile_px == 360
    with qtbot.waitSignal(grid.tile_width_changed):
        grid.set_tile_px(0)
    assert grid.tile_px == 120


def test_rows_that_come_later_can_be_reached(qtbot: QtBot) -> None:
    rows = Rows(2)
    grid = GridView(rows, TileDelegate(), tile_px=176)
    qtbot.addWidget(grid)
    grid.resize(600, 400)
    grid.show()
    assert grid.verticalScrollBar().maximum() == 0
    rows.grow(500)
    assert grid.verticalScrollBar().maximum() > 0
    grid.scrollToBottom()
    assert 501 in grid.visible_rows()


def test_an_empty_grid_is_quiet(qtbot: QtBot) -> None:
    grid = GridView(Rows(0), TileDelegate(), tile_px=176)
    qtbot.addWidget(grid)
    grid.resize(600, 400)
    grid.show()
    grid.grab()
    QTest.keyClick(grid, Qt.Key.Key_Down)
    assert not grid.currentIndex().isValid()
    assert list(grid.visible_rows()) == []
    assert not grid.indexAt(QPoint(50, 50)).isValid()


def test_a_rectangle_selects_the_tiles_it_touches(grid: GridView) -> None:
    grid.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    first, second = (grid.visualRect(grid.model().index(row, 0)) for row in (0, 1))
    over_both = QRect(first.center(), second.center())
    grid.setSelection(over_both, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    assert {index.row() for index in grid.selectionModel().selectedIndexes()} == {0, 1}
    region = grid.visualRegionForSelection(grid.selectionModel().selection())
    assert region.contains(first.center())
    assert region.contains(second.center())
