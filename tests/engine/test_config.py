"""Settings as a library keeps them."""

import json

import pytest

from engine.config import Aggregation, FeatureSettings
from engine.errors import SettingsError


@pytest.mark.parametrize(
    "settings",
    [
        FeatureSettings(),
        FeatureSettings(size_px=512, levels=(3,), aggregation=Aggregation.RMAC),
        FeatureSettings(photo_scales=(1.0, 0.7, 0.5)),
    ],
)
def test_what_is_written_is_read(settings: FeatureSettings) -> None:
    assert FeatureSettings.from_json(settings.to_json()) == settings


def test_what_came_later_leaves_older_libraries_as_they_are() -> None:
    assert {"aggregation", "photo_scales"}.isdisjoint(json.loads(FeatureSettings().to_json()))
    other = FeatureSettings(aggregation=Aggregation.MAC)
    assert json.loads(other.to_json())["aggregation"] == "mac"


@pytest.mark.parametrize("scales", [(), (1.5,), (1.0, 0.0)])
def test_photo_scales_out_of_range_are_refused(scales: tuple[float, ...]) -> None:
    with pytest.raises(SettingsError, match="photo scales"):
        FeatureSettings(photo_scales=scales).validate()
