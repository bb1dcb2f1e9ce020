"""Drawing, moving and resizing a box with real events, at every scale and pixel ratio."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.widgets.crop_view import MARGIN_PX, CropView
from app.widgets.scaled_image import ScaledImage
from engine.errors import BoxError
from engine.types import Box, Size

PHOTO = Size(400, 300)


def picture(w: int = 400, h: int = 300, colour: str = "#888888") -> QImage:
    image = QImage(w, h, QImage.Format.Format_RGB888)
    image.fill(QColor(colour))
    return image


@pytest.fixture
def view(qtbot: QtBot) -> CropView:
    made = CropView()
    qtbot.addWidget(made)
    made.resize(400 + 2 * MARGIN_PX, 300 + 2 * MARGIN_PX)  # one view pixel is one of the photo
    made.show_photo(picture(), PHOTO)
    made.show()
    qtbot.waitExposed(made)
    made.setFocus()
    return made


def at(view: CropView, x: float, y: float) -> QPoint:
    placement = view.placement()
    assert placement is not None
    return QPointF(*placement.to_view(x, y)).toPoint()


def drag(view: CropView, start: QPoint, *ways: QPoint) -> None:
    left = Qt.MouseButton.LeftButton
    QTest.mousePress(view, left, pos=start)
    for way in ways:
        QTest.mouseMove(view, way)
    QTest.mouseRelease(view, left, pos=ways[-1])


def test_a_box_is_drawn_in_pixels_of_the_photo(qtbot: QtBot, view: CropView) -> None:
    told: list[object] = []
    view.box_changed.connect(told.append)
    drag(view, at(view, 50, 40), at(view, 120, 90), at(view, 250, 200))
    assert view.box == Box(50, 40, 200, 160)
    assert told[-1] == view.box


@pytest.mark.parametrize("scale", [0.25, 0.5, 0.9, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("photo", [PHOTO, Size(300, 400), Size(6000, 4000), Size(90, 31)])
def test_every_scale_gives_the_same_pixels(qtbot: QtBot, scale: float, photo: Size) -> None:
    view = CropView()
    qtbot.addWidget(view)
    fitted = scale * min(600 / photo.w, 400 / photo.h)
    view.resize(
        max(200, round(photo.w * fitted)) + 2 * MARGIN_PX,
        max(160, round(photo.h * fitted)) + 2 * MARGIN_PX,
    )
    view.show_photo(picture(), photo)
    view.show()
    placement = view.placement()
    assert placement is not None
    start, end = (photo.w * 0.2, photo.h * 0.25), (photo.w * 0.7, photo.h * 0.9)
    drag(view, at(view, *start), at(view, *end))
    box = view.box
    assert box is not None
    # The pointer comes in whole view pixels: half of one is what can be lost at each edge.
    lost = 0.5 / placement.scale + 0.5
    assert box.x == pytest.approx(start[0], abs=lost)
    assert box.y == pytest.approx(start[1], abs=lost)
    assert box.x + box.w == pytest.approx(end[0], abs=lost)
    assert box.y + box.h == pytest.approx(end[1], abs=lost)


def test_a_drag_beyond_the_photo_ends_at_its_edge(view: CropView) -> None:
    drag(view, at(view, 300, 200), QPoint(5000, 5000))
    assert view.box == Box(300, 200, 100, 100)


def test_dragging_inside_moves(view: CropView) -> None:
    view.set_box(Box(50, 40, 100, 80))
    drag(view, at(view, 100, 80), at(view, 130, 70))
    assert view.box == Box(80, 30, 100, 80)
    drag(view, at(view, 130, 70), at(view, 1000, 1000))
    assert view.box == Box(300, 220, 100, 80)


@pytest.mark.parametrize(
    ("grip", "expected"),
    [
        ((50, 40), Box(60, 55, 190, 145)),
        ((150, 40), Box(50, 55, 200, 145)),
        ((250, 40), Box(50, 55, 210, 145)),
        ((250, 120), Box(50, 40, 210, 160)),
        ((250, 200), Box(50, 40, 210, 175)),
        ((150, 200), Box(50, 40, 200, 175)),
        ((50, 200), Box(60, 40, 190, 175)),
        ((50, 120), Box(60, 40, 190, 160)),
    ],
)
def test_eight_handles_resize(view: CropView, grip: tuple[int, int], expected: Box) -> None:
    view.set_box(Box(50, 40, 200, 160))
    drag(view, at(view, *grip), at(view, grip[0] + 10, grip[1] + 15))
    assert view.box == expected


def test_a_click_changes_nothing(view: CropView) -> None:
    view.set_box(Box(50, 40, 100, 80))
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=at(view, 300, 250))
    assert view.box == Box(50, 40, 100, 80)


def test_escape_takes_a_drag_back_then_the_box_away_then_is_left_to_others(
    view: CropView,
) -> None:
    view.set_box(Box(50, 40, 100, 80))
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=at(view, 100, 80))
    QTest.mouseMove(view, at(view, 200, 180))
    assert view.box == Box(150, 140, 100, 80)
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.box == Box(50, 40, 100, 80)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=at(view, 200, 180))
    assert view.box == Box(50, 40, 100, 80)
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.box is None


@pytest.mark.parametrize(
    ("key", "keys", "expected"),
    [
        (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier, Box(99, 100, 50, 40)),
        (Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier, Box(101, 100, 50, 40)),
        (Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier, Box(100, 90, 50, 40)),
        (Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier, Box(100, 110, 50, 40)),
        (Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier, Box(100, 100, 51, 40)),
        (Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier, Box(100, 100, 50, 39)),
        (
            Qt.Key.Key_Down,
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
            Box(100, 100, 50, 50),
        ),
    ],
)
def test_arrows_move_and_resize_by_pixels(
    view: CropView, key: Qt.Key, keys: Qt.KeyboardModifier, expected: Box
) -> None:
    view.set_box(Box(100, 100, 50, 40))
    QTest.keyClick(view, key, keys)
    assert view.box == expected


def test_the_keyboard_alone_can_make_a_box_and_search(qtbot: QtBot, view: CropView) -> None:
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert view.box == Box(100, 75, 200, 150)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        with qtbot.waitSignal(view.search_asked, timeout=1000):
            QTest.keyClick(view, key)


def test_a_box_outside_the_photo_is_refused(view: CropView) -> None:
    with pytest.raises(BoxError):
        view.set_box(Box(900, 900, 10, 10))
    assert view.box is None


def test_another_photo_comes_without_a_box(view: CropView) -> None:
    view.set_box(Box(50, 40, 100, 80))
    view.show_photo(picture(), Size(300, 400))
    assert view.box is None
    assert view.photo_size == Size(300, 400)


def test_boxes_are_right_while_zoomed(view: CropView) -> None:
    wheel = QWheelEvent(
        QPointF(at(view, 200, 150)),
        view.mapToGlobal(QPointF(at(view, 200, 150))),
        QPoint(),
        QPoint(0, 480),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, wheel)
    placement = view.placement()
    assert placement is not None
    assert placement.scale > 1.8
    drag(view, at(view, 150, 120), at(view, 240, 190))
    assert view.box == Box(150, 120, 90, 70)
    QTest.keyClick(view, Qt.Key.Key_0)
    fitted = view.placement()
    assert fitted is not None
    assert fitted.scale == 1
    assert view.box == Box(150, 120, 90, 70)


def test_a_screen_reader_is_told(view: CropView) -> None:
    assert "box" in view.accessibleName()
    view.set_box(Box(50, 40, 100, 80))
    assert "100 by 80" in view.accessibleDescription()


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0, 3.0])
def test_the_outline_is_where_the_box_is_at_any_pixel_ratio(view: CropView, ratio: float) -> None:
    view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    view.clearFocus()
    view.set_box(Box(100, 100, 200, 100))
    image = QImage(view.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    view.render(image)

    def colour_at(x: float, y: float) -> QColor:
        point = QPointF(at(view, x, y)) * ratio
        return image.pixelColor(point.toPoint())

    plain, dimmed = colour_at(200, 150), colour_at(50, 50)
    assert plain == QColor("#888888")
    assert dimmed.lightness() < plain.lightness() - 20
    # The middle of an edge between two handles.
    edge = colour_at(250, 100)
    assert edge not in (plain, dimmed)


def test_a_reduced_photo_is_averaged_not_sampled() -> None:
    stripes = QImage(800, 100, QImage.Format.Format_RGB32)
    stripes.fill(Qt.GlobalColor.white)
    painter = QPainter(stripes)
    for x in range(0, 800, 8):
        painter.fillRect(x, 0, 4, 100, Qt.GlobalColor.black)
    painter.end()
    target = QImage(QSize(100, 12), QImage.Format.Format_RGB32)
    painter = QPainter(target)
    ScaledImage(stripes).paint(painter, QRectF(0, 0, 100, 12))
    painter.end()
    greys = {target.pixelColor(x, 6).red() for x in range(2, 98)}
    assert max(greys) - min(greys) < 40
    assert 90 < sum(greys) / len(greys) < 165


def test_it_draws_anew_when_resized(qtbot: QtBot, view: CropView) -> None:
    view.set_box(Box(50, 40, 100, 80))
    view.resize(900, 700)
    QApplication.sendEvent(view, QEvent(QEvent.Type.LayoutRequest))
    assert view.box == Box(50, 40, 100, 80)
    drag(view, at(view, 100, 80), at(view, 140, 100))
    assert view.box == Box(90, 60, 100, 80)


@pytest.mark.parametrize("factor", ["1", "1.25", "2"])
def test_a_screen_of_any_pixel_ratio_gives_the_same_box(factor: str) -> None:
    # Qt takes the factor once, when the application begins: hence a process of its own.
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.widgets.box_drawn"],
        env={**os.environ, "QT_SCALE_FACTOR": factor, "QT_QPA_PLATFORM": "offscreen"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["ratio"] == float(factor)
    assert found["box"] == [600, 450, 1200, 450]
    assert found["inside"] == 255
    assert found["outside"] < 200
