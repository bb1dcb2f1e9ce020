"""What the search job works with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from engine.config import FeatureSettings
from engine.features.head import Head
from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto
from engine.media.pool import DecodeTask
from engine.network.manifest import NetworkManifest
from engine.retrieval.snapshot import Snapshot
from engine.searching.asked import AskedQueries
from engine.store.database import Database
from engine.types import FloatArray, PixelArray


class QueryNetwork(Protocol):
    """A loaded network; engine.network.network.Network is one."""

    @property
    def manifest(self) -> NetworkManifest: ...

    @property
    def centre(self) -> FloatArray | None:
        """(D,) the mean of usual regions, if it is known."""

    @property
    def head(self) -> Head | None:
        """What follows the pooling of a region; None: nothing but L2."""

    def look(self, image: PixelArray, levels: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """(D,) the descriptor of an upright picture (H, W, 3) uint8, and (P, D) its squares of
        these levels, or the whole of it; rows of unit length."""

    def feature_map(self, image: PixelArray) -> FloatArray:
        """(C, h, w) float32."""


class Decoder(Protocol):
    """Decodes one picture elsewhere; engine.media.pool.DecodePool is one."""

    def decode(self, task: DecodeTask, ticket: Ticket | None = None) -> DecodedPhoto: ...


@dataclass(frozen=True, slots=True)
class SearchParts:
    """``network`` loads on the first call. ``snapshot`` gives the newest photos that it knows."""

    database: Database
    features: FeatureSettings
    network: Callable[[], QueryNetwork]
    pool: Decoder
    snapshot: Callable[[Ticket], Snapshot]
    asked: AskedQueries
