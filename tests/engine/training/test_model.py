"""The trainable network: what is frozen, what is trained, and that inference can take it over."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from engine.config import FeatureSettings
from engine.errors import NetworkError
from engine.network import registry
from engine.network.device import DeviceChoice
from engine.network.manifest import NetworkManifest, WeightsSource
from engine.network.network import Network
from engine.training.model import TrainableNetwork, learned_gem, trainable
from engine.types import PixelArray
from tests.engine.network.networks import with_random_weights
from tests.engine.training.small import (
    Noisy,
    assert_equal,
    classes_of,
    conv_net,
    dense_loss,
    gradients_of,
    plain_gradients,
    small_network,
)

CPU = DeviceChoice("cpu", "CPU: for the tests")


def picture(h: int, w: int) -> PixelArray:
    return np.random.default_rng(h * w).integers(0, 256, (h, w, 3), dtype=np.uint8)


def as_seen(photo: PixelArray, known: NetworkManifest) -> Tensor:
    pixels = (photo - np.array(known.mean)) / np.array(known.std)
    return torch.from_numpy(pixels.astype(np.float32)).permute(2, 0, 1)[None]


def loaded(known: NetworkManifest) -> Network:
    return registry.load_described(known, device=CPU, features=FeatureSettings())


def described(model: TrainableNetwork, photo: PixelArray, known: NetworkManifest) -> Tensor:
    with torch.no_grad():
        descriptors: Tensor = model(as_seen(photo, known))
    return descriptors[0]


# --- the same numbers as inference ----------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("name", [registry.OFF_THE_SHELF, "resnet50", "timm:test_resnet.r160_in1k"])
def test_untrained_it_gives_the_descriptors_of_inference(tmp_path: Path, name: str) -> None:
    known = (
        registry.manifest(name)
        if name == registry.OFF_THE_SHELF
        else registry.manifest_of(with_random_weights(name, tmp_path))
    )
    network = loaded(known)
    model = trainable(known, registry.weights_file(known.weights))
    for h, w in ((96, 64), (101, 133)):
        expected = network.descriptor(picture(h, w))
        got = described(model.eval(), picture(h, w), known).numpy()
        assert np.abs(got - expected).max() <= 1e-4


@pytest.mark.heavy
def test_inference_takes_over_what_was_trained(tmp_path: Path) -> None:
    known = registry.manifest(registry.OFF_THE_SHELF)
    model = trainable(known, registry.weights_file(known.weights))
    before = described(model.eval(), picture(96, 64), known)
    groups = model.train().parameter_groups(lr=1e-3, p_lr=0.5, weight_decay=0)
    optimiser = torch.optim.Adam(groups)
    images = torch.cat([as_seen(picture(64, 64), known) * share for share in (1, 0.7, 0.4, 0.1)])
    torch.autograd.backward(dense_loss(model(images), classes_of(4) % 2))
    optimiser.step()

    trained = model.trained_weights()
    path = tmp_path / "trained.safetensors"
    save_file(trained.backbone, path)
    source = WeightsSource(package=None, file=str(path), sha256=registry.sha256_of(path))
    after = dataclasses.replace(
        known, weights=source, gem_p=trained.gem_p, known_output=(), measured=()
    )
    expected = described(model.eval(), picture(96, 64), known)
    assert (expected - before).abs().max() > 1e-2
    assert abs(trained.gem_p - 3) > 0.1
    got = loaded(after).descriptor(picture(96, 64))
    assert np.abs(got - expected.numpy()).max() <= 1e-4
    again = described(trainable(after, path).eval(), picture(96, 64), known)
    assert (again - expected).abs().max() <= 1e-6


def test_trained_weights_are_copies_of_all_that_there_is() -> None:
    model = small_network()
    trained = model.trained_weights()
    assert trained.backbone.keys() == conv_net().state_dict().keys()
    assert trained.linear is not None
    assert trained.bias is not None
    assert model.linear is not None
    held = trained.linear.clone()
    with torch.no_grad():
        for value in model.parameters():
            value.add_(1)
    assert torch.equal(trained.linear, held)
    assert trained.gem_p == 3.0
    assert small_network(linear=False).trained_weights().linear is None


# --- what is frozen -------------------------------------------------------------------------


def test_norms_are_frozen_in_training_and_dropout_is_not() -> None:
    model = small_network(dropout=0.5).train()
    modes = {name: module.training for name, module in model.features.named_modules() if name}
    assert (modes["1"], modes["5"], modes["3"], modes["0"]) == (False, False, True, True)
    assert not any(module.training for module in model.eval().modules())
    before = {name: value.clone() for name, value in model.features.named_buffers()}
    model.train()(Noisy(4).pixels(0, 4))
    assert all(torch.equal(v, before[name]) for name, v in model.features.named_buffers())


def trained_names(model: nn.Module) -> set[str]:
    return {name for name, one in model.named_parameters() if one.requires_grad}


HEAD = {"gem_p", "linear.weight", "linear.bias"}
FIRST = {"features.0.weight", "features.0.bias"}
SECOND = {"features.4.weight", "features.4.bias"}


def test_scales_of_norms_are_trained_only_if_asked() -> None:
    norms = {f"features.{layer}.{name}" for layer in (1, 5) for name in ("weight", "bias")}
    assert trained_names(small_network()) == HEAD | FIRST | SECOND
    assert trained_names(small_network(train_norms=True)) == HEAD | FIRST | SECOND | norms


@pytest.mark.parametrize(
    ("start", "trained"),
    [
        ("0", FIRST | SECOND),
        ("1", SECOND),
        ("4", SECOND),
        ("5", set()),
        (0.0, FIRST | SECOND),
        (0.5, SECOND),
        (1.0, set()),
    ],
)
def test_first_layers_can_be_frozen(start: str | float, trained: set[str]) -> None:
    model = small_network()
    model.train_from(start)
    assert trained_names(model) == HEAD | trained
    model.train_from(0.0)
    assert trained_names(model) == HEAD | FIRST | SECOND


@pytest.mark.parametrize(("start", "graphs"), [(0.0, [True, True]), ("4", [False, True])])
def test_frozen_layers_run_without_a_graph(start: str | float, graphs: list[bool]) -> None:
    model = small_network()
    model.train_from(start)
    seen: list[bool] = []
    for index in (0, 4):
        model.features[index].register_forward_hook(  # type: ignore[index]
            lambda _module, _inputs, output: seen.append(output.requires_grad)
        )
    model(Noisy(2).pixels(0, 2))
    assert seen == graphs


class Backwards(nn.Module):
    """Registered in another order than it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self.second = nn.Conv2d(4, 4, 1)
        self.first = nn.Conv2d(3, 4, 1)

    def forward(self, images: Tensor) -> Tensor:
        return torch.relu(self.second(self.first(images)))


