"""What can be asked of networks and their training, and the answers: as `engine.requests`."""

from dataclasses import dataclass, field
from pathlib import Path

from engine.config import NetworkChoice, TrainSettings
from engine.types import Failure


@dataclass(frozen=True, slots=True)
class NetworksRequest:
    """List the networks that there are."""


@dataclass(frozen=True, slots=True)
class NetworkFigure:
    """``map``: mean average precision on ``dataset``, with all that it depends on said in
    ``settings``."""

    dataset: str
    settings: str
    map: float


@dataclass(frozen=True, slots=True)
class NetworkInfo:
    """``shipped``: it comes with Refocal; else the library keeps it. ``active``: the library is in
    use with it. ``dim``: the length of a descriptor; ``linear``, ``whitened``: what follows the
    pooling. ``origin``: where it came from, one line."""

    id: str
    shipped: bool
    active: bool
    size_bytes: int
    backbone: str
    layer: str
    dim: int
    linear: bool
    whitened: bool
    licence: str
    origin: str
    measured: tuple[NetworkFigure, ...]


@dataclass(frozen=True, slots=True)
class NetworkList:
    """The shipped networks first, then those that the library keeps."""

    networks: tuple[NetworkInfo, ...]


@dataclass(frozen=True, slots=True)
class ImportNetworkRequest:
    """Take the network in a file. ``name``: its id; None: out of the file's name. ``network``:
    which it is, for a file that does not say (see `engine.config.NetworkChoice`). ``licence``:
    None: as it is known."""

    path: Path
    name: str | None = None
    network: str | None = None
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class ExportNetworkRequest:
    """Write a network that the library keeps to a zip archive."""

    network: str
    target: Path


@dataclass(frozen=True, slots=True)
class ExportNetworkReport:
    """What was written, and how large it is."""

    network: str
    target: Path
    size_bytes: int


@dataclass(frozen=True, slots=True)
class UseNetworkRequest:
    """Index and search with this network from now on."""

    network: str


@dataclass(frozen=True, slots=True)
class UseNetworkReport:
    """``seen``: how many of the library's ``photos`` it has seen already."""

    network: str
    photos: int
    seen: int


@dataclass(frozen=True, slots=True)
class WhitenNetworkRequest:
    """Keep a copy of a network with a whitening that photos teach. ``name``: its id. ``folder``:
    whose photos; None: those of the library. ``exponent``: 0.5 ordinary, 0.25 "square-root", 0
    rotation alone (Revaud et al. 2019, section 4.2). ``dim``: axes that are kept, None: all."""

    network: str
    name: str
    folder: Path | None = None
    exponent: float = 0.25
    dim: int | None = None

    @property
    def learned_from(self) -> str:
        """What teaches it, for people."""
        return (
            "the library's photos" if self.folder is None else f"the photos of {self.folder.name}"
        )


@dataclass(frozen=True, slots=True)
class RemoveNetworkRequest:
    """Remove a network that the library keeps."""

    network: str


@dataclass(frozen=True, slots=True)
class RemoveNetworkReport:
    """What is gone, and how much room that made."""

    network: str
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """Train a network on a labelled folder: its sub-folders are classes, or its gt.json says which
    photos belong together. ``name``: the id that the library keeps it by. ``network``: what to
    begin with; None: what the library is in use with. ``licence``: of the result, as far as its
    photos decide it. ``each_photo``: every photo is a class of its own."""

    folder: Path
    name: str
    settings: TrainSettings = field(default_factory=TrainSettings)
    network: NetworkChoice | None = None
    licence: str | None = None
    each_photo: bool = False


@dataclass(frozen=True, slots=True)
class TrainReport:
    """How a training went. ``photos`` and ``classes`` were learned from, ``held_out`` photos judged
    it: ``map_before`` and ``map_after``, 0…1, None where no class was held out. ``best_step``:
    whose weights were kept, 0: those of the start. ``failures``: photos that were left out.
    ``folder``: where the network lies, with its curve."""

    network: str
    photos: int
    classes: int
    held_out: int
    steps: int
    best_step: int
    map_before: float | None
    map_after: float | None
    device: str
    seconds: float
    failures: tuple[Failure, ...]
    folder: Path
