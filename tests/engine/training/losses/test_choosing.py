"""A loss by its name."""

import subprocess
import sys
from dataclasses import replace

import pytest

from engine.config import LossKind, LossSettings
from engine.errors import SettingsError
from engine.training.losses.choosing import loss_of
from engine.training.losses.comparison import ContrastiveLoss, TripletLoss
from engine.training.losses.listwise import AveragePrecisionLoss
from engine.training.losses.quantised import MEMORY_BYTES

SETTINGS = LossSettings(
    bins=9,
    low=0.0,
    high=0.5,
    class_weights=False,
    self_match=False,
    memory_bytes=12345,
    triplet_margin=0.3,
    contrastive_margin=0.4,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ap", AveragePrecisionLoss(9, False, False, False, 0.0, 0.5, 12345)),
        ("ap-tie", AveragePrecisionLoss(9, True, False, False, 0.0, 0.5, 12345)),
        ("triplet", TripletLoss(0.3)),
        ("contrastive", ContrastiveLoss(0.4)),
    ],
)
def test_each_loss_takes_its_settings(name: str, expected: object) -> None:
    assert loss_of(name, SETTINGS) == expected
    assert loss_of(LossKind(name), SETTINGS) == expected


def test_the_standard_is_that_of_the_losses_themselves() -> None:
    assert loss_of("ap") == AveragePrecisionLoss()
    assert loss_of("triplet") == TripletLoss()
    assert loss_of("contrastive") == ContrastiveLoss()
    assert LossSettings().memory_bytes == MEMORY_BYTES


def test_an_unknown_loss_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(SettingsError, match="'hinge'; there are ap, ap-tie, triplet, contrastive"):
        loss_of("hinge")


@pytest.mark.parametrize(
    "wrong",
    [
        {"bins": 1},
        {"low": 1.0},
        {"memory_bytes": 0},
        {"triplet_margin": 0.0},
        {"contrastive_margin": 2.5},
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError):
        loss_of("ap", replace(LossSettings(), **wrong))  # type: ignore[arg-type]


def test_average_precision_loads_no_library_of_other_losses() -> None:
    code = (
        "import sys; from engine.training.losses.choosing import loss_of; loss_of('ap');"
        "print(*{'pytorch_metric_learning', 'sklearn'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == ""


def test_the_door_of_the_engine_loads_no_torch() -> None:
    code = "import sys, engine.service; print('torch' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"
