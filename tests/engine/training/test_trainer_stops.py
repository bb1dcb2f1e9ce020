"""What stops a training: one clear line says why, and the last good state stays."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.config import LossKind, LossSettings
from engine.errors import TrainingError
from engine.jobs import Ticket
from engine.training import checkpoint
from engine.training.checkpoint import STATE
from engine.training.losses.choosing import loss_of
from engine.training.progress import History, StepRecord
from engine.training.trainer import demand_learning
from tests.engine.training.hues import (
    SETTINGS,
    Counting,
    kept_state,
    longer,
    paint_hues,
    parts_of,
    tiny_network,
    trainer_of,
)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return paint_hues(tmp_path / "photos", [3, 1, 4, 2, 3, 3, 2, 3])


def assert_stops(trainer: Callable[[], History], reason: str) -> None:
    with pytest.raises(TrainingError, match=reason) as stopped:
        trainer()
    assert len(stopped.value.reason.splitlines()) == 1


@pytest.mark.parametrize(
    ("lr", "reason"), [(1e10, "gradient has been 0 .* learning rate"), (1e30, "no number")]
)
def test_too_large_a_rate_stops_a_training(
    tmp_path: Path, photos: Path, lr: float, reason: str
) -> None:
    settings = replace(longer(20), lr=lr, validate_every=100)
    trainer = trainer_of(tiny_network(1), photos, tmp_path / "work", settings)
    assert_stops(lambda: trainer.run(Ticket()), reason)


def test_what_is_learned_to_perfection_is_not_astray() -> None:
    records = [StepRecord(n, 1e-6, 0.1, 3.0, 0.0, 1.0) for n in range(1, 40)]
    demand_learning(History(None, tuple(records)))
    demand_learning(History(None, tuple(replace(one, loss=0.5) for one in records[:9])))


class TurnsBad:
    """A loss that is worth less from the third step on."""

    def __init__(self, change: Callable[[Tensor, int], Tensor]) -> None:
        self._loss = loss_of("ap")
        self._change = change
        self._calls = 0

    def __call__(self, descriptors: Tensor, classes: Tensor) -> Tensor:
        self._calls += 1
        return self._change(self._loss(descriptors, classes), self._calls)


def test_after_a_loss_that_is_no_number_the_last_checkpoint_stays(
    tmp_path: Path, photos: Path
) -> None:
    loss = TurnsBad(lambda value, step: value * (float("nan") if step == 3 else 1.0))
    trainer = trainer_of(tiny_network(), photos, tmp_path / "work", loss=loss)
    assert_stops(lambda: trainer.run(Ticket()), "loss is no number")
    assert len(kept_state(tmp_path / "work").history.steps) == 2


def test_weights_that_are_no_numbers_are_not_kept(tmp_path: Path, photos: Path) -> None:
    trainer = trainer_of(tiny_network(), photos, tmp_path / "work")
    step, steps = trainer._optimiser.step, []

    def spoiling() -> None:
        step()
        steps.append(1)
        if len(steps) == 3:
            with torch.no_grad():
                trainer._model.features.get_parameter("3.bias")[0] = float("nan")

    trainer._optimiser.step = spoiling  # type: ignore[assignment, method-assign]
    assert_stops(lambda: trainer.run(Ticket()), r"features\.3\.bias is no number")
    assert len(kept_state(tmp_path / "work").history.steps) == 2


def test_a_loss_that_rises_stops_a_training(tmp_path: Path, photos: Path) -> None:
    loss = TurnsBad(lambda value, step: value + (0.05 * step if step > 10 else 0))
    settings = replace(longer(40), validate_every=100)
    trainer = trainer_of(tiny_network(), photos, tmp_path / "work", settings, loss=loss)
    assert_stops(lambda: trainer.run(Ticket()), r"loss rose from 0\.\d+ to .*learning rate")
    assert 10 <= len(kept_state(tmp_path / "work").history.steps) < 40


def test_a_photo_that_vanishes_is_named_and_the_last_checkpoint_stays(
    tmp_path: Path, photos: Path
) -> None:
    learning, _ = parts_of(photos)

    def remove(step: int) -> None:
        if step == 2:
            for photo in learning.photos:
                photo.unlink()

    trainer = trainer_of(tiny_network(), photos, tmp_path / "work", loss=Counting(remove))
    assert_stops(lambda: trainer.run(Ticket()), r"\.jpg cannot be read")
    assert len(kept_state(tmp_path / "work").history.steps) == 1


def test_another_setup_is_refused(tmp_path: Path, photos: Path) -> None:
    trainer_of(tiny_network(), photos, tmp_path / "work").run(Ticket())
    other = trainer_of(tiny_network(), photos, tmp_path / "work", setup="other")
    assert_stops(lambda: other.run(Ticket()), "another training")


@pytest.mark.parametrize("kind", [LossKind.AP, LossKind.TRIPLET, LossKind.CONTRASTIVE])
@pytest.mark.parametrize("balanced", [True, False])
def test_a_batch_without_positives_is_one_clear_line(
    tmp_path: Path, kind: LossKind, balanced: bool
) -> None:
    photos = paint_hues(tmp_path / "photos", [1] * 12)
    settings = replace(
        SETTINGS,
        loss=kind,
        loss_settings=LossSettings(self_match=False),
        per_class=1,
        balanced=balanced,
    )
    trainer = trainer_of(tiny_network(), photos, tmp_path / "work", settings)
    assert_stops(lambda: trainer.run(Ticket()), "no query of the batch has a positive")


def test_classes_of_one_photo_are_learned_from_their_augmentations(tmp_path: Path) -> None:
    photos = paint_hues(tmp_path / "photos", [1] * 8)
    settings = replace(SETTINGS, loss=LossKind.TRIPLET)
    history = trainer_of(tiny_network(), photos, tmp_path / "work", settings).run(Ticket())
    assert len(history.steps) == 4
    assert history.start is not None


def test_a_disk_that_is_full_later_leaves_the_state_before(
    tmp_path: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saves = []

    def full(*arguments: object) -> None:
        saves.append(1)
        if len(saves) == 3:
            raise OSError(28, "No space left on device")
        save_file(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(checkpoint, "save_file", full)
    trainer = trainer_of(tiny_network(), photos, tmp_path / "work")
    assert_stops(lambda: trainer.run(Ticket()), "no space left")
    assert [one.name for one in (tmp_path / "work").iterdir()] == [STATE]
    assert len(kept_state(tmp_path / "work").history.steps) == 2
