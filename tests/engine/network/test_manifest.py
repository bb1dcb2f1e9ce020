"""Manifests and the key that keeps unlike numbers apart."""

import dataclasses

import pytest

from engine.config import FeatureSettings
from engine.errors import NetworkError
from engine.network import registry
from engine.network.manifest import NetworkManifest, network_key

LITE0 = registry.manifest(registry.OFF_THE_SHELF)


def test_a_manifest_survives_json() -> None:
    assert NetworkManifest.from_json(LITE0.to_json()) == LITE0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "x"}', LITE0.to_json()[:-9]])
def test_text_that_is_no_manifest_is_refused(text: str) -> None:
    with pytest.raises(NetworkError, match="no manifest"):
        NetworkManifest.from_json(text)


def test_the_key_is_stable_and_fit_for_a_file_name() -> None:
    # Changing this value makes every library index anew: only on purpose.
    assert network_key(LITE0, FeatureSettings()) == "efficientnet-lite0-a0bf51205772"


@pytest.mark.parametrize(
    "changed",
    [
        {"weights": dataclasses.replace(LITE0.weights, sha256="0" * 64)},
        {"mean": (0.0, 127.0, 127.0)},
        {"gem_p": 2.9},
        {"layer": "blocks.6"},
        {"whitening": "pca"},
    ],
)
def test_what_changes_a_number_changes_the_key(changed: dict[str, object]) -> None:
    other = dataclasses.replace(LITE0, **changed)  # type: ignore[arg-type]
    assert network_key(other, FeatureSettings()) != network_key(LITE0, FeatureSettings())


def test_size_and_regions_change_the_key() -> None:
    keys = {
        network_key(LITE0, features)
        for features in (
            FeatureSettings(),
            FeatureSettings(size_px=320),
            FeatureSettings(levels=(2,)),
        )
    }
    assert len(keys) == 3


def test_figures_and_words_leave_the_key_as_it_is() -> None:
    other = dataclasses.replace(LITE0, measured=(), licence="other", known_output=(1.0,))
    assert network_key(other, FeatureSettings()) == network_key(LITE0, FeatureSettings())


def test_an_unknown_network_is_named_with_those_there_are() -> None:
    with pytest.raises(NetworkError, match=r"'resnet9'.*efficientnet-lite0"):
        registry.manifest("resnet9")
