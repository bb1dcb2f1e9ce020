"""What a network is, as data: enough to know it, to show it, and to tell its numbers apart."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from engine.config import FeatureSettings
from engine.errors import NetworkError

# Raise it whenever a change of the code changes a stored number: another reduction of photos,
# another geometry of regions. Vectors made before are then known to be of another network.
_NUMBERS_VERSION = 1


ASSETS = "assets"
"""In the place of a package: Refocal's own folder of networks."""


@dataclass(frozen=True, slots=True)
class WeightsSource:
    """Where the weights come from, and the SHA-256 of the file.

    ``file`` lies in the installed ``package``; where that is None it is a file of the user's, by
    its absolute path, and where it is `ASSETS`, in the folder of networks that come with Refocal.
    """

    package: str | None
    file: str
    sha256: str

    @property
    def foreign(self) -> bool:
        """Whether its tensors have the names of another library, in the same order."""
        return self.package not in (None, ASSETS)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One figure, with everything that it depends on said in ``settings``."""

    dataset: str
    settings: str
    map: float


@dataclass(frozen=True, slots=True)
class NetworkManifest:
    """One network with its preprocessing, its pooling and where it comes from.

    ``backbone`` is the name of the architecture in ``library`` ("timm" or "torchvision") and
    ``layer`` the place whose output is the feature map (see engine.network.layers): ``dim``
    channels, one cell for ``stride`` × ``stride`` pixels. A side of n ≥ ``smallest_px`` pixels
    has (n + ``offset``) // ``stride`` cells: networks differ in whether the last pixels, too few
    for a stride, get a cell. ``mean`` and ``std`` of red, green, blue on the scale 0..255: the
    network sees (x - mean) / std.
    ``pooling`` is "gem": generalised mean with exponent ``gem_p`` over values of at least
    ``gem_eps`` (Revaud et al. 2019, section 3.1), then L2. What follows is the head
    (engine.features.head), in files beside the weights: ``linear`` and ``whitening`` are their
    SHA-256, None where there is none; ``unit_first``: whether the L2 comes before the linear layer
    too; ``length``: of what it gives, None = ``dim``. ``origin``: where an imported or trained
    network comes from, for people. ``known_output``: what the test picture gives on a CPU that is
    right (engine.network.registry.fingerprint), or () where only the machine's own CPU can tell.
    """

    name: str
    backbone: str
    layer: str
    dim: int
    stride: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    pooling: str
    gem_p: float
    gem_eps: float
    whitening: str | None
    licence: str
    weights: WeightsSource
    known_output: tuple[float, ...]
    measured: tuple[Measurement, ...]
    offset: int
    smallest_px: int
    library: str = "timm"
    linear: str | None = None
    unit_first: bool = True
    length: int | None = None
    origin: str = ""

    @property
    def descriptor_dim(self) -> int:
        """D, the length of descriptors and of region vectors."""
        return self.length or self.dim

    @property
    def headed(self) -> bool:
        """Whether more than L2 follows the pooling."""
        return self.linear is not None or self.whitening is not None

    def cells(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of the feature map of a photo of this many pixels, at least
        ``smallest_px`` each way."""
        return (height + self.offset) // self.stride, (width + self.offset) // self.stride

    def to_json(self) -> str:
        """The manifest as JSON text."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "NetworkManifest":
        """The manifest that `to_json` wrote.

        Raises:
            NetworkError: the text is no manifest.
        """
        try:
            data: dict[str, Any] = json.loads(text)
            data["weights"] = WeightsSource(**data["weights"])
            data["measured"] = tuple(Measurement(**one) for one in data["measured"])
            for name in ("mean", "std", "known_output"):
                data[name] = tuple(float(value) for value in data[name])
            return cls(**data)
        except (ValueError, TypeError, KeyError) as error:
            raise NetworkError(f"this is no manifest of a network: {error}") from error


# What says about a network without changing its numbers, or follows from what does.
_SAYS_ONLY = {
    "name",
    "licence",
    "known_output",
    "measured",
    "offset",
    "smallest_px",
    "length",
    "origin",
}
# Left out while it has the value that it had when there was no other: keys of then still hold.
_ONCE_THE_ONLY = {"library": "timm", "linear": None, "unit_first": True}
_NOTHING = object()
_LONGEST_NAME = 80


def network_key(manifest: NetworkManifest, features: FeatureSettings) -> str:
    """A short stable name for the numbers that this network stores under these settings.

    Vectors of two different keys must never be compared. Fit for a file name.
    """
    numbers = {
        field.name: getattr(manifest, field.name)
        for field in fields(manifest)
        if field.name not in _SAYS_ONLY | {"weights"}
        and getattr(manifest, field.name) != _ONCE_THE_ONLY.get(field.name, _NOTHING)
    }
    facts = {
        "version": _NUMBERS_VERSION,
        "weights": manifest.weights.sha256,
        "network": numbers,
        "features": features.facts(),
    }
    text = json.dumps(facts, sort_keys=True)
    name = re.sub(r"[^A-Za-z0-9._-]", "-", manifest.name)[:_LONGEST_NAME]
    return f"{name}-{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"
