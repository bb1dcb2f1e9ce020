"""Manifests of networks that are not shipped: found out by looking. Imports torch."""

import dataclasses
from pathlib import Path

from engine.config import NetworkChoice
from engine.errors import NetworkError
from engine.network.architectures import create
from engine.network.layers import FORWARD_FEATURES, survey
from engine.network.manifest import NetworkManifest, WeightsSource
from engine.network.registry import sha256_of
from engine.network.zoo import Architecture, architecture, where_to_get


def with_weights(choice: NetworkChoice) -> NetworkManifest:
    """The manifest of a network whose weights lie in a file of the user's.

    Pooling is GeM with p = 3, as for the shipped network.

    Raises:
        NetworkError: see `engine.network.registry.manifest_of`.
    """
    wanted = architecture(choice.name)
    known = without_weights(wanted, layer=choice.layer)
    if choice.weights is None:
        raise NetworkError(f"{choice.name} needs '--weights FILE'; {where_to_get(wanted)}")
    path = Path(choice.weights).absolute()
    source = WeightsSource(package=None, file=str(path), sha256=sha256_of(path))
    return dataclasses.replace(known, weights=source)


def without_weights(wanted: Architecture, *, layer: str | None = None) -> NetworkManifest:
    """The manifest of a network that has no weights yet.

    Args:
        layer: whose output is the feature map; None: the architecture's.

    Raises:
        NetworkError: the library has no such network, or it has no such layer.
    """
    bare = create(wanted.library, wanted.backbone)
    layer = layer or wanted.layer or FORWARD_FEATURES
    return NetworkManifest(
        name=wanted.name,
        library=wanted.library,
        backbone=wanted.backbone,
        layer=layer,
        **dataclasses.asdict(survey(bare.model, layer)),
        mean=bare.mean,
        std=bare.std,
        pooling="gem",
        gem_p=3.0,
        gem_eps=1e-6,
        whitening=None,
        licence="that of the file of weights",
        weights=WeightsSource(package=None, file="", sha256=""),
        known_output=(),
        measured=(),
    )


def at_layer(shipped: NetworkManifest, layer: str) -> NetworkManifest:
    """A shipped network as far as another layer.

    Raises:
        NetworkError: there is no such layer, or it gives no feature map.
    """
    if layer == shipped.layer:
        return shipped
    shape = survey(create(shipped.library, shipped.backbone).model, layer)
    return dataclasses.replace(
        shipped, layer=layer, **dataclasses.asdict(shape), known_output=(), measured=()
    )
