"""The backbones of the papers and timm's: the layer that is meant, whatever the size of the photo.

Their weights are random; what a layer must give is what the library's own network gives.
"""

from pathlib import Path

import numpy as np
import pytest
import torch

from engine.config import FeatureSettings, NetworkChoice
from engine.errors import NetworkError
from engine.network import registry
from engine.network.backbone import build
from engine.network.device import DeviceChoice
from engine.network.manifest import NetworkManifest, network_key
from engine.network.network import Network
from engine.network.zoo import PAPERS
from engine.types import FloatArray, PixelArray
from tests.engine.network.networks import plain_map, random_state, with_random_weights

pytestmark = pytest.mark.heavy

CPU = DeviceChoice("cpu", "CPU: for the tests")
SMALL = "timm:test_resnet.r160_in1k"
# Name, layer, channels, stride, cells of a side of 100 pixels.
LAYERS = [
    ("vgg19", "features.35", 512, 16, 6),
    ("googlenet", "inception4e", 832, 16, 6),
    ("resnet152", "layer4.1", 2048, 32, 4),
    ("resnet101", "layer4", 2048, 32, 4),
    ("resnet50", "layer4", 2048, 32, 4),
    ("timm:tf_efficientnet_lite0", "forward_features", 1280, 32, 4),
]
IMAGENET_MEAN = tuple(255 * value for value in (0.485, 0.456, 0.406))


def picture(h: int, w: int) -> PixelArray:
    return np.random.default_rng(h * w).integers(0, 256, (h, w, 3), dtype=np.uint8)


def loaded(choice: NetworkChoice) -> Network:
    known = registry.manifest_of(choice)
    return registry.load_described(known, device=CPU, features=FeatureSettings())


def normalised(photo: PixelArray, known: NetworkManifest) -> torch.Tensor:
    pixels = (photo - np.array(known.mean)) / np.array(known.std)
    return torch.from_numpy(pixels.astype(np.float32)).permute(2, 0, 1)[None]


