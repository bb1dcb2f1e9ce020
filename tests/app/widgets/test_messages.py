"""Banner, job strip, badge, empty states: what they say."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.bridge.errors import Words
from app.widgets.banner import Banner
from app.widgets.busy_line import BusyLine
from app.widgets.empty_state import EmptyState
from app.widgets.engine_badge import EngineBadge
from app.widgets.job_strip import JobStrip
from app.widgets.labels import ElidedLabel
from engine.jobs import Progress
from engine.requests import EngineStatus

WORDS = Words("The photo could not be read.", "the file is empty", "Try another one.")


def test_a_banner_says_what_why_and_what_to_do(qtbot: QtBot) -> None:
    banner = Banner()
    qtbot.addWidget(banner)
    banner.show_words(WORDS)
    shown = [part.text() for part in banner.findChildren(QLabel) if part.isVisible()]
    assert WORDS.message in shown
    assert "The file is empty" in shown
    assert WORDS.what_to_do in shown
    assert not banner.isModal()
    assert WORDS.message in banner.accessibleName()


def test_a_banner_can_be_closed_by_mouse_and_keyboard(qtbot: QtBot) -> None:
    banner = Banner()
    qtbot.addWidget(banner)
    banner.show_words(WORDS)
    QTest.keyClick(banner, Qt.Key.Key_Escape)
    assert not banner.isVisible()
    assert banner.words is None
    banner.show_words(Words("Short.", "", ""))
    assert banner.isVisible()


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress("waiting", 0, 0), "Getting ready"),
        (Progress("scanning", 1234, 0), "Looking for photos · 1,234 found"),
        (Progress("indexing", 0, 1240), "Indexing · 0 of 1,240"),
        (
            Progress("indexing", 620, 1240, 14.24, 43.4),
            "Indexing · 620 of 1,240 · 14.2 photos/s · 45 s left",
        ),
        (
            Progress("indexing", 620, 100_000, 119.4, 832.0),
            "Indexing · 620 of 100,000 · 119 photos/s · 14 min left",
        ),
        (
            Progress("indexing", 1, 100_000, 1.6, 62_500),
            "Indexing · 1 of 100,000 · 1.6 photos/s · 17.4 h left",
        ),
    ],
)
def test_a_job_tells_done_total_speed_and_time_left(
    qtbot: QtBot, progress: Progress, text: str
) -> None:
    strip = JobStrip()
    qtbot.addWidget(strip)
    strip.begin()
    strip.show_progress(progress)
    assert strip.text == text


def test_a_job_can_be_cancelled_once(qtbot: QtBot) -> None:
    strip = JobStrip()
    qtbot.addWidget(strip)
    strip.begin()
    cancel = next(b for b in strip.findChildren(QPushButton) if b.text() == "Cancel")
    with qtbot.waitSignal(strip.cancel_asked):
        QTest.mouseClick(cancel, Qt.MouseButton.LeftButton)
    assert not cancel.isEnabled()
    strip.begin()
    assert cancel.isEnabled()


def test_an_ending_stays_with_its_way_on(qtbot: QtBot) -> None:
    strip = JobStrip()
    qtbot.addWidget(strip)
    strip.show_ending("3 could not be read", details="Show")
    show = next(b for b in strip.findChildren(QPushButton) if b.text() == "Show")
    assert show.isVisible()
    with qtbot.waitSignal(strip.details_asked):
        QTest.mouseClick(show, Qt.MouseButton.LeftButton)
    strip.show_ending("done")
    assert not show.isVisible()


def test_the_badge_tells_device_and_reason(qtbot: QtBot) -> None:
    badge = EngineBadge()
    qtbot.addWidget(badge)
    assert "loading" in badge.text
    badge.show_status(
        EngineStatus("lite0", "cpu", "No CUDA device was found.", "hnsw", "12,000 photos", 12_000)
    )
    assert badge.text == "lite0 on CPU"
    assert "No CUDA device was found." in badge.toolTip()
    assert "hnsw – 12,000 photos" in badge.toolTip()
    badge.show_failed(WORDS)
    assert "not available" in badge.text
    assert WORDS.message in badge.accessibleName()


def test_a_long_name_is_cut_in_its_middle_and_told_whole(qtbot: QtBot) -> None:
    name = "a very long name that somebody gave to a photo in a hurry 2011-05-12.jpeg"
    shown = ElidedLabel(name)
    qtbot.addWidget(shown)
    shown.resize(160, 20)
    shown.show()
    assert shown.shown_text() != name
    assert shown.shown_text().startswith("a very")
    assert shown.shown_text().endswith("jpeg")
    assert shown.toolTip() == name
    shown.setText("short")
    assert shown.toolTip() == ""


def test_a_label_keeps_to_one_line_of_plain_text(qtbot: QtBot) -> None:
    shown = ElidedLabel()
    qtbot.addWidget(shown)
    shown.setText("two\nlines <b>and</b> marks")
    assert shown.text() == "two lines <b>and</b> marks"
    assert shown.textFormat() == Qt.TextFormat.PlainText


def test_an_empty_state_has_room_for_all_it_says(qtbot: QtBot) -> None:
    state = EmptyState("picture")
    qtbot.addWidget(state)
    state.resize(800, 600)
    state.show()
    state.say_words(Words("No.", "because " * 30, "Do this. " * 20))
    text = next(part for part in state.findChildren(QLabel) if part.wordWrap())
    assert text.height() >= text.heightForWidth(text.width()) > 80


def test_the_busy_line_rests_while_nobody_sees_it(qtbot: QtBot) -> None:
    line = BusyLine()
    qtbot.addWidget(line)
    line.set_busy(True)
    moving = [line.moving]
    for change in (line.show, line.hide, line.show, lambda: line.set_busy(False)):
        change()
        moving.append(line.moving)
    assert moving == [False, True, False, True, False]
