"""The network as training sees it: pixels in, descriptors out, with a gradient.

Revaud et al. 2019, section 3.1: backbone → GeM with a learned exponent → (linear layer) → L2.
Imports torch and timm.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.errors import NetworkError
from engine.network.backbone import build
from engine.network.layers import FeatureMap, part, without_values
from engine.network.manifest import NetworkManifest

BatchNorm: Final = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)

_PROBE_PX: Final = 512


@dataclass(frozen=True, slots=True, eq=False)
class TrainedWeights:
    """What a training leaves, as copies on the CPU.

    ``backbone``: tensors by the names that the backbone's library gives them, as far as the
    layer; a file of them is one of weights for `engine.network`, whose manifest then takes
    ``gem_p``. ``linear``: (out, C) and ``bias`` (out,), or None without such a layer.
    """

    backbone: dict[str, Tensor]
    gem_p: float
    linear: Tensor | None
    bias: Tensor | None


class TrainableNetwork(nn.Module):
    """(n, 3, H, W) pixels as the manifest normalises them in, (n, C) rows of unit length out.

    Batch norms are frozen, as exact three-stage back-propagation demands and as is the practice in
    retrieval: `train` leaves them in evaluation, so that no statistics change; their scales and
    shifts stay as they are too, unless ``train_norms``. GeM and what follows it are computed in
    the precision of the weights, also under autocast.

    Args:
        features: gives feature maps (n, C, h, w), and its parameters are the backbone's.
        gem_p: the exponent to begin with.
        gem_eps: feature values below it count as it.
        linear: follows GeM, (C,) → (out,); None: nothing does.
        train_norms: whether scales and shifts of batch norms are trained.
    """

    def __init__(
        self,
        features: nn.Module,
        *,
        gem_p: float = 3.0,
        gem_eps: float = 1e-6,
        linear: nn.Linear | None = None,
        train_norms: bool = False,
    ) -> None:
        super().__init__()
        self.features = features
        self.gem_p = nn.Parameter(torch.tensor([gem_p]))
        self.linear = linear
        self._eps = gem_eps
        self._train_norms = train_norms
        self.train_from(0.0)
        self.train()

    def forward(self, images: Tensor) -> Tensor:
        maps = self.features(images)
        # Powers and means of half-precision values would lose what the gradient of p lives on.
        with torch.autocast(maps.device.type, enabled=False):
            pooled = learned_gem(maps.to(self.gem_p.dtype), self.gem_p, eps=self._eps)
            if self.linear is not None:
                pooled = self.linear(pooled)
            return functional.normalize(pooled, dim=-1)

    def train(self, mode: bool = True) -> "TrainableNetwork":
        """As torch's, but batch norms stay in evaluation."""
        super().train(mode)
        for module in self.modules():
            if isinstance(module, BatchNorm):
                module.eval()
        return self

    def train_from(self, start: str | float) -> None:
        """Freeze the backbone's first layers; only the rest of it, GeM's exponent and the linear
        layer are trained. A pass builds no graph for frozen layers and keeps nothing of them.

        Args:
            start: the first layer that is trained, by its name in the backbone (a block counts
                from its first layer on), or which share 0..1 of the layers with weights is frozen,
                in the order in which a pass enters them: 0 none, 1 the whole backbone.

        Raises:
            NetworkError: there is no such layer, or no pass enters it.
            ValueError: the share is not in 0..1.
        """
        order = self._layers_in_order()
        first = self._first(order, start) if isinstance(start, str) else _share(order, start)
        frozen = set(order[:first])
        for name, module in self.features.named_modules():
            norm = isinstance(module, BatchNorm) and not self._train_norms
            for parameter in module.parameters(recurse=False):
                parameter.requires_grad_(not norm and name not in frozen)

    def parameter_groups(
        self, *, lr: float, p_lr: float, weight_decay: float
    ) -> list[dict[str, Any]]:
        """What is trained, for a torch optimiser: GeM's exponent has its own rate and no decay."""
        weights = [
            parameter
            for parameter in self.parameters()
            if parameter.requires_grad and parameter is not self.gem_p
        ]
        groups: list[dict[str, Any]] = [
            {"params": weights, "lr": lr, "weight_decay": weight_decay},
            {"params": [self.gem_p], "lr": p_lr, "weight_decay": 0.0},
        ]
        return groups if weights else groups[1:]

    def trained_weights(self) -> TrainedWeights:
        """The weights as they are now."""
        bare = self.features.model if isinstance(self.features, FeatureMap) else self.features
        linear = self.linear
        return TrainedWeights(
            backbone={name: _kept(value) for name, value in bare.state_dict().items()},
            gem_p=float(self.gem_p.detach()),
            linear=None if linear is None else _kept(linear.weight),
            bias=None if linear is None or linear.bias is None else _kept(linear.bias),
        )

    def _layers_in_order(self) -> list[str]:
        """Names within `features` of the modules with weights of their own, as a pass enters them.

        What no pass enters as a module (weights used by hand) comes first: nothing is known of it.
        """
        shapes = without_values(self.features).float().eval()
        entered: dict[str, None] = {}
        for name, module in shapes.named_modules():
            module.register_forward_pre_hook(
                lambda _module, _inputs, name=name: entered.setdefault(name)
            )
        with torch.no_grad():
            shapes(torch.empty(1, 3, _PROBE_PX, _PROBE_PX, device="meta"))
        with_weights = [
            name
            for name, module in self.features.named_modules()
            if next(module.parameters(recurse=False), None) is not None
        ]
        unseen = [name for name in with_weights if name not in entered]
        return unseen + [name for name in entered if name in with_weights]

    def _first(self, order: list[str], layer: str) -> int:
        prefix = ""
        model = self.features
        if isinstance(model, FeatureMap):
            model, prefix = model.model, "model."
        part(model, layer)
        name = prefix + layer
        for index, one in enumerate(order):
            if one == name or one.startswith(f"{name}."):
                return index
        raise NetworkError(f"{layer!r} has no weights in a pass of the network")