def differ(got: FloatArray, expected: FloatArray) -> float:
    assert got.shape == expected.shape
    return float(np.abs(got - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize(("name", "layer", "dim", "stride", "cells"), LAYERS)
def test_a_layer_gives_what_the_librarys_own_network_gives(
    tmp_path: Path, name: str, layer: str, dim: int, stride: int, cells: int
) -> None:
    choice = with_random_weights(name, tmp_path)
    network = loaded(choice)
    known = network.manifest
    assert (known.layer, known.dim, known.stride, known.name) == (layer, dim, stride, name)
    assert known.cells(100, 100) == (cells, cells)
    assert choice.weights is not None
    for h, w in ((100, 117), (64, 47)):
        photo = picture(h, w)
        expected = plain_map(name, choice.weights, layer, normalised(photo, known))[0].numpy()
        assert differ(network.feature_map(photo), expected) < 1e-3
    features = network.extract([picture(1, 1), picture(33, 5)])
    for one in features:
        assert one.descriptor.shape == (dim,)
        assert np.isclose(np.linalg.norm(one.descriptor), 1, atol=1e-5)


@pytest.mark.parametrize("name", ["vgg19", "googlenet", "resnet50", SMALL])
def test_cells_are_those_that_the_network_gives(name: str) -> None:
    """Each length of a side, by shapes alone."""
    from engine.network.architectures import create
    from engine.network.layers import FORWARD_FEATURES, FeatureMap, survey, without_values
    from engine.network.zoo import architecture

    wanted = architecture(name)
    layer = wanted.layer or FORWARD_FEATURES
    model = create(wanted.library, wanted.backbone).model
    shape = survey(model, layer)
    shapes = FeatureMap(without_values(model).eval(), layer)
    lengths = [*range(shape.smallest_px, shape.smallest_px + 40, 3), 767, 768, 769]
    with torch.inference_mode():
        for h, w in zip(lengths, reversed(lengths), strict=True):
            given = shapes(torch.empty(1, 3, h, w, device="meta")).shape[2:]
            cells = tuple((side + shape.offset) // shape.stride for side in (h, w))
            assert tuple(given) == cells, (h, w)


def test_a_network_that_takes_no_small_photo_gets_it_filled_up() -> None:
    from engine.network.layers import survey

    steps = [torch.nn.Conv2d(3, 3, 7, stride=2), torch.nn.Conv2d(3, 5, 5, stride=2)]
    shape = survey(torch.nn.Sequential(*steps), "1")
    # 15 pixels → 5 cells → 1 cell; nothing is padded.
    assert (shape.dim, shape.stride, shape.smallest_px) == (5, 4, 15)
    assert (15 + shape.offset) // shape.stride == 1


def test_googlenet_makes_the_scale_that_its_weights_were_trained_on() -> None:
    from engine.network.architectures import create

    assert bool(create("torchvision", "googlenet").model.transform_input)


def test_preprocessing_is_the_librarys(tmp_path: Path) -> None:
    resnet = registry.manifest_of(with_random_weights("resnet50", tmp_path))
    assert resnet.mean == pytest.approx(IMAGENET_MEAN)
    other = registry.manifest_of(
        with_random_weights("timm:tf_mobilenetv3_small_minimal_100", tmp_path)
    )
    assert other.mean == pytest.approx((127.5,) * 3)
    assert other.std == pytest.approx((127.5,) * 3)
    assert other.library == "timm"


@pytest.mark.parametrize("layer", ["conv1", "bn1", "layer1", "layer2.0.conv2", "layer2.0.bn2"])
def test_any_layer_is_itself_though_norms_are_folded(
    tmp_path: Path, layer: str, caplog: pytest.LogCaptureFixture
) -> None:
    choice = with_random_weights(SMALL, tmp_path, layer=layer)
    network = loaded(choice)
    photo = picture(70, 90)
    assert choice.weights is not None
    expected = plain_map(SMALL, choice.weights, layer, normalised(photo, network.manifest))
    got = network.feature_map(photo)
    assert differ(got, expected[0].numpy()) < 1e-3
    assert "stays as it is" not in caplog.text, "it was rebuilt"
    if layer in ("conv1", "layer2.0.conv2"):
        assert got.min() < 0, "no ReLU: pooling clamps"
    assert np.isfinite(network.extract([photo])[0].regions).all()


def test_what_lies_behind_the_layer_is_not_kept(tmp_path: Path) -> None:
    choice = with_random_weights("googlenet", tmp_path)
    known = registry.manifest_of(choice)
    assert choice.weights is not None
    names = {name.split(".")[1] for name in build(known, choice.weights).state_dict()}
    assert {"inception4e", "conv1"} < names
    assert not {"inception5a", "fc", "aux1", "aux2"} & names


def test_a_part_that_is_kept_is_not_folded() -> None:
    from engine.network.inference import for_inference

    block = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 1), torch.nn.BatchNorm2d(4))
    kept = for_inference(torch.nn.Sequential(block), keep="0.0")
    assert isinstance(kept.get_submodule("0.1"), torch.nn.BatchNorm2d)
    folded = for_inference(torch.nn.Sequential(block))
    assert isinstance(folded.get_submodule("0.1"), torch.nn.Identity)


def test_a_fold_that_changes_numbers_is_not_made(tmp_path: Path) -> None:
    """A network that is used in another order than it was written down."""
    from engine.network.backbone import _quicker
    from engine.network.layers import FeatureMap

    class Crossed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.BatchNorm2d(3)
            self.conv = torch.nn.Conv2d(3, 3, 3)
            self.other = torch.nn.BatchNorm2d(3)
            self.end = torch.nn.Identity()

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.end(self.conv(self.norm(images * 2)))  # type: ignore[no-any-return]

    model = Crossed().eval()
    torch.nn.init.constant_(model.other.bias, 5)
    assert _quicker(FeatureMap(model, "end")) is None


def test_the_key_tells_networks_layers_and_weights_apart(tmp_path: Path) -> None:
    torch.save(random_state(SMALL, seed=1), tmp_path / "other.pth")
    choices = [
        with_random_weights(SMALL, tmp_path),
        with_random_weights(SMALL, tmp_path, layer="layer3"),
        NetworkChoice(SMALL, tmp_path / "other.pth"),
        NetworkChoice(registry.DEFAULT),
        NetworkChoice(registry.DEFAULT, layer="blocks.0"),
    ]
    keys = {network_key(registry.manifest_of(choice), FeatureSettings()) for choice in choices}
    assert len(keys) == len(choices)
    assert all(key.replace("-", "").replace("_", "").replace(".", "").isalnum() for key in keys)


def test_a_described_network_survives_json_and_runs_from_it(tmp_path: Path) -> None:
    choice = with_random_weights(SMALL, tmp_path)
    known = NetworkManifest.from_json(registry.manifest_of(choice).to_json())
    assert known == registry.manifest_of(choice)
    again = registry.load_described(known, device=CPU, features=FeatureSettings())
    expected = loaded(choice).descriptor(picture(80, 80))
    np.testing.assert_allclose(again.descriptor(picture(80, 80)), expected, atol=1e-6)


def test_weights_that_are_no_longer_those_are_refused(tmp_path: Path) -> None:
    choice = with_random_weights(SMALL, tmp_path)
    known = registry.manifest_of(choice)
    assert choice.weights is not None
    torch.save(random_state(SMALL, seed=1), choice.weights)
    with pytest.raises(NetworkError, match="no longer the file"):
        registry.load_described(known, device=CPU, features=FeatureSettings())


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (NetworkChoice("vgg19"), r"needs '--weights FILE'.*vgg19-dcbb9e9d.pth"),
        (NetworkChoice(SMALL), r"needs '--weights FILE'.*huggingface.co/timm"),
        (NetworkChoice("vgg", Path("a.pth")), "there is no network 'vgg'.*vgg19"),
        (NetworkChoice("timm:resnet5", Path("a.pth")), "no network 'resnet5'.*resnet50"),
        (NetworkChoice("timm:hf-hub:timm/resnet50", Path("a.pth")), "timm has no network"),
        (NetworkChoice("resnet50", Path("no.pth")), "cannot be read.*no.pth"),
        (NetworkChoice("resnet50", Path("a.pth"), "layer5"), "nearest names: .*layer4"),
        (NetworkChoice("resnet50", Path("a.pth"), "layer4.1.relu"), "used 3 times"),
        (NetworkChoice("resnet50", Path("a.pth"), "fc"), "no feature map"),
        (NetworkChoice("googlenet", Path("a.pth"), "aux1"), "no part in a pass"),
        (NetworkChoice("timm:vit_tiny_patch16_224", Path("a.pth")), "cannot take photos"),
        (NetworkChoice(registry.DEFAULT, Path("a.pth")), "has its own weights"),
    ],
)
def test_a_wrong_choice_is_answered_with_the_reason(choice: NetworkChoice, reason: str) -> None:
    with pytest.raises(NetworkError, match=reason):
        registry.manifest_of(choice)