def test_the_order_of_layers_is_that_of_a_pass() -> None:
    model = TrainableNetwork(Backwards())
    model.train_from("second")
    names = {"gem_p", "features.second.weight", "features.second.bias"}
    assert trained_names(model) == names


@pytest.mark.heavy
def test_a_block_of_the_shipped_network_is_a_start() -> None:
    known = registry.manifest(registry.OFF_THE_SHELF)
    model = trainable(known, registry.weights_file(known.weights))
    model.train_from("blocks.5")
    kinds = {
        name.removeprefix("features.model.").partition(".")[0] for name in trained_names(model)
    }
    assert kinds == {"gem_p", "blocks", "conv_head"}
    frozen = {n for n, one in model.named_parameters() if not one.requires_grad}
    assert "features.model.blocks.4.0.conv_pw.weight" in frozen
    assert "features.model.blocks.5.0.conv_pw.weight" not in frozen


def test_a_start_that_is_none_is_an_error() -> None:
    model = small_network()
    with pytest.raises(NetworkError, match="no layer '9'"):
        model.train_from("9")
    with pytest.raises(NetworkError, match="'2' has no weights"):
        model.train_from("2")
    with pytest.raises(ValueError, match=r"0\.\.1"):
        model.train_from(1.5)


def test_the_exponent_has_a_rate_of_its_own_and_no_decay() -> None:
    model = small_network()
    model.train_from("4")
    weights, exponent = model.parameter_groups(lr=1e-4, p_lr=1e-2, weight_decay=1e-6)
    assert (weights["lr"], weights["weight_decay"]) == (1e-4, 1e-6)
    assert (exponent["lr"], exponent["weight_decay"]) == (1e-2, 0.0)
    assert [id(one) for one in exponent["params"]] == [id(model.gem_p)]
    trained = {id(one) for one in model.parameters() if one.requires_grad}
    assert {id(one) for one in weights["params"]} == trained - {id(model.gem_p)}
    alone = small_network(linear=False)
    alone.train_from(1.0)
    assert len(alone.parameter_groups(lr=1, p_lr=1, weight_decay=0)) == 1


