"""Whatever lies in a folder: every file is a photo or one readable line."""

from pathlib import Path

import numpy as np
import pytest

from engine.config import DecodeSettings
from engine.errors import PhotoTooLargeError, PhotoUnreadableError
from engine.jobs import Ticket
from engine.media.pool import DecodePool, DecodeTask
from engine.types import Picture
from tests.engine.media.pictures import encoded, noise


def test_every_odd_file_is_a_photo_or_a_readable_reason(
    photo_sets: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = [path for path in sorted((photo_sets / "odd").rglob("*")) if path.is_file()]
    tasks = (DecodeTask(n, Picture(path=path), 256, 128) for n, path in enumerate(paths))
    with DecodePool(DecodeSettings(workers=1)) as pool:
        outcomes = list(pool.run(tasks, Ticket()))
    assert [outcome.task.picture.path for outcome in outcomes] == paths
    for outcome in outcomes:
        if outcome.photo is not None:
            assert max(outcome.photo.pixels.shape) <= 256
            continue
        assert isinstance(outcome.error, PhotoUnreadableError | PhotoTooLargeError)
        assert 10 < len(outcome.error.reason) < 180
        assert "\n" not in outcome.error.reason
    read = sum(outcome.photo is not None for outcome in outcomes)
    assert read / len(paths) > 0.85
    assert capfd.readouterr() == ("", "")


def test_fuzz_no_damage_does_worse_than_cost_the_photo(
    photo_sets: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    random = np.random.default_rng(20_261)
    image = noise(72, 56)
    kinds = ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "JPEG2000", "AVIF")
    seeds = [encoded(image, kind) for kind in kinds]
    seeds += [encoded(image, "JPEG", progressive=True), encoded(image.convert("CMYK"), "JPEG")]
    seeds += [encoded(image, "TIFF", compression=c) for c in ("tiff_lzw", "jpeg", "packbits")]
    odd = photo_sets / "odd"
    seeds += [
        (odd / name).read_bytes()
        for name in (
            "pillow_heif/heif/RGBA_12__29x100.heif",
            "pillow/sugarshack_ifd_offset.mpo",
            "pillow/negative_top_left_layer.psd",
        )
    ]
    tasks = [
        DecodeTask(number, Picture(data=_damaged(seed, random)), 48, None)
        for number, seed in enumerate(seed for seed in seeds for _ in range(25))
    ]
    with DecodePool(DecodeSettings(workers=1, timeout_s=20)) as pool:
        outcomes = list(pool.run(tasks, Ticket()))
    assert len(outcomes) == len(tasks)
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    assert all("\n" not in error.reason and len(error.reason) < 180 for error in errors)
    assert len(errors) > len(tasks) / 4
    assert capfd.readouterr() == ("", "")


def _damaged(data: bytes, random: np.random.Generator) -> bytes:
    broken = bytearray(data)
    match random.integers(4):
        case 0:
            del broken[random.integers(1, len(broken)) :]
        case 1:
            del broken[(at := int(random.integers(len(broken)))) : at + int(random.integers(1, 64))]
        case 2:
            at = int(random.integers(len(broken)))
            broken[at:at] = random.bytes(int(random.integers(1, 64)))
    for at in random.integers(len(broken), size=random.integers(1, 12)):
        broken[at] ^= 1 << random.integers(8)
    return bytes(broken)
