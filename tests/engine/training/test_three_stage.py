"""Three stages give the gradient that one plain pass gives, whatever happens on the way."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor, nn

from engine.errors import TrainingError
from engine.jobs import Cancelled, Ticket
from engine.training.model import TrainableNetwork
from engine.training.three_stage import three_stage
from tests.engine.training.small import (
    Noisy,
    assert_equal,
    classes_of,
    dense_loss,
    gradients_of,
    plain_gradients,
    small_network,
)

COUNT = 11


def expected_gradients(model: nn.Module, batch: Noisy) -> dict[str, Tensor | None]:
    return plain_gradients(model, batch.pixels(0, len(batch)), classes_of(len(batch)), dense_loss)


@pytest.mark.parametrize("micro_batch", [1, 3, 4, 11, 64])
def test_the_gradient_is_that_of_one_plain_pass(micro_batch: int) -> None:
    model, batch = small_network(train_norms=True), Noisy(COUNT)
    expected = expected_gradients(model, batch)
    report = three_stage(model, batch, classes_of(COUNT), dense_loss, micro_batch=micro_batch)
    assert all(one is not None for one in expected.values())
    assert_equal(gradients_of(model), expected)
    images = batch.pixels(0, COUNT)
    assert report.loss == pytest.approx(
        float(dense_loss(model(images), classes_of(COUNT)).detach())
    )
    assert (report.pictures, report.micro_batch) == (COUNT, micro_batch)
    norms = torch.stack([one.norm() for one in expected.values() if one is not None])
    assert report.gradient_norm == pytest.approx(float(norms.norm()))


def test_gradients_are_added_to_those_that_are_there() -> None:
    model, batch = small_network(), Noisy(COUNT)
    expected = expected_gradients(model, batch)
    for _ in range(2):
        three_stage(model, batch, classes_of(COUNT), dense_loss, micro_batch=4)
    doubled = {name: None if one is None else 2 * one for name, one in expected.items()}
    assert_equal(gradients_of(model), doubled)


def test_frozen_parameters_get_no_gradient_and_the_rest_the_same() -> None:
    model, batch = small_network(), Noisy(COUNT)
    whole = expected_gradients(model, batch)
    model.train_from("4")
    three_stage(model, batch, classes_of(COUNT), dense_loss, micro_batch=4)
    got = gradients_of(model)
    assert got["features.0.weight"] is None
    assert got["features.4.weight"] is not None
    trained = {name: whole[name] for name, one in got.items() if one is not None}
    assert_equal({name: got[name] for name in trained}, trained)


def test_statistics_of_batch_norms_stay_as_they_are() -> None:
    model = small_network()
    before = {name: value.clone() for name, value in model.named_buffers()}
    three_stage(model, Noisy(COUNT), classes_of(COUNT), dense_loss, micro_batch=4)
    assert before
    for name, value in model.named_buffers():
        assert torch.equal(value, before[name]), name


def test_batch_norm_that_is_not_frozen_is_refused() -> None:
    model = small_network()
    nn.Module.train(model.features)
    model.features.train(True)
    with pytest.raises(TrainingError, match=r"batch norm features\.1 is not frozen"):
        three_stage(model, Noisy(4), classes_of(4), dense_loss, micro_batch=4)


def test_pictures_of_several_sizes() -> None:
    batches = [Noisy(5, side=20), Noisy(6, side=28, seed=1)]
    model, classes = small_network(), classes_of(COUNT)
    parts = [model(batch.pixels(0, len(batch))) for batch in batches]
    torch.autograd.backward(dense_loss(torch.cat(parts), classes))
    expected = gradients_of(model)
    model.zero_grad()
    three_stage(model, batches, classes, dense_loss, micro_batch=4)
    assert_equal(gradients_of(model), expected)


# --- random numbers -------------------------------------------------------------------------


class SeenDropout(nn.Module):
    """Drops channels and remembers what it dropped, so that a plain pass can do the same."""

    def __init__(self) -> None:
        super().__init__()
        self.masks: list[Tensor] = []
        self.fixed: Tensor | None = None

    def forward(self, maps: Tensor) -> Tensor:
        if self.fixed is not None:
            return maps * self.fixed
        mask = torch.bernoulli(torch.full((*maps.shape[:2], 1, 1), 0.6)).to(maps.dtype)
        self.masks.append(mask)
        return maps * mask


def with_dropout() -> tuple[TrainableNetwork, SeenDropout]:
    model, dropout = small_network(), SeenDropout()
    assert isinstance(model.features, nn.Sequential)
    model.features[3] = dropout
    return model, dropout


def test_dropout_is_the_same_in_both_passes() -> None:
    (model, dropout), batch = with_dropout(), Noisy(COUNT)
    three_stage(model, batch, classes_of(COUNT), dense_loss, micro_batch=4)
    first, second = dropout.masks[:3], dropout.masks[3:]
    assert len(second) == 3
    assert not torch.equal(first[0], first[1])
    got = gradients_of(model)
    dropout.fixed = torch.cat(first)
    assert_equal(got, expected_gradients(model, batch))


def test_the_next_step_has_other_dropout_and_the_callers_numbers_go_on() -> None:
    (model, dropout), batch = with_dropout(), Noisy(4)
    torch.manual_seed(5)
    for _ in range(2):
        three_stage(model, batch, classes_of(4), dense_loss, micro_batch=4)
    assert not torch.equal(dropout.masks[0], dropout.masks[2])


# --- memory ---------------------------------------------------------------------------------


class Scarce(nn.Module):
    """Runs out of memory for more than so many pictures: in passes with a graph, or in all. With
    ``backwards`` it does so on the way back, when later layers already have their gradient."""

    def __init__(
        self, at_most: int, *, with_graph_only: bool = True, backwards: bool = False
    ) -> None:
        super().__init__()
        self.at_most = at_most
        self.with_graph_only = with_graph_only
        self.backwards = backwards
        self.lacks = 0

    def forward(self, maps: Tensor) -> Tensor:
        if len(maps) > self.at_most and (maps.requires_grad or not self.with_graph_only):
            if not self.backwards:
                self._lack()
            maps.register_hook(lambda _: self._lack())  # type: ignore[no-untyped-call]
        return maps

    def _lack(self) -> None:
        self.lacks += 1
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB")


def scarce(at: int, **how: bool) -> tuple[TrainableNetwork, Scarce]:
    model, module = small_network(), Scarce(at, **how)
    assert isinstance(model.features, nn.Sequential)
    model.features[3] = module
    return model, module


@pytest.mark.parametrize(
    ("with_graph_only", "backwards"), [(False, False), (True, False), (True, True)]
)
def test_out_of_memory_halves_the_micro_batch(with_graph_only: bool, backwards: bool) -> None:
    expected = expected_gradients(small_network(), Noisy(COUNT))
    model, module = scarce(2, with_graph_only=with_graph_only, backwards=backwards)
    report = three_stage(model, Noisy(COUNT), classes_of(COUNT), dense_loss, micro_batch=8)
    assert (report.micro_batch, module.lacks) == (2, 2)
    assert_equal(gradients_of(model), expected)


def test_too_little_memory_for_one_picture_is_an_error() -> None:
    model, _ = scarce(0)
    with pytest.raises(TrainingError, match="too little memory for one picture"):
        three_stage(model, Noisy(4), classes_of(4), dense_loss, micro_batch=4)
    assert all(one is None for one in gradients_of(model).values())


def test_with_dropout_a_lack_of_memory_begins_the_step_again() -> None:
    model, dropout = with_dropout()
    assert isinstance(model.features, nn.Sequential)
    model.features[6] = nn.Sequential(nn.ReLU(), Scarce(3))
    batch = Noisy(COUNT)
    report = three_stage(model, batch, classes_of(COUNT), dense_loss, micro_batch=6)
    assert report.micro_batch == 3
    got = gradients_of(model)
    dropout.fixed = torch.cat(dropout.masks[-4:])
    model.features[6] = nn.ReLU()
    assert_equal(got, expected_gradients(model, batch))


class ScarceLater(nn.Module):
    """Runs out of memory once, in the third pass."""

    passes = 0

    def forward(self, maps: Tensor) -> Tensor:
        self.passes += 1
        if self.passes == 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return maps


def test_what_passed_together_with_dropout_passes_together_again() -> None:
    """A lack of memory in the first stage makes later micro-batches smaller, not those before."""
    model, dropout = with_dropout()
    assert isinstance(model.features, nn.Sequential)
    model.features[6] = nn.Sequential(nn.ReLU(), ScarceLater())
    batch = Noisy(COUNT)
    report = three_stage(model, batch, classes_of(COUNT), dense_loss, micro_batch=4)
    assert report.micro_batch == 1
    assert [len(mask) for mask in dropout.masks[-5:]] == [4, 4, 1, 1, 1]
    got = gradients_of(model)
    dropout.fixed = torch.cat(dropout.masks[-5:])
    model.features[6] = nn.ReLU()
    assert_equal(got, expected_gradients(model, batch))


def test_an_error_that_is_no_lack_of_memory_goes_through() -> None:
    model = small_network()
    with pytest.raises(RuntimeError, match="channels"):
        three_stage(model, FourColours(4), classes_of(4), dense_loss, micro_batch=4)


class FourColours(Noisy):
    def pixels(self, start: int, stop: int) -> Tensor:
        return torch.zeros(stop - start, 4, 20, 20, dtype=torch.float64)


# --- the end of a step ----------------------------------------------------------------------


def test_progress_is_told_between_micro_batches() -> None:
    told: list[tuple[str, int, int]] = []
    three_stage(
        small_network(),
        Noisy(COUNT),
        classes_of(COUNT),
        dense_loss,
        micro_batch=4,
        check=lambda *what: told.append(what),
    )
    assert told == [
        *(("describing", done, COUNT) for done in (0, 4, 8)),
        *(("learning", done, COUNT) for done in (0, 4, 8, 11)),
    ]


@pytest.mark.parametrize("at", [("describing", 4), ("learning", 4), ("learning", 8)])
def test_a_cancelled_step_leaves_gradients_as_they_were(at: tuple[str, int]) -> None:
    model, ticket = small_network(), Ticket()
    three_stage(model, Noisy(3, seed=2), classes_of(3), dense_loss, micro_batch=3)
    before = gradients_of(model)

    def check(stage: str, done: int, total: int) -> None:
        if (stage, done) == at:
            ticket.cancel()
        ticket.update(stage, done, total)

    with pytest.raises(Cancelled):
        three_stage(model, Noisy(COUNT), classes_of(COUNT), dense_loss, micro_batch=4, check=check)
    assert_equal(gradients_of(model), before, within=0)


@dataclass(frozen=True)
class Forgetful(Noisy):
    """Draws its augmentation anew at each call."""

    calls: list[int] = field(default_factory=list)

    def pixels(self, start: int, stop: int) -> Tensor:
        self.calls.append(start)
        return super().pixels(start, stop) + 0.05 * len(self.calls)


def test_pixels_that_change_between_the_passes_are_noticed() -> None:
    model = small_network()
    with pytest.raises(TrainingError, match=r"pictures 0 to 3 .* pixels are not the same"):
        three_stage(model, Forgetful(8), classes_of(8), dense_loss, micro_batch=4)
    assert all(one is None for one in gradients_of(model).values())


def test_a_network_that_changes_between_the_passes_is_noticed() -> None:
    model = small_network()

    def check(stage: str, done: int, _total: int) -> None:
        if (stage, done) == ("learning", 4):
            with torch.no_grad():
                model.gem_p.add_(0.1)

    with pytest.raises(TrainingError, match=r"pictures 4 to 7 .* network is another"):
        three_stage(model, Noisy(8), classes_of(8), dense_loss, micro_batch=4, check=check)


def poisoned_weight(model: TrainableNetwork) -> None:
    with torch.no_grad():
        next(model.parameters()).fill_(torch.nan)


def nan_loss(descriptors: Tensor, _classes: Tensor) -> Tensor:
    return descriptors.sum() * torch.nan


def steep_loss(descriptors: Tensor, _classes: Tensor) -> Tensor:
    """Finite, but its derivative at 0 is not."""
    return (descriptors - descriptors.detach()).abs().sqrt().sum()


def constant_loss(_descriptors: Tensor, _classes: Tensor) -> Tensor:
    return torch.tensor(0.5)


@pytest.mark.parametrize(
    ("loss", "reason"),
    [
        (nan_loss, "^the loss is no number"),
        (steep_loss, "the gradient of the loss is no number"),
        (constant_loss, "does not depend on the descriptors"),
    ],
)
def test_a_loss_without_a_result_is_an_error(
    loss: Callable[[Tensor, Tensor], Tensor], reason: str
) -> None:
    with pytest.raises(TrainingError, match=reason):
        three_stage(small_network(), Noisy(4), classes_of(4), loss, micro_batch=4)


def test_descriptors_that_are_no_numbers_are_an_error() -> None:
    model = small_network()
    with torch.no_grad():
        model.gem_p.fill_(torch.nan)
    with pytest.raises(TrainingError, match="no numbers for pictures 0 to 3"):
        three_stage(model, Noisy(8), classes_of(8), dense_loss, micro_batch=4)


def test_gradients_that_are_no_numbers_are_an_error() -> None:
    model = small_network()
    model.features[4].weight.register_hook(lambda one: one * torch.inf)  # type: ignore[index]
    with pytest.raises(TrainingError, match=r"the gradient of features\.4\.weight is no number"):
        three_stage(model, Noisy(8), classes_of(8), dense_loss, micro_batch=4)
    assert all(one is None for one in gradients_of(model).values())


def test_classes_must_fit_the_batch() -> None:
    with pytest.raises(ValueError, match="4 pictures, 5 classes"):
        three_stage(small_network(), Noisy(4), classes_of(5), dense_loss, micro_batch=4)


def test_autocast_gives_nearly_the_same() -> None:
    model, batch = small_network().float(), Noisy(COUNT)
    model.features = nn.Sequential(Single(), model.features)
    expected = expected_gradients(model, batch)
    three_stage(model, batch, classes_of(COUNT), dense_loss, micro_batch=4, autocast=True)
    got = gradients_of(model)
    assert_equal(got, expected, within=0.1)
    with pytest.raises(AssertionError):  # it did pass in bfloat16
        assert_equal(got, expected, within=1e-4)


class Single(nn.Module):
    def forward(self, images: Tensor) -> Tensor:
        return images.float()


@pytest.mark.parametrize("shared", [1, 2])
def test_parameters_that_are_added_do_not_share_a_gradient(shared: int) -> None:
    """Autograd gives both one tensor; summing in place would count each picture twice."""

    class Shifted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = small_network()
            self.a = nn.Parameter(torch.full((6,), 0.1, dtype=torch.float64))
            self.b = nn.Parameter(torch.full((6,), 0.2, dtype=torch.float64))

        def forward(self, images: Tensor) -> Tensor:
            shifted = self.net(images) + (self.a + self.b)
            return nn.functional.normalize(shifted, dim=-1)

    model, batch = Shifted(), Noisy(COUNT)
    expected = expected_gradients(model, batch)
    three_stage(model, batch, classes_of(COUNT), dense_loss, micro_batch=shared)
    assert_equal(gradients_of(model), expected)
