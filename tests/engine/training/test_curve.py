"""A training as a picture and as a table, and how far it is."""

import csv
import io
import random
from dataclasses import asdict, replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from engine.config import TrainSettings
from engine.jobs import Ticket
from engine.training.curve import _LOSS, _MAP, SIZE, drawn
from engine.training.pace import DESCRIBING, LEARNING, Pace
from engine.training.progress import History, StepRecord, as_csv


def history_of(steps: int, *, every: int = 10, start: float | None = 0.4) -> History:
    chance = random.Random(0)
    history = History(start)
    for number in range(1, steps + 1):
        loss = 0.2 + 0.4 * 0.97**number + chance.uniform(-0.03, 0.03)
        judged = start is not None and number % every == 0
        found = 0.4 + 0.3 * (1 - 0.97**number) if judged else None
        history = history.with_step(StepRecord(number, loss, 1e-4, 3.0, 1.5, 2.5, found))
    return history


def coloured(image: Image.Image, colour: str) -> np.ndarray:
    """Where the picture has this colour: rows (n, 2) of y and x below the words of its head."""
    wanted = tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))
    places = np.argwhere((np.asarray(image) == wanted).all(axis=-1))
    return places[places[:, 0] > 45]


def inside(places: np.ndarray) -> np.ndarray:
    """Without the numbers of the two scales."""
    return places[(places[:, 1] > 72) & (places[:, 1] < SIZE[0] - 72)]


@pytest.mark.parametrize("steps", [0, 1, 2, 200, 5000])
@pytest.mark.parametrize("start", [0.4, None])
def test_a_curve_of_any_length_is_drawn(steps: int, start: float | None) -> None:
    image = drawn(history_of(steps, start=start), steps=max(steps, 20))
    assert image.size == SIZE
    assert len(np.unique(np.asarray(image).reshape(-1, 3), axis=0)) > 5  # its frame at least
    assert (len(inside(coloured(image, _LOSS))) > 0) == (steps > 0)
    assert (len(inside(coloured(image, _MAP))) > 0) == (start is not None)


def test_lines_go_where_the_numbers_do() -> None:
    image = drawn(history_of(200), steps=200)
    losses, maps = inside(coloured(image, _LOSS)), inside(coloured(image, _MAP))

    def height(places: np.ndarray, left: float, right: float) -> float:
        share = (places[:, 1] - 70) / (SIZE[0] - 140)
        return float(SIZE[1] - places[(share >= left) & (share <= right), 0].mean())

    assert height(losses, 0, 0.1) > height(losses, 0.9, 1) + 100
    assert height(maps, 0, 0.1) < height(maps, 0.9, 1) - 100


def test_what_is_to_come_is_left_free() -> None:
    image = drawn(history_of(50), steps=200)
    for colour in (_LOSS, _MAP):
        assert inside(coloured(image, colour))[:, 1].max() < 70 + (SIZE[0] - 140) * 0.27


@pytest.mark.parametrize("loss", [0.0, 1e-9, 1e6])
def test_odd_losses_are_drawn(loss: float) -> None:
    record = StepRecord(1, loss, 1e-4, 3.0, 0.0, 1.0, 0.0)
    drawn(History(0.0, (record, replace(record, step=2)), 0), steps=2)


# --- the record -----------------------------------------------------------------------------


def test_a_table_has_all_of_every_step() -> None:
    history = history_of(12)
    rows = list(csv.DictReader(io.StringIO(as_csv(history.steps))))
    assert len(rows) == 12
    for row, record in zip(rows, history.steps, strict=True):
        for name, value in asdict(record).items():
            assert row[name] == ("" if value is None else str(value))


def test_a_history_comes_back_from_its_text() -> None:
    history = history_of(25)
    assert History.from_json(history.to_json()) == history
    assert History.from_json(History().to_json()) == History()


def test_the_best_step_is_the_first_of_the_highest() -> None:
    history = History(0.5)
    assert (history.best, history.best_map) == (0, 0.5)
    for number, value in enumerate((0.4, None, 0.7, 0.7, 0.6), start=1):
        history = history.with_step(StepRecord(number, 0.1, 0.1, 3.0, 1.0, 1.0, value))
    assert (history.best, history.best_map) == (3, 0.7)


# --- how far it is --------------------------------------------------------------------------


def test_the_pace_of_a_training_is_without_gaps_and_ends_with_it() -> None:
    settings = TrainSettings(steps=5, validate_every=2, crop_px=100, validate_px=200)
    ticket = Ticket()
    pace = Pace(ticket, settings, pictures=6, judged=3)
    done: list[int] = []

    def look(after: int) -> None:
        for place in range(4):
            pace.in_look(after)("any", place, 3)
            done.append(ticket.progress.done)

    look(0)
    for step in range(5):
        for stage in (DESCRIBING, LEARNING):
            for place in range(7):
                pace.in_step(step)(stage, place, 6)
                done.append(ticket.progress.done)
        if step + 1 in (2, 4, 5):
            look(step + 1)
    assert ticket.progress.total == 5 * 4 * 6 + 4 * 3 * 4
    assert (done[0], done[-1]) == (0, ticket.progress.total)
    assert done == sorted(done)
    assert max(after - before for before, after in pairwise(done)) <= 4
