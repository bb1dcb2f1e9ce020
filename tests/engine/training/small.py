"""A small network, batches and a loss: everything that a step of training needs, in float64."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.training.model import TrainableNetwork

Gradients = dict[str, Tensor | None]


def conv_net(*, dropout: float = 0.0) -> nn.Sequential:
    """Two convolutions with norms whose statistics are far from 0 and 1."""
    random = torch.Generator().manual_seed(1)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Conv2d(8, 12, 3, stride=2, padding=1),
        nn.BatchNorm2d(12),
        nn.ReLU(),
    )
    for norm in (net[1], net[5]):
        assert isinstance(norm, nn.BatchNorm2d)
        assert norm.running_mean is not None
        assert norm.running_var is not None
        norm.running_mean.copy_(torch.randn(norm.num_features, generator=random) * 0.2)
        norm.running_var.copy_(torch.rand(norm.num_features, generator=random) + 0.5)
    return net


def small_network(
    *, dropout: float = 0.0, linear: bool = True, train_norms: bool = False
) -> TrainableNetwork:
    """The same weights each time."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        head = nn.Linear(12, 6) if linear else None
        model = TrainableNetwork(conv_net(dropout=dropout), linear=head, train_norms=train_norms)
        return model.double()


@dataclass(frozen=True)
class Noisy:
    """Pictures that augmentation makes anew from seeds: each has its own shift and brightness.

    ``first``: where they begin among those of the seed.
    """

    count: int
    side: int = 20
    seed: int = 0
    first: int = 0

    def __len__(self) -> int:
        return self.count

    def pixels(self, start: int, stop: int) -> Tensor:
        return torch.stack([self._picture(self.first + index) for index in range(start, stop)])

    def _picture(self, index: int) -> Tensor:
        random = torch.Generator().manual_seed(1000 * self.seed + index)
        plain = torch.randn(3, self.side, self.side, generator=random, dtype=torch.float64)
        shift = int(torch.randint(self.side, (1,), generator=random))
        return plain.roll(shift, dims=-1) * (0.5 + torch.rand(1, generator=random))


def dense_loss(descriptors: Tensor, classes: Tensor) -> Tensor:
    """Every pair counts, so that every descriptor's gradient depends on all others."""
    same = (classes[:, None] == classes[None, :]).to(descriptors.dtype)
    similar = descriptors @ descriptors.T
    return functional.softplus(4 * (0.5 - similar) * (2 * same - 1)).mean()


def classes_of(count: int) -> Tensor:
    """Four classes in turn."""
    return torch.arange(count) % 4


def gradients_of(model: nn.Module) -> Gradients:
    """Copies, by name."""
    return {
        name: None if one.grad is None else one.grad.clone()
        for name, one in model.named_parameters()
    }


def plain_gradients(
    model: nn.Module, images: Tensor, classes: Tensor, loss: Callable[[Tensor, Tensor], Tensor]
) -> Gradients:
    """By one pass with a graph of the whole batch."""
    model.zero_grad(set_to_none=True)
    torch.autograd.backward(loss(model(images), classes))
    found = gradients_of(model)
    model.zero_grad(set_to_none=True)
    return found


def assert_equal(got: Gradients, expected: Gradients, *, within: float = 1e-5) -> None:
    """Relative L2 of each tensor; the same ones have none."""
    assert got.keys() == expected.keys()
    for name, wanted in expected.items():
        have = got[name]
        assert (have is None) == (wanted is None), name
        if have is not None and wanted is not None:
            assert wanted.norm() > 0, name
            apart = float((have - wanted).norm() / wanted.norm())
            assert apart <= within, f"{name}: {apart}"
