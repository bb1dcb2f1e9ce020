"""What goes through the network, and what does not go a second time."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.comparing.kept import KeptArrays
from engine.config import FeatureSettings
from engine.errors import SettingsError
from engine.media.decode import decode
from engine.types import Box, Picture, Size
from tests.engine.comparing.conftest import FEATURES, Extractions
from tests.engine.searching.conftest import RED_AND_GREEN, RED_PLACES, paint_scene
from tests.fakes.colour_network import ColourNetwork


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    return paint_scene(tmp_path / "red.png", seed=1, thing=RED_AND_GREEN, at=RED_PLACES[0])


def test_a_map_is_the_networks_of_the_photo_as_indexing_reads_it(
    photo: Path, extractions: Extractions
) -> None:
    extraction = extractions()
    found, failures = extraction.photos([photo])
    assert failures == []
    assert found[photo].size == Size(384, 256)
    pixels = decode(Picture(photo), max_side_px=256, thumbnail_px=32, max_pixels=10**7).pixels
    expected = ColourNetwork(FEATURES).feature_map(pixels)
    held = extraction.map_of(found[photo])
    assert held.dtype == np.float16
    np.testing.assert_allclose(held, expected, atol=1e-3)


def test_each_content_passes_once_in_all_runs(photo: Path, extractions: Extractions) -> None:
    copy = photo.with_name("copy.png")
    shutil.copy(photo, copy)
    first = extractions()
    found, _ = first.photos([photo, copy])
    assert found[photo] == found[copy] or found[photo].name == found[copy].name
    first.crop(found[photo], RED_PLACES[0], 1.0)
    assert (first.passes, extractions.loaded) == (2, 1)
    second = extractions()
    again, _ = second.photos([copy])
    second.crop(again[copy], RED_PLACES[0], 1.0)
    assert (second.passes, extractions.loaded) == (0, 1)
    second.crop(again[copy], RED_PLACES[0], 0.5)
    second.crop(again[copy], RED_PLACES[1], 0.5)
    other_size = extractions(FeatureSettings(size_px=128))
    other_size.photos([photo])
    assert (second.passes, other_size.passes) == (2, 1)


def test_a_crop_is_scaled_with_its_photo(photo: Path, extractions: Extractions) -> None:
    """The box of 150 × 150 pixels of a photo reduced to 2/3, in cells of 8 pixels."""
    extraction = extractions()
    found, _ = extraction.photos([photo])
    shapes = [
        extraction.map_of(extraction.crop(found[photo], Box(0, 0, 150, 150), scale)).shape[1:]
        for scale in (1.0, 2.0)
    ]
    assert shapes == [(13, 13), (25, 25)]


def test_what_is_derived_is_made_once(photo: Path, extractions: Extractions) -> None:
    extraction = extractions()
    content = extraction.photos([photo])[0][photo]
    made = []

    def mean(feature_map: np.ndarray) -> dict[str, np.ndarray]:
        made.append(1)
        return {"mean": feature_map.mean(axis=(1, 2), dtype=np.float32)}

    first = extraction.derived(content, "mean", mean)["mean"]
    again = extractions().derived(content, "mean", mean)["mean"]
    np.testing.assert_array_equal(first, again)
    assert len(made) == 1


def test_what_cannot_be_read_is_left_out_with_the_reason(
    photo: Path, tmp_path: Path, extractions: Extractions
) -> None:
    broken, gone = tmp_path / "broken.png", tmp_path / "gone.png"
    broken.write_bytes(photo.read_bytes()[:200])
    found, failures = extractions().photos([broken, photo, gone])
    assert list(found) == [photo]
    assert {failure.path for failure in failures} == {broken, gone}
    assert all(failure.reason for failure in failures)


def test_a_damaged_map_is_made_anew(photo: Path, extractions: Extractions) -> None:
    extractions().photos([photo])
    (path,) = extractions.kept.folder.rglob("*.safetensors")
    path.write_bytes(path.read_bytes()[:-1])
    again = extractions()
    found, _ = again.photos([photo])
    assert again.passes == 1
    assert again.map_of(found[photo]).shape == (27, 22, 32)


def test_maps_that_find_no_room_are_refused(photo: Path, extractions: Extractions) -> None:
    extractions.kept = KeptArrays(extractions.kept.folder, limit_bytes=1_000)
    with pytest.raises(SettingsError, match="feature maps take up to"):
        extractions().photos([photo])
    assert extractions.loaded == 0


def test_upright_is_what_counts(tmp_path: Path, extractions: Extractions) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "turned.jpg"
    Image.new("RGB", (64, 32)).save(path, exif=exif)
    extraction = extractions()
    content = extraction.photos([path])[0][path]
    assert content.size == Size(32, 64)
    assert extraction.map_of(content).shape[1:] == (8, 4)