def test_the_papers_networks_are_those_of_torchvision() -> None:
    from torchvision.models import get_model_weights

    for name, wanted in PAPERS.items():
        assert get_model_weights(name).IMAGENET1K_V1.url == wanted.url
        assert len(wanted.sha256_prefix) == 8


# --- on a card: what a described network should give, the CPU says ----------------------------


def test_a_card_that_agrees_with_the_cpu_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = _card(monkeypatch, wrong=False)
    known = registry.manifest_of(with_random_weights(SMALL, tmp_path))
    network = registry.load_described(known, device=device, features=FeatureSettings())
    assert network.device == device


def test_a_card_that_counts_wrong_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = _card(monkeypatch, wrong=True)
    known = registry.manifest_of(with_random_weights(SMALL, tmp_path))
    network = registry.load_described(known, device=device, features=FeatureSettings())
    assert network.device.kind == "cpu"
    assert "wrong numbers on CUDA" in network.device.reason


def _card(monkeypatch: pytest.MonkeyPatch, *, wrong: bool) -> DeviceChoice:
    """A CPU that stands for a card."""
    from engine.network import backbone

    class OnCard(backbone.Backbone):
        def __init__(self, module: torch.nn.Module, known: NetworkManifest, *, device: str) -> None:
            super().__init__(module, known, device="cpu")
            self._wrong = wrong and device == "cuda"

        def pooled(self, images: PixelArray, weights: FloatArray) -> FloatArray:
            right = super().pooled(images, weights)
            return np.roll(right, 40, axis=-1) if self._wrong else right

    monkeypatch.setattr(backbone, "Backbone", OnCard)
    return DeviceChoice("cuda", "CUDA: said to be one")


def test_weights_that_give_no_numbers_are_refused(tmp_path: Path) -> None:
    state = random_state(SMALL)
    state["conv1.0.weight" if "conv1.0.weight" in state else "conv1.weight"].fill_(np.nan)
    torch.save(state, tmp_path / "nan.pth")
    with pytest.raises(NetworkError, match="wrong numbers"):
        loaded(NetworkChoice(SMALL, tmp_path / "nan.pth"))
