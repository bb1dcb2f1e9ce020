"""Pictures of a step: the same pixels for the same seed, from a file, as the network wants them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from engine.errors import TrainingError
from engine.training.augmentation import Augmentation, AugmentedBatch, normalised, pixels_of
from tests.engine.training.hues import MEAN, STD
from tests.fakes.painted import paint, paint_album

CHANGES = Augmentation(crop_px=32)


def batch_of(photos: Sequence[Path], seeds: Sequence[int]) -> AugmentedBatch:
    return AugmentedBatch(photos, seeds, CHANGES, mean=MEAN, std=STD)


@pytest.fixture
def photos(tmp_path: Path) -> list[Path]:
    return [paint(tmp_path / f"{n}.jpg", n, w=90 - 20 * n, h=60 + 20 * n) for n in range(3)]


def test_the_same_seed_gives_the_same_pixels(photos: list[Path]) -> None:
    batch = batch_of(photos, [5, 6, 7])
    whole = batch.pixels(0, 3)
    assert whole.shape == (3, 3, 32, 32)
    assert whole.dtype == torch.float32
    assert torch.equal(batch.pixels(0, 3), whole)
    torch.rand(3)  # whatever is drawn elsewhere
    assert torch.equal(torch.cat([batch.pixels(0, 1), batch.pixels(1, 3)]), whole)
    assert torch.equal(batch_of(photos[::-1], [7, 6, 5]).pixels(0, 3).flip(0), whole)


def test_another_seed_gives_other_pixels(photos: list[Path]) -> None:
    same = batch_of([photos[0]] * 4, [1, 2, 3, 4]).pixels(0, 4)
    for one in range(4):
        for other in range(one):
            assert (same[one] - same[other]).abs().mean() > 0.05


def test_random_numbers_of_others_are_left_alone(photos: list[Path]) -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    batch_of(photos, [5, 6, 7]).pixels(0, 3)
    assert torch.equal(torch.rand(4), expected)


def test_pixels_are_normalised_as_the_network_says(tmp_path: Path) -> None:
    Image.new("RGB", (64, 48), (200, 100, 50)).save(tmp_path / "plain.png")
    still = Augmentation(32, smallest=1.0, degrees=0, brightness=0, hue=0, blur=0)
    batch = AugmentedBatch([tmp_path / "plain.png"], [0], still, mean=MEAN, std=STD)
    expected = (np.array([200, 100, 50]) - np.array(MEAN)) / np.array(STD)
    got = batch.pixels(0, 1)[0].numpy()
    assert np.abs(got - expected.reshape(3, 1, 1)).max() < 1e-5


def test_normalised_is_less_the_mean_over_the_deviation() -> None:
    pictures = torch.randint(256, (2, 3, 4, 5), dtype=torch.uint8)
    got = normalised(pictures, mean=MEAN, std=STD)
    for channel in range(3):
        expected = (pictures[:, channel].double() - MEAN[channel]) / STD[channel]
        torch.testing.assert_close(got[:, channel].double(), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("setting", ["smallest", "degrees", "brightness", "hue", "blur"])
def test_each_change_has_a_part(tmp_path: Path, setting: str) -> None:
    photo = paint(tmp_path / "one.png", 3, w=64, h=64)
    off = {"smallest": 1.0, "degrees": 0.0, "brightness": 0.0, "hue": 0.0, "blur": 0.0}
    on = {"smallest": 0.2, "degrees": 30.0, "brightness": 0.8, "hue": 0.3, "blur": 1.0}
    unchanged, changed = (
        AugmentedBatch(
            [photo] * 8, range(8), Augmentation(32, **(off | more)), mean=MEAN, std=STD
        ).pixels(0, 8)
        for more in ({}, {setting: on[setting]})
    )
    assert (changed - unchanged).abs().amax() > 0.1


@pytest.mark.parametrize("content", [b"", b"no picture", None])
def test_a_photo_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    good, bad = paint_album(tmp_path, 2)
    if content is None:
        bad.unlink()
    else:
        bad.write_bytes(content)
    batch = batch_of([good, bad], [1, 2])
    assert len(batch.pixels(0, 1)) == 1
    with pytest.raises(TrainingError, match=f"^{bad} cannot be read: "):
        batch.pixels(0, 2)


def test_a_photo_as_large_as_the_decoders_take_is_read(tmp_path: Path) -> None:
    Image.new("1", (9000, 8000), 1).save(tmp_path / "huge.png")
    assert pixels_of(tmp_path / "huge.png", max_side_px=48).shape == (43, 48, 3)


def test_photos_are_read_no_larger_than_is_wanted(tmp_path: Path) -> None:
    photo = paint(tmp_path / "large.jpg", 1, w=400, h=300)
    assert pixels_of(photo, max_side_px=48).shape == (36, 48, 3)
    assert pixels_of(photo, max_side_px=4000).shape == (300, 400, 3)
