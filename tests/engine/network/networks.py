"""Networks with random weights, in files, as a user brings them."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn

from engine.config import NetworkChoice
from engine.network.architectures import create
from engine.network.layers import FORWARD_FEATURES
from engine.network.zoo import architecture


def random_state(name: str, *, seed: int = 0) -> dict[str, Tensor]:
    """Named tensors that fit the network called so, without classifiers where these are large.

    Norms have statistics and scales far from 0 and 1, so that one left out is noticed.
    """
    wanted = architecture(name)
    model = create(wanted.library, wanted.backbone).model
    random = torch.Generator().manual_seed(seed)
    make: dict[str, Callable[[Tensor], Tensor]] = {
        "running_mean": lambda t: torch.randn(t.shape, generator=random) * 0.1,
        "running_var": lambda t: torch.rand(t.shape, generator=random) + 0.5,
        "bias": lambda t: torch.randn(t.shape, generator=random) * 0.1,
        "num_batches_tracked": lambda t: torch.zeros((), dtype=torch.long),
    }

    def weight(tensor: Tensor) -> Tensor:
        if tensor.ndim == 1:  # of a norm
            return torch.rand(tensor.shape, generator=random) + 0.5
        spread: float = (2 / tensor[0].numel()) ** 0.5
        return torch.randn(tensor.shape, generator=random) * spread

    state: dict[str, Tensor] = model.state_dict()
    return {
        key: make.get(key.rpartition(".")[2], weight)(tensor)
        for key, tensor in state.items()
        if not key.startswith(("classifier.", "fc.", "aux"))
    }


def with_random_weights(name: str, folder: Path, *, layer: str | None = None) -> NetworkChoice:
    """The choice of a network whose file of weights lies in ``folder``."""
    path = folder / f"{name.replace(':', '-')}.pth"
    if not path.exists():
        torch.save(random_state(name), path)
    return NetworkChoice(name, path, layer)


def plain_map(name: str, weights: Path, layer: str, images: Tensor) -> Tensor:
    """The layer's output as the library itself computes it: whole network, nothing rebuilt."""
    wanted = architecture(name)
    model = create(wanted.library, wanted.backbone).model
    if wanted.library == "torchvision":
        model = model.to_empty(device="cpu")
    state = torch.load(weights, weights_only=True)
    assert not model.load_state_dict(state, strict=False).unexpected_keys
    seen: list[Tensor] = []

    def keep(_module: nn.Module, _inputs: object, output: Tensor) -> None:
        seen.append(output.clone())

    with torch.inference_mode():
        if layer == FORWARD_FEATURES:
            seen.append(cast(Callable[[Tensor], Tensor], model.forward_features)(images))
        else:
            model.get_submodule(layer).register_forward_hook(keep)
            model(images)
    return seen[0]
