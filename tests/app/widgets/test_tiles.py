"""What a tile shows: photo whole, focus map warm and elsewhere clear, box outlined, score."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from app.widgets.hit_tiles import HitDelegate, score_text
from app.widgets.overlay import Overlay
from app.widgets.theme import colours, palette
from app.widgets.tiles import TileDelegate, fitted
from engine.types import Box, FocusMap, PhotoState
from tests.fakes.scripted_engine import hit, offline, photo

GREY = QColor("#808080")
RECT = QRect(0, 0, 216, 220)
IMAGE = QRect(8, 8, 200, 150)
ACCENT = QColor("#2fd8c4")


@pytest.fixture
def overlay(qapp: QApplication) -> Overlay:
    return Overlay()


def index_of(item: object, thumbnail: QPixmap | None) -> tuple[QStandardItemModel, QModelIndex]:
    model = QStandardItemModel()
    row = QStandardItem("name.jpg")
    row.setData(item, Qt.ItemDataRole.UserRole)
    row.setData(thumbnail, Qt.ItemDataRole.DecorationRole)
    model.appendRow(row)
    return model, model.index(0, 0)


def grey(w: int = 400, h: int = 300) -> QPixmap:
    made = QPixmap(w, h)
    made.fill(GREY)
    return made


def painted(delegate: TileDelegate, item: object, thumbnail: QPixmap | None) -> QImage:
    model, index = index_of(item, thumbnail)
    option = QStyleOptionViewItem()
    option.rect = RECT
    option.palette = palette(colours(dark=True))
    image = QImage(RECT.size(), QImage.Format.Format_RGB32)
    image.fill(QColor("#16181b"))
    painter = QPainter(image)
    delegate.paint(painter, option, index)
    painter.end()
    model.deleteLater()
    return image


def test_the_whole_photo_is_shown_in_its_shape() -> None:
    assert fitted(grey(400, 300).size(), IMAGE) == QRectF(IMAGE)
    tall = fitted(grey(150, 300).size(), IMAGE)
    assert (tall.width(), tall.height()) == (75, 150)
    assert tall.center().x() == pytest.approx(QRectF(IMAGE).center().x())
    assert fitted(grey(10, 10).size(), IMAGE).width() == 20  # never a wall of pixels


def test_a_thumbnail_is_painted_where_it_belongs(qtbot: QtBot) -> None:
    image = painted(TileDelegate(), photo(1), grey())
    assert image.pixelColor(IMAGE.center()) == GREY


def test_a_focus_map_is_warm_where_it_matched_and_clear_elsewhere(overlay: Overlay) -> None:
    overlay.set_box(False)
    overlay.set_opacity(1)
    image = painted(HitDelegate(overlay), hit(1, 0.8), grey())
    warm = image.pixelColor(IMAGE.center())
    assert warm.red() > GREY.red() + 40
    assert warm.blue() < GREY.blue()
    assert image.pixelColor(IMAGE.left() + 10, IMAGE.top() + 10) == GREY


def test_opacity_and_switch_of_the_focus_map(overlay: Overlay) -> None:
    overlay.set_box(False)

    def red() -> int:
        image = painted(HitDelegate(overlay), hit(1, 0.8), grey())
        return image.pixelColor(IMAGE.center()).red()

    overlay.set_opacity(1)
    strong = red()
    overlay.set_opacity(0.4)
    assert GREY.red() < red() < strong
    overlay.set_focus(False)
    assert red() == GREY.red()


def test_the_found_box_is_outlined_at_its_place(overlay: Overlay) -> None:
    overlay.set_focus(False)
    image = painted(HitDelegate(overlay), hit(1, 0.8), grey())
    # Box(150, 100, 100, 100) of 400 x 300, on 200 x 150 pixels at (8, 8).
    x = 8 + 75
    accents = [
        (px, py)
        for px in range(x - 3, x + 4)
        for py in range(8 + 60, 8 + 90)
        if abs(image.pixelColor(px, py).hue() - ACCENT.hue()) < 10
        and image.pixelColor(px, py).saturation() > 100
    ]
    assert len(accents) > 25
    overlay.set_box(False)
    plain = painted(HitDelegate(overlay), hit(1, 0.8), grey())
    assert plain.pixelColor(x, 8 + 75) == GREY


def test_a_better_map_replaces_the_footprint(overlay: Overlay) -> None:
    overlay.set_box(False)
    first = hit(1, 0.8)
    delegate = HitDelegate(overlay)
    before = painted(delegate, first, grey())
    corner = np.zeros((6, 8), np.float32)
    corner[0, 0] = 1
    after = painted(delegate, replace(first, focus=FocusMap(corner, True)), grey())
    centre, edge = IMAGE.center(), IMAGE.topLeft()
    assert before.pixelColor(centre) != GREY
    assert after.pixelColor(centre) == GREY
    assert after.pixelColor(edge.x() + 6, edge.y() + 6) != GREY


def test_a_box_at_the_edge_is_drawn_whole(overlay: Overlay) -> None:
    overlay.set_focus(False)
    whole = replace(hit(1, 0.8), box=Box(0, 0, 400, 300))
    image = painted(HitDelegate(overlay), whole, grey())
    for point in ((IMAGE.center().x(), IMAGE.top() + 1), (IMAGE.left() + 1, IMAGE.center().y())):
        assert image.pixelColor(*point) != GREY


def test_hits_without_box_or_map_or_size_are_painted(overlay: Overlay) -> None:
    bare = replace(hit(1, 0.5), box=None, focus=None)
    assert painted(HitDelegate(overlay), bare, grey()).pixelColor(IMAGE.center()) == GREY
    unknown = replace(bare, photo=replace(bare.photo, size=None))
    assert painted(HitDelegate(overlay), unknown, grey()).pixelColor(IMAGE.center()) == GREY


def test_what_has_no_picture_shows_a_drawing(qtbot: QtBot) -> None:
    failed = photo(1, state=PhotoState.FAILED)
    waiting = painted(TileDelegate(), None, None)
    broken = painted(TileDelegate(), failed, None)
    missing = painted(TileDelegate(), photo(1), QPixmap())
    assert waiting != broken
    assert broken != missing


def test_an_offline_photo_is_dimmed_and_marked(overlay: Overlay) -> None:
    image = painted(HitDelegate(overlay), offline(hit(1, 0.8)), grey())
    assert image.pixelColor(IMAGE.right() - 8, IMAGE.bottom() - 8).lightness() < GREY.lightness()


@pytest.mark.parametrize(
    ("score", "text"), [(0.8124, "0.812"), (1.0, "1.000"), (-0.0312, "−0.031"), (0.0, "0.000")]
)
def test_scores_are_cosines_with_three_decimals(score: float, text: str) -> None:
    assert score_text(score) == text


def bar_length(score: float, overlay: Overlay) -> int:
    delegate = HitDelegate(overlay)
    image = painted(delegate, hit(1, score), grey())
    accent = QColor(colours(dark=True)["accent"])
    rows = range(IMAGE.bottom() + 20, RECT.height())
    return max(sum(image.pixelColor(x, y) == accent for x in range(RECT.width())) for y in rows)


def test_the_bar_is_as_long_as_the_cosine(overlay: Overlay) -> None:
    assert bar_length(0.5, overlay) == pytest.approx(100, abs=4)
    assert bar_length(0.9, overlay) == pytest.approx(180, abs=4)
    assert bar_length(-0.2, overlay) == 0


def test_weaker_hits_have_no_accent(overlay: Overlay) -> None:
    delegate = HitDelegate(overlay)
    accent = QColor(colours(dark=True)["accent"])

    def accents() -> int:
        image = painted(delegate, hit(1, 0.9), grey())
        below = range(IMAGE.bottom() + 20, RECT.height())
        return sum(image.pixelColor(x, y) == accent for y in below for x in range(RECT.width()))

    assert accents() > 100
    delegate.set_likely(0)
    assert accents() == 0
