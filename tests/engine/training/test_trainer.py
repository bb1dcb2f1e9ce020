"""The loop of a training: it learns, keeps the best, goes on after a kill, and says what went
wrong."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.config import LossKind
from engine.jobs import Cancelled, Ticket
from engine.training import checkpoint
from engine.training.model import TrainableNetwork
from engine.training.pace import TRAINING
from engine.training.progress import History
from tests.engine.training.hues import (
    SETTINGS,
    Counting,
    kept_state,
    longer,
    paint_hues,
    parts_of,
    tiny_network,
    trainer_of,
    validation_of,
)

LEARNS = replace(
    longer(30), batch=24, per_class=3, validate_every=10, hold_out=0.5, keep_every_s=60.0
)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Sums are then in the same order in every process."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return paint_hues(tmp_path / "photos", [3, 1, 4, 2, 3, 3, 2, 3])


def weights_of(model: TrainableNetwork) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.named_parameters()}


def assert_same(got: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert got.keys() == expected.keys()
    for name, value in expected.items():
        assert torch.equal(got[name], value), name


def timeless(history: History) -> History:
    """Without what may differ from run to run."""
    return replace(history, steps=tuple(replace(one, seconds=0.0) for one in history.steps))


# --- learning -------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LossKind)
def test_it_learns_what_it_has_not_seen(tmp_path: Path, loss: LossKind) -> None:
    photos = paint_hues(tmp_path / "photos", [4] * 20)
    settings = replace(LEARNS, loss=loss, lr=0.01 if "ap" in loss else 0.003)
    history = trainer_of(tiny_network(1), photos, tmp_path / "work", settings).run(Ticket())
    assert history.start is not None
    assert history.start < 0.4
    assert history.best_map is not None
    assert history.best_map > history.start + 0.2
    if loss is not LossKind.CONTRASTIVE:  # which the distances of pairs bound from below
        losses = [one.loss for one in history.steps]
        assert sum(losses[-5:]) < 0.85 * sum(losses[:5])


def test_the_best_weights_are_kept_and_not_the_last(tmp_path: Path) -> None:
    photos = paint_hues(tmp_path / "photos", [4] * 20)
    model = tiny_network(0)
    history = trainer_of(model, photos, tmp_path / "work", LEARNS).run(Ticket())
    maps = {one.step: one.map for one in history.steps if one.map is not None}
    assert set(maps) == {10, 20, 30}
    assert history.best == max(maps, key=lambda step: maps[step] or 0) != 30
    _, held_out = parts_of(photos, LEARNS)
    assert validation_of(held_out, LEARNS).mean_average_precision(model) == history.best_map


def test_a_start_that_nothing_surpasses_is_kept(tmp_path: Path, photos: Path) -> None:
    model = tiny_network()
    before = weights_of(model)
    trainer = trainer_of(model, photos, tmp_path / "work", replace(SETTINGS, lr=1e-12, p_lr=1e-12))
    history = trainer.run(Ticket())
    assert history.best == 0
    assert history.best_map == history.start
    assert_same(weights_of(model), before)


def test_without_held_out_classes_the_last_weights_are_the_result(
    tmp_path: Path, photos: Path
) -> None:
    model = tiny_network()
    settings = replace(SETTINGS, hold_out=0.0)
    history = trainer_of(model, photos, tmp_path / "work", settings).run(Ticket())
    assert (history.start, history.best, history.best_map) == (None, 4, None)
    assert_same(kept_state(tmp_path / "work").best, weights_of(model))


def test_rates_fall_to_zero_and_the_exponent_has_its_own(tmp_path: Path, photos: Path) -> None:
    model = tiny_network()
    history = trainer_of(model, photos, tmp_path / "work").run(Ticket())
    assert [one.learning_rate for one in history.steps] == pytest.approx(
        [0.01, 0.0075, 0.005, 0.0025]
    )
    model = tiny_network()
    before = weights_of(model)
    settings = replace(longer(1), hold_out=0.0, weight_decay=0.0)
    trainer_of(model, photos, tmp_path / "one", settings).run(Ticket())
    for name, value in weights_of(model).items():  # Adam's first step is as long as its rate
        moved = float((value - before[name]).abs().max())
        assert moved == pytest.approx(0.05 if name == "gem_p" else 0.01, rel=0.01), name


def test_each_step_moves_by_its_rate(tmp_path: Path, photos: Path) -> None:
    settings = replace(longer(4), hold_out=0.0)
    history = trainer_of(tiny_network(), photos, tmp_path / "work", settings).run(Ticket())
    ps = [3.0, *(one.gem_p for one in history.steps)]
    moves = [abs(after - before) for before, after in pairwise(ps)]
    assert moves[0] == pytest.approx(0.05, rel=0.01)
    assert all(
        move <= 0.05 * left * 1.5 for move, left in zip(moves, (1, 0.75, 0.5, 0.25), strict=True)
    )


# --- going on -------------------------------------------------------------------------------

GOES_ON = replace(longer(6), validate_every=2)


def to_the_end(photos: Path, work: Path) -> tuple[dict[str, Tensor], History]:
    model = tiny_network(dropout=0.2)
    history = trainer_of(model, photos, work, GOES_ON).run(Ticket())
    return weights_of(model), timeless(history)


def killed_in_a_step(photos: Path, work: Path) -> None:
    """For another process: is killed in the middle of its fourth step."""

    def kill(step: int) -> None:
        if step == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    trainer_of(tiny_network(dropout=0.2), photos, work, GOES_ON, loss=Counting(kill)).run(Ticket())


def killed_while_it_is_kept(photos: Path, work: Path) -> None:
    """For another process: is killed when half of its fourth checkpoint is written."""
    saves = []

    def killing(tensors: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
        save_file(tensors, path, metadata)
        saves.append(path)
        if len(saves) == 4:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(checkpoint, "save_file", killing)  # noqa: B010
    trainer_of(tiny_network(dropout=0.2), photos, work, GOES_ON).run(Ticket())


_ELSEWHERE = """
import sys
from pathlib import Path
import torch
from tests.engine.training import test_trainer
torch.set_num_threads(1)
getattr(test_trainer, sys.argv[1])(Path(sys.argv[2]), Path(sys.argv[3]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills as POSIX systems do")
@pytest.mark.parametrize("how", ["killed_in_a_step", "killed_while_it_is_kept"])
def test_a_killed_training_goes_on_to_the_same_result(
    tmp_path: Path, photos: Path, how: str
) -> None:
    work = tmp_path / "work"
    ended = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE, how, str(photos), str(work)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert len(kept_state(work).history.steps) == 3
    weights, history = to_the_end(photos, work)
    expected, whole = to_the_end(photos, tmp_path / "whole")
    assert history == whole
    assert len(whole.steps) == 6
    assert_same(weights, expected)


def test_a_cancelled_training_goes_on_to_the_same_result(tmp_path: Path, photos: Path) -> None:
    ticket = Ticket()
    loss = Counting(lambda step: ticket.cancel() if step == 3 else None)
    trainer = trainer_of(tiny_network(dropout=0.2), photos, tmp_path / "work", GOES_ON, loss=loss)
    with pytest.raises(Cancelled):
        trainer.run(ticket)
    assert loss.calls == 3
    assert len(kept_state(tmp_path / "work").history.steps) == 2
    weights, history = to_the_end(photos, tmp_path / "work")
    expected, whole = to_the_end(photos, tmp_path / "whole")
    assert history == whole
    assert_same(weights, expected)


@pytest.mark.parametrize("done", [0, 3])
def test_who_cancels_a_training_loses_no_step(tmp_path: Path, photos: Path, done: int) -> None:
    ticket = Ticket()
    loss = Counting(lambda step: ticket.cancel() if step == done + 1 else None)
    settings = replace(GOES_ON, keep_every_s=3600.0)
    model = tiny_network(dropout=0.2)
    with pytest.raises(Cancelled):
        trainer_of(model, photos, tmp_path / "work", settings, loss=loss).run(ticket)
    assert len(kept_state(tmp_path / "work").history.steps) == done
    weights, history = to_the_end(photos, tmp_path / "work")
    expected, whole = to_the_end(photos, tmp_path / "whole")
    assert history == whole
    assert_same(weights, expected)


def test_a_finished_training_is_not_gone_through_again(tmp_path: Path, photos: Path) -> None:
    expected = to_the_end(photos, tmp_path / "work")
    model = tiny_network(seed=5, dropout=0.2)
    loss = Counting(lambda _step: None)
    history = trainer_of(model, photos, tmp_path / "work", GOES_ON, loss=loss).run(Ticket())
    assert loss.calls == 0
    assert timeless(history) == expected[1]
    assert_same(weights_of(model), expected[0])


def test_what_is_random_elsewhere_changes_nothing(tmp_path: Path, photos: Path) -> None:
    torch.manual_seed(1)
    expected = to_the_end(photos, tmp_path / "one")
    torch.manual_seed(2)
    state = torch.get_rng_state()
    again = to_the_end(photos, tmp_path / "two")
    assert torch.equal(torch.get_rng_state(), state)
    assert again[1] == expected[1]
    assert_same(again[0], expected[0])


def test_checkpoints_are_as_far_apart_as_asked(tmp_path: Path, photos: Path) -> None:
    saves: list[int] = []
    trainer = trainer_of(
        tiny_network(), photos, tmp_path / "work", replace(SETTINGS, keep_every_s=3600.0)
    )
    trainer._told = lambda history: saves.append(len(history.steps))
    trainer.run(Ticket())
    assert saves == [4]


# --- progress -------------------------------------------------------------------------------


class Remembering(Ticket):
    """Keeps all that it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, int, int]] = []

    def update(self, stage: str, done: int, total: int) -> None:
        super().update(stage, done, total)
        self.told.append((stage, done, total))


def test_progress_is_that_of_the_whole_training(tmp_path: Path, photos: Path) -> None:
    ticket = Remembering()
    trainer_of(tiny_network(), photos, tmp_path / "work").run(ticket)
    assert {stage for stage, _, _ in ticket.told} == {TRAINING}
    (total,) = {total for _, _, total in ticket.told}
    done = [done for _, done, _ in ticket.told]
    assert done == sorted(done)
    assert done[0] == 0
    assert 0.8 * total < done[-1] <= total


def test_a_training_that_goes_on_is_as_far_as_it_was(tmp_path: Path, photos: Path) -> None:
    ticket = Remembering()
    loss = Counting(lambda step: ticket.cancel() if step == 3 else None)
    with pytest.raises(Cancelled):
        trainer_of(tiny_network(), photos, tmp_path / "work", loss=loss).run(ticket)
    again = Remembering()
    trainer_of(tiny_network(), photos, tmp_path / "work").run(again)
    stopped_in = [done for _, done, _ in ticket.told]
    assert stopped_in[-1] * 0.5 < again.told[0][1] <= stopped_in[-1]
    assert again.told[0][2] == ticket.told[0][2]
