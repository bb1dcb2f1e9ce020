"""Weights are checked before they are believed, and the network before it is used."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from engine.config import FeatureSettings
from engine.errors import NetworkError
from engine.network import registry
from engine.network.device import DeviceChoice
from engine.network.manifest import WeightsSource

CPU = DeviceChoice("cpu", "CPU: for the tests")
LITE0 = registry.manifest(registry.OFF_THE_SHELF)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WeightsSource:
    """The weights in a package of their own, which a test may damage."""
    copy = tmp_path / "copied_weights" / LITE0.weights.file
    copy.parent.mkdir(parents=True)
    (tmp_path / "copied_weights" / "__init__.py").touch()
    shutil.copy(registry.weights_file(LITE0.weights), copy)
    monkeypatch.syspath_prepend(tmp_path)
    return dataclasses.replace(LITE0.weights, package="copied_weights")


def test_whole_weights_are_found(copied: WeightsSource) -> None:
    assert registry.weights_file(copied).is_file()


def test_weights_with_one_wrong_bit_are_refused(copied: WeightsSource) -> None:
    path = registry.weights_file(copied)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(NetworkError, match="damaged"):
        registry.weights_file(copied)


def test_weights_that_are_cut_off_are_refused(copied: WeightsSource) -> None:
    path = registry.weights_file(copied)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(NetworkError, match="damaged"):
        registry.weights_file(copied)


def test_missing_weights_are_named(copied: WeightsSource) -> None:
    registry.weights_file(copied).unlink()
    with pytest.raises(NetworkError, match=r"cannot be read.*lite0"):
        registry.weights_file(copied)
    absent = dataclasses.replace(copied, package="no_such_package_of_weights")
    with pytest.raises(NetworkError, match="no package no_such_package_of_weights"):
        registry.weights_file(absent)


@pytest.mark.heavy
def test_weights_of_another_architecture_are_refused() -> None:
    from engine.network.backbone import build

    other = dataclasses.replace(LITE0, backbone="tf_efficientnet_lite1")
    with pytest.raises(NetworkError, match="296 tensors, tf_efficientnet_lite1 has"):
        build(other, registry.weights_file(LITE0.weights))


@pytest.mark.heavy
def test_tensors_of_another_shape_are_refused(tmp_path: Path) -> None:
    import torch

    from engine.network.backbone import build

    given = torch.load(registry.weights_file(LITE0.weights), weights_only=True)
    given["_bn0.weight"] = given["_bn0.weight"][:31]
    torch.save(given, tmp_path / "short.pth")
    with pytest.raises(NetworkError, match=r"_bn0.weight is \(31,\), but bn1.weight"):
        build(LITE0, tmp_path / "short.pth")


@pytest.mark.heavy
def test_a_network_that_counts_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    shifted = dataclasses.replace(LITE0, mean=(0.0, 0.0, 0.0))
    monkeypatch.setitem(registry._MANIFESTS, registry.OFF_THE_SHELF, shifted)
    with pytest.raises(NetworkError, match="wrong numbers"):
        registry.load(registry.OFF_THE_SHELF, device=CPU, features=FeatureSettings())
