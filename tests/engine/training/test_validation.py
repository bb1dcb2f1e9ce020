"""Held-out classes are judged by plain mean average precision of the whole photos."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from engine.errors import TrainingError
from engine.media.decode import decode
from engine.training.augmentation import AugmentedBatch
from engine.training.labelled import Labelled, labelled_folder
from engine.training.trainer import augmentation_of
from engine.training.validation import _AUGMENTED_SEED, CHECKING
from engine.types import Picture
from tests.engine.training.hues import (
    MEAN,
    SETTINGS,
    STD,
    paint_hues,
    tiny_network,
    validation_of,
)


def plain_map(rows: np.ndarray, classes: list[int]) -> float:
    """By the definition, one place after the other."""
    precisions = []
    for query in range(len(rows)):
        others = [one for one in range(len(rows)) if one != query]
        ranked = sorted(others, key=lambda one: -float(rows[query] @ rows[one]))
        right = [classes[one] == classes[query] for one in ranked]
        found = [sum(right[: place + 1]) / (place + 1) for place, hit in enumerate(right) if hit]
        if found:
            precisions.append(sum(found) / len(found))
    return sum(precisions) / len(precisions)


def whole(photo: Path) -> Tensor:
    pixels = decode(Picture(photo), max_side_px=SETTINGS.validate_px, max_pixels=10**6).pixels
    seen = (pixels - np.array(MEAN)) / np.array(STD)
    return torch.from_numpy(seen.astype(np.float32)).permute(2, 0, 1)[None]


def described(model: nn.Module, pictures: list[Tensor]) -> np.ndarray:
    with torch.no_grad():
        return np.concatenate([model(picture).numpy() for picture in pictures])


def test_it_is_plain_mean_average_precision(tmp_path: Path) -> None:
    held_out = labelled_folder(paint_hues(tmp_path, [4, 2, 3, 5, 3] * 4))
    model = tiny_network()
    expected = plain_map(
        described(model, [whole(photo) for photo in held_out.photos]), list(held_out.classes)
    )
    assert 0.2 < expected < 0.95
    got = validation_of(held_out).mean_average_precision(model)
    assert got == pytest.approx(expected, abs=1e-6)


def test_a_photo_without_another_looks_for_its_augmented_self(tmp_path: Path) -> None:
    held_out = labelled_folder(paint_hues(tmp_path, [1, 3, 1]))
    model = tiny_network()
    validation = validation_of(held_out)
    assert len(validation) == 7
    single = [held_out.photos[0], held_out.photos[4]]
    again = AugmentedBatch(
        single,
        [_AUGMENTED_SEED, _AUGMENTED_SEED + 4],
        augmentation_of(SETTINGS),
        mean=MEAN,
        std=STD,
    )
    pictures = [
        *(whole(photo) for photo in held_out.photos),
        again.pixels(0, 1),
        again.pixels(1, 2),
    ]
    expected = plain_map(described(model, pictures), [0, 1, 1, 1, 2, 0, 2])
    assert validation.mean_average_precision(model) == pytest.approx(expected, abs=1e-6)


def test_photos_of_several_sizes_are_seen_whole(tmp_path: Path) -> None:
    paint_hues(tmp_path, [2, 2], w=96, h=30)
    paint_hues(tmp_path / "class_00" / "more", [2], w=30, h=96)
    held_out = labelled_folder(tmp_path)
    sizes: list[tuple[int, ...]] = []
    model = tiny_network()
    model.register_forward_pre_hook(lambda _module, inputs: sizes.append(inputs[0].shape[2:]))
    validation_of(held_out).mean_average_precision(model)
    assert set(sizes) == {(15, 48), (48, 15)}


def test_a_model_in_training_is_judged_without_its_dropout(tmp_path: Path) -> None:
    held_out = labelled_folder(paint_hues(tmp_path, [3, 3, 3]))
    validation = validation_of(held_out)
    expected = validation.mean_average_precision(tiny_network())
    model = tiny_network(dropout=0.6).train()
    state = torch.get_rng_state()
    assert validation.mean_average_precision(model) == expected
    assert torch.equal(torch.get_rng_state(), state)
    assert model.training
    assert validation.mean_average_precision(model.eval()) == expected
    assert not model.training


def test_it_tells_how_far_it_is_and_may_be_stopped(tmp_path: Path) -> None:
    held_out = labelled_folder(paint_hues(tmp_path, [2, 2]))
    told: list[tuple[str, int, int]] = []

    def check(*progress: object) -> None:
        told.append(progress)  # type: ignore[arg-type]
        if len(told) == 3:
            raise KeyboardInterrupt

    model = tiny_network()
    with pytest.raises(KeyboardInterrupt):
        validation_of(held_out).mean_average_precision(model, check)
    assert told == [(CHECKING, number, 4) for number in range(3)]
    assert model.training


def _gone(_model: nn.Module, held_out: Labelled) -> None:
    held_out.photos[1].unlink()


def _no_numbers(model: nn.Module, _held_out: Labelled) -> None:
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))


@pytest.mark.parametrize(
    ("spoil", "reason"), [(_gone, r"01\.jpg cannot be read"), (_no_numbers, "no numbers")]
)
def test_what_cannot_be_judged_is_an_error(
    tmp_path: Path, spoil: Callable[[nn.Module, Labelled], None], reason: str
) -> None:
    held_out = labelled_folder(paint_hues(tmp_path, [2, 2]))
    model = tiny_network()
    spoil(model, held_out)
    with pytest.raises(TrainingError, match=reason):
        validation_of(held_out).mean_average_precision(model)
