"""Checkpoints as others release them, with random weights, in exactly their formats."""

import sys
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.engine.network.networks import random_state

CHANNELS = 2048
DIM = 24
"""Of the linear layer: the released ones have 2048, which only makes files larger."""
GEM_P = 2.6


_PCA: type = type("PCA", (), {"__module__": "sklearn.decomposition.pca"})


@contextmanager
def old_scikit_learn() -> Iterator[type]:
    """The class PCA under the module path of scikit-learn 0.20, while it is written."""
    path, made = _PCA.__module__, _PCA
    module = ModuleType(path)
    setattr(module, made.__name__, made)
    before = sys.modules.get(path)
    sys.modules[path] = module
    try:
        yield made
    finally:
        del sys.modules[path]
        if before is not None:
            sys.modules[path] = before


def fitted_pca(made: type, dim: int, kept: int, *, whiten: bool = True) -> object:
    """A PCA with the attributes that scikit-learn 0.20.2 pickles."""
    random = np.random.default_rng(3)
    axes = np.linalg.qr(random.normal(size=(dim, kept)))[0].T
    variances = np.sort(random.uniform(1e-4, 1e-2, kept))[::-1]
    pca: Any = made()
    pca.__dict__.update(
        n_components=None,
        copy=True,
        whiten=whiten,
        svd_solver="full",
        tol=0.0,
        iterated_power="auto",
        random_state=None,
        mean_=random.normal(0, 0.05, dim).astype(np.float32),
        noise_variance_=np.float64(0.0),
        n_samples_=1000,
        n_features_=dim,
        components_=axes.astype(np.float32),
        n_components_=kept,
        explained_variance_=variances.astype(np.float32),
        explained_variance_ratio_=(variances / variances.sum()).astype(np.float32),
        singular_values_=np.sqrt(variances * 999).astype(np.float32),
        _sklearn_version="0.20.2",
    )
    return pca


def backbone(name: str = "resnet50") -> dict[str, Tensor]:
    """Random weights of half the size: float16."""
    return {
        key: value.half()
        for key, value in random_state(name).items()
        if not key.endswith("num_batches_tracked")
    }


def linear(dim_out: int = DIM, dim_in: int = CHANNELS) -> tuple[Tensor, Tensor]:
    """Weight and bias of a linear layer; the bias is large enough to be missed."""
    random = torch.Generator().manual_seed(7)
    weight = torch.randn(dim_out, dim_in, generator=random) * 0.02
    return weight, torch.randn(dim_out, generator=random) * 0.3


def ap_gem_state(prefix: str = "module.") -> "OrderedDict[str, Tensor]":
    """Names as in the released files."""
    weight, bias = linear()
    state = OrderedDict(backbone())
    state["adpool.p"] = torch.full((1,), GEM_P)
    state["fc.weight"], state["fc.bias"] = weight, bias
    return OrderedDict((prefix + name, value) for name, value in state.items())


def save_ap_gem(
    path: Path,
    *,
    state: Mapping[str, Tensor],
    options: Mapping[str, object] | None = None,
    pca: "bool | dict[str, object]" = True,
    legacy: bool = True,
    **others: object,
) -> None:
    """A file as `Resnet-101-AP-GeM.pt` is one, of a ResNet-50."""
    about = {
        "arch": "resnet50_rmac",
        "out_dim": DIM,
        "pooling": "gem",
        "gemp": 3,
        "norm_features": False,
        "without_fc": False,
        "dropout_p": None,
    }
    content: dict[str, object] = {
        "state_dict": state,
        "model_options": about | dict(options or {}),
        **others,
    }
    with old_scikit_learn() as made:
        if pca is True:
            pca = {"Landmarks_clean": fitted_pca(made, DIM, DIM - 4)}
        if pca:
            content["pca"] = pca
        torch.save(content, path, _use_new_zipfile_serialization=not legacy)


def plain_head(
    pooled: Tensor, *, norm_features: bool, with_fc: bool = True, whiten: bool = True
) -> Tensor:
    """What Revaud et al.'s code makes of (R, C) pooled values, written out once more in double
    precision."""
    x = pooled.double()
    if norm_features:
        x = functional.normalize(x)
    if with_fc:
        weight, bias = linear()
        x = x @ weight.double().T + bias.double()
    x = functional.normalize(x)
    if not whiten:
        return x
    with old_scikit_learn() as made:
        pca: Any = fitted_pca(made, DIM, DIM - 4)
    components, mean = torch.tensor(pca.components_), torch.tensor(pca.mean_)
    variances = torch.tensor(pca.explained_variance_).double()
    x = (x - mean.double()) @ components.double().T / variances**0.25
    return functional.normalize(x)


def plain_gem(feature_map: Tensor, p: float = GEM_P) -> Tensor:
    """(C, h, w) → (1, C), not of unit length."""
    powers = feature_map.double().clamp(min=1e-6) ** p
    return functional.adaptive_avg_pool2d(powers, 1).flatten()[None] ** (1 / p)


def filled_resnet() -> nn.Module:
    """torchvision's own ResNet-50 with the weights of `backbone`."""
    import torchvision

    model: nn.Module = torchvision.models.resnet50(weights=None)
    model.load_state_dict({k: v.float() for k, v in backbone().items()}, strict=False)
    return model.eval()
