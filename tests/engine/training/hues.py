"""Painted photos whose classes are hues, and a network small enough to learn them in seconds."""

import colorsys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from engine.config import TrainSettings
from engine.training.checkpoint import Checkpoint, State
from engine.training.labelled import Labelled, labelled_folder, split
from engine.training.losses.choosing import Loss, loss_of
from engine.training.model import TrainableNetwork
from engine.training.trainer import Share, Trainer, augmentation_of
from engine.training.validation import Validation

MEAN, STD = (120.0, 110.0, 100.0), (60.0, 58.0, 56.0)
SETTINGS = TrainSettings(
    steps=4,
    batch=8,
    per_class=2,
    micro_batch=4,
    crop_px=32,
    validate_px=48,
    lr=0.01,
    p_lr=0.05,
    hold_out=0.25,
    validate_every=2,
    keep_every_s=0.0,
)


def paint_hues(folder: Path, counts: Sequence[int], *, w: int = 64, h: int = 48) -> Path:
    """A class for each count, in sub-folders ``class_00`` …, of that many photos."""
    for number, count in enumerate(counts):
        for photo in range(count):
            paint_hue(
                folder / f"class_{number:02}" / f"{photo:02}.jpg",
                number / len(counts),
                seed=100 * number + photo,
                size=(w, h),
            )
    return folder


def paint_hue(path: Path, hue: float, *, seed: int, size: tuple[int, int] = (64, 48)) -> Path:
    """A pattern of light and dark in one hue; the seed makes the pattern."""
    path.parent.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    light = random.uniform(0.3, 1.0) * random.uniform(0.2, 1.0, (5, 7, 1))
    colour = np.array(colorsys.hsv_to_rgb(hue, 0.5, 255.0))
    pixels = (light * colour).astype(np.uint8)
    Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC).save(path, quality=95)
    return path


def tiny_network(seed: int = 0, *, dropout: float = 0.0) -> TrainableNetwork:
    """The same weights for the same seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return TrainableNetwork(
            nn.Sequential(
                nn.Conv2d(3, 8, 3, stride=2),
                nn.ReLU(),
                nn.Dropout(dropout),
                nn.Conv2d(8, 12, 3, stride=2),
                nn.ReLU(),
            )
        )


def parts_of(folder: Path, settings: TrainSettings = SETTINGS) -> tuple[Labelled, Labelled]:
    """What is learned from, and what is held out."""
    return split(labelled_folder(folder), settings.hold_out, seed=settings.seed)


def trainer_of(
    model: TrainableNetwork,
    folder: Path,
    work: Path,
    settings: TrainSettings = SETTINGS,
    *,
    loss: Loss | None = None,
    setup: str = "one",
    share: Share | None = None,
) -> Trainer:
    """A trainer as the job makes it."""
    learning, held_out = parts_of(folder, settings)
    validation = validation_of(held_out, settings)
    return Trainer(
        model,
        learning,
        loss or loss_of(settings.loss, settings.loss_settings),
        settings,
        validation=validation if len(validation) else None,
        checkpoint=Checkpoint(work, setup),
        mean=MEAN,
        std=STD,
        share=share,
    )


def validation_of(held_out: Labelled, settings: TrainSettings = SETTINGS) -> Validation:
    """As the job makes it."""
    augmentation = augmentation_of(settings)
    return Validation(held_out, augmentation, side_px=settings.validate_px, mean=MEAN, std=STD)


def longer(steps: int) -> TrainSettings:
    """The settings of these tests, with so many steps."""
    return replace(SETTINGS, steps=steps)


def kept_state(work: Path, settings: TrainSettings = SETTINGS) -> State:
    """Where the training in this folder stands."""
    model = tiny_network()
    groups = model.parameter_groups(lr=settings.lr, p_lr=settings.p_lr, weight_decay=0)
    state = Checkpoint(work, "one").load(model, torch.optim.Adam(groups))
    assert state is not None
    return state


class Counting:
    """The standard loss; ``then`` is called with the number of each step before it."""

    def __init__(self, then: Callable[[int], object]) -> None:
        self._loss = loss_of("ap")
        self._then = then
        self.calls = 0

    def __call__(self, descriptors: Tensor, classes: Tensor) -> Tensor:
        self.calls += 1
        self._then(self.calls)
        return self._loss(descriptors, classes)