# --- GeM ------------------------------------------------------------------------------------


def test_gem_is_the_generalised_mean() -> None:
    maps = torch.tensor([[[[0.0, 1.0], [2.0, 3.0]], [[-1.0, 0.0], [0.0, 0.0]]]]).double()
    p = torch.tensor([3.0]).double()
    expected = torch.tensor([[(1e-18 / 4 + (1 + 8 + 27) / 4) ** (1 / 3), 1e-6]]).double()
    torch.testing.assert_close(learned_gem(maps, p, eps=1e-6), expected)


@pytest.mark.parametrize("p", [1.0, 3.0, 6.9])
def test_gradients_of_gem_are_those_of_its_definition(p: float) -> None:
    random = torch.Generator().manual_seed(0)
    maps = torch.rand(2, 5, 4, 3, generator=random).double().requires_grad_()
    exponent = torch.tensor([p]).double().requires_grad_()
    pull = torch.randn(2, 5, generator=random).double()
    got = torch.autograd.grad(learned_gem(maps, exponent, eps=1e-6), (maps, exponent), pull)
    plain = maps.clamp(min=1e-6).pow(exponent).mean(dim=(2, 3)).pow(1 / exponent)
    for one, expected in zip(got, torch.autograd.grad(plain, (maps, exponent), pull), strict=True):
        torch.testing.assert_close(one, expected)


@pytest.mark.parametrize("p", [0.5, 8.0, 30.0, 200.0])
@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e4])
def test_gem_and_its_gradients_stay_finite(p: float, scale: float) -> None:
    random = torch.Generator().manual_seed(0)
    maps = (torch.rand(2, 5, 4, 4, generator=random) * scale).requires_grad_()
    with torch.no_grad():
        maps[:, 0] = 0
    exponent = torch.tensor([p], requires_grad=True)
    pooled = learned_gem(maps, exponent, eps=1e-6)
    largest = maps.detach().amax(dim=(2, 3))
    assert (pooled[:, 1:] <= largest[:, 1:] * 1.001).all()
    if p == 200.0:
        torch.testing.assert_close(pooled[:, 1:], largest[:, 1:], rtol=0.03, atol=0)
    for gradient in torch.autograd.grad(pooled.sum(), (maps, exponent)):
        assert gradient.isfinite().all()
        assert gradient.norm() > 0


def test_the_gradient_of_the_exponent_is_the_slope_of_the_loss() -> None:
    model, batch = small_network(), Noisy(6)
    images, classes = batch.pixels(0, 6), classes_of(6)
    gradient = plain_gradients(model, images, classes, dense_loss)["gem_p"]
    assert gradient is not None

    def at(p: float) -> float:
        with torch.no_grad():
            model.gem_p.fill_(p)
            return float(dense_loss(model(images), classes))

    slope = (at(3 + 1e-5) - at(3 - 1e-5)) / 2e-5
    assert float(gradient) == pytest.approx(slope, rel=1e-4)


# --- three stages on the real thing ---------------------------------------------------------


@pytest.mark.heavy
def test_three_stages_of_the_shipped_network_give_the_plain_gradient() -> None:
    from engine.training.three_stage import three_stage

    known = registry.manifest(registry.OFF_THE_SHELF)
    model = trainable(known, registry.weights_file(known.weights)).double()
    batch = Noisy(6, side=64)
    expected = plain_gradients(model, batch.pixels(0, 6), classes_of(6), dense_loss)
    three_stage(model, batch, classes_of(6), dense_loss, micro_batch=4)
    assert_equal(gradients_of(model), expected)
    assert gradients_of(model)["gem_p"] is not None