def learned_gem(maps: Tensor, p: Tensor, *, eps: float) -> Tensor:
    """Generalised means of whole feature maps: ((1/|X_c|) Σ_x max(x, eps)^p)^(1/p), before L2
    (Revaud et al. 2019, section 3.1; Radenović et al. 2018, equation 3).

    By logarithms: eps^p, and x^p of a large x, leave float32 from p = 7 on, and the gradient with
    them.

    Args:
        maps: (n, C, h, w).
        p: (1,) not 0.

    Returns:
        (n, C).
    """
    logs = maps.clamp(min=eps).flatten(2).log()
    means = (p * logs).logsumexp(dim=-1) - math.log(logs.shape[-1])
    return (means / p).exp()


def trainable(
    manifest: NetworkManifest,
    weights: Path,
    *,
    linear: nn.Linear | None = None,
    train_norms: bool = False,
) -> TrainableNetwork:
    """The network of a manifest, with its weights from a file, ready to be trained on the CPU.

    Raises:
        NetworkError: the file does not fit the architecture, or there is no such layer.
    """
    features = build(manifest, weights)
    for value in (*features.parameters(), *features.buffers()):
        # The file may be mapped: what is trained must not hang on it.
        value.data = value.detach().clone()
    return TrainableNetwork(
        features,
        gem_p=manifest.gem_p,
        gem_eps=manifest.gem_eps,
        linear=linear,
        train_norms=train_norms,
    )


def _share(order: list[str], share: float) -> int:
    if not 0 <= share <= 1:
        raise ValueError(f"a share of the layers lies in 0..1, not {share}")
    return round(share * len(order))


def _kept(value: Tensor) -> Tensor:
    return value.detach().cpu().clone(memory_format=torch.contiguous_format)
