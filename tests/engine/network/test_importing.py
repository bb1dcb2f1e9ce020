"""Networks out of files, as far as their numbers: real architectures with random weights."""

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from engine.config import FeatureSettings, Pooling, RegionScheme
from engine.errors import NetworkError
from engine.features.grid import ospp
from engine.jobs import Ticket
from engine.network import kept
from engine.network.device import DeviceChoice
from engine.network.importing import Wanted, import_file
from engine.network.manifest import NetworkManifest
from engine.network.network import Network
from engine.network.registry import load_described
from engine.types import PixelArray
from tests.engine.network.checkpoints import (
    ap_gem_state,
    backbone,
    filled_resnet,
    plain_gem,
    plain_head,
    save_ap_gem,
)
from tests.engine.network.networks import plain_map, random_state

pytestmark = [pytest.mark.heavy, pytest.mark.shared_workers]

_CPU = DeviceChoice("cpu", "CPU: for the tests")
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_TIMM = "timm:test_resnet"


def loaded(known: NetworkManifest, **features: object) -> Network:
    asked = FeatureSettings(**features)  # type: ignore[arg-type]
    return load_described(known, device=_CPU, features=asked)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("networks")


@pytest.fixture(scope="module")
def ap_gem(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> NetworkManifest:
    """Imported from a zip archive, as it is often brought."""
    place = tmp_path_factory.mktemp("download")
    file = place / "Resnet-50-AP-GeM.pt"
    save_ap_gem(file, state=ap_gem_state(), optimizer={"state": {0: {"m": torch.ones(3)}}})
    with zipfile.ZipFile(place / "Resnet-50-AP-GeM.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(file, file.name)
    made = import_file(place / "Resnet-50-AP-GeM.zip", folder, Wanted(), Ticket())
    assert made.name == "resnet-50-ap-gem"
    assert "Resnet-50-AP-GeM.zip" in made.origin
    return made


@pytest.fixture(scope="module")
def photo() -> PixelArray:
    return np.random.default_rng(2).integers(0, 256, (128, 192, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def feature_map(photo: PixelArray) -> Tensor:
    """(C, h, w) as torchvision's own network gives it."""
    shape = (1, 3, 1, 1)
    pixels = torch.tensor(photo).permute(2, 0, 1)[None].float() / 255
    seen = (pixels - torch.tensor(_MEAN).view(shape)) / torch.tensor(_STD).view(shape)
    with torch.inference_mode():
        found: Tensor = nn.Sequential(*list(filled_resnet().children())[:-2])(seen)[0]
    return found


def test_the_descriptor_is_that_of_the_papers_code(
    ap_gem: NetworkManifest, photo: PixelArray, feature_map: Tensor
) -> None:
    expected = plain_head(plain_gem(feature_map), norm_features=False)[0]
    network = loaded(ap_gem)
    assert network.dim == len(expected)
    assert network.descriptor(photo) == pytest.approx(expected.numpy(), abs=1e-4)
    assert (network.descriptor(photo) < 0).any()


@pytest.mark.parametrize("scheme", [RegionScheme.OSPP, RegionScheme.CELLS])
@pytest.mark.parametrize("pooling", [Pooling.GEM, Pooling.MAX])
def test_regions_go_through_the_same_head(
    scheme: RegionScheme,
    pooling: Pooling,
    ap_gem: NetworkManifest,
    photo: PixelArray,
    feature_map: Tensor,
) -> None:
    h, w = feature_map.shape[1:]
    network = loaded(ap_gem, regions=scheme, pooling=pooling, levels=(1, 2))
    (found,) = network.extract([photo])
    cells = ospp(h, w, (1, 2)).tolist()
    if scheme is RegionScheme.CELLS:
        cells = [[x, y, x + 1, y + 1] for y in range(h) for x in range(w)]
    parts = [feature_map[:, y0:y1, x0:x1] for x0, y0, x1, y1 in cells]
    pooled = [
        plain_gem(one) if pooling is Pooling.GEM else one.flatten(1).amax(1)[None].double()
        for one in parts
    ]
    expected = plain_head(torch.cat(pooled), norm_features=False).numpy()
    assert found.regions == pytest.approx(expected, abs=1e-4)
    descriptor, seen = network.look(photo, (1, 2))
    assert descriptor == pytest.approx(found.descriptor, abs=1e-5)
    if scheme is RegionScheme.OSPP:
        assert seen == pytest.approx(found.regions, abs=1e-5)


def test_an_export_gives_the_same_numbers(
    ap_gem: NetworkManifest, photo: PixelArray, folder: Path, tmp_path: Path
) -> None:
    kept.export_to(folder, ap_gem.name, tmp_path / "network.zip")
    wanted = Wanted(name="again", licence="mine")
    again = import_file(tmp_path / "network.zip", tmp_path / "networks", wanted, Ticket())
    source = replace(ap_gem.weights, file=again.weights.file)
    assert again == replace(ap_gem, name="again", licence="mine", weights=source)
    assert np.array_equal(loaded(again).descriptor(photo), loaded(ap_gem).descriptor(photo))


def test_a_state_dictionary_of_torchvision(
    photo: PixelArray, feature_map: Tensor, tmp_path: Path
) -> None:
    classifier = {"fc.weight": torch.ones(1000, 2048).half(), "fc.bias": torch.ones(1000)}
    torch.save(backbone() | classifier, tmp_path / "resnet50-0676ba61.pth")
    wanted = Wanted(network="resnet50")
    made = import_file(tmp_path / "resnet50-0676ba61.pth", tmp_path, wanted, Ticket())
    expected = nn.functional.normalize(plain_gem(feature_map, 3.0))[0]
    assert made.name == "resnet50-0676ba61"
    assert not made.headed
    assert loaded(made).descriptor(photo) == pytest.approx(expected.numpy(), abs=1e-4)


def test_safetensors_of_timm(photo: PixelArray, tmp_path: Path) -> None:
    state = random_state(_TIMM)
    save_file(state, tmp_path / "model.safetensors")
    made = import_file(tmp_path / "model.safetensors", tmp_path, Wanted(network=_TIMM), Ticket())
    torch.save(state, tmp_path / "model.pth")
    pixels = torch.tensor(photo).permute(2, 0, 1)[None].float()
    seen = (pixels - torch.tensor(made.mean).view(1, 3, 1, 1)) / torch.tensor(made.std).view(
        1, 3, 1, 1
    )
    own = plain_map(_TIMM, tmp_path / "model.pth", "forward_features", seen)[0]
    expected = nn.functional.normalize(plain_gem(own, 3.0))[0]
    assert loaded(made).descriptor(photo) == pytest.approx(expected.numpy(), abs=1e-4)


def test_what_a_file_is_of_must_be_known(tmp_path: Path) -> None:
    save_file({"a": torch.ones(1)}, tmp_path / "a.safetensors")
    torch.save({"a": torch.ones(1)}, tmp_path / "a.pth")
    for name in ("a.safetensors", "a.pth"):
        with pytest.raises(NetworkError, match="say it, --network"):
            import_file(tmp_path / name, tmp_path / "n", Wanted(), Ticket())
        with pytest.raises(NetworkError, match="holds 'a', which"):
            import_file(tmp_path / name, tmp_path / "n", Wanted(network="resnet50"), Ticket())
    save_ap_gem(tmp_path / "b.pt", state={"conv1.weight": torch.ones(1)}, pca=False)
    with pytest.raises(NetworkError, match="of resnet50, not of resnet101"):
        import_file(tmp_path / "b.pt", tmp_path / "n", Wanted(network="resnet101"), Ticket())
    with pytest.raises(NetworkError, match="lacks"):
        import_file(tmp_path / "b.pt", tmp_path / "n", Wanted(), Ticket())
    assert not (tmp_path / "n").exists()


def test_weights_that_are_no_numbers(tmp_path: Path) -> None:
    state = random_state(_TIMM)
    next(iter(state.values()))[0] = torch.nan
    save_file(state, tmp_path / "a.safetensors")
    with pytest.raises(NetworkError, match="no numbers"):
        import_file(tmp_path / "a.safetensors", tmp_path / "n", Wanted(network=_TIMM), Ticket())
    assert not (tmp_path / "n").exists()
