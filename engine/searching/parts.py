"""What the search job works with, and what it remembers between a search and its focus maps."""

import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from engine.config import FeatureSettings
from engine.errors import SettingsError
from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto
from engine.media.pool import DecodeTask
from engine.network.manifest import NetworkManifest
from engine.rank.qam import Float64
from engine.retrieval.snapshot import Snapshot
from engine.store.database import Database
from engine.types import FloatArray, PixelArray

_REMEMBERED = 32


class QueryNetwork(Protocol):
    """A loaded network; engine.network.network.Network is one."""

    @property
    def manifest(self) -> NetworkManifest: ...

    def descriptor(self, image: PixelArray) -> FloatArray:
        """(D,) float32 of unit length, of an upright picture (H, W, 3) uint8."""

    def feature_map(self, image: PixelArray) -> FloatArray:
        """(C, h, w) float32."""


class Decoder(Protocol):
    """Decodes one picture elsewhere; engine.media.pool.DecodePool is one."""

    def decode(self, task: DecodeTask, ticket: Ticket | None = None) -> DecodedPhoto: ...


@dataclass(frozen=True, slots=True, eq=False)
class AskedQuery:
    """A query that was answered: ``descriptor`` (D,) of unit length, and the weights z of the
    base regions for each photo id that was re-ranked."""

    descriptor: FloatArray
    weights: Mapping[int, Float64]


class AskedQueries:
    """The newest queries by their token; the oldest is forgotten. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: OrderedDict[str, AskedQuery] = OrderedDict()

    def remember(self, query: AskedQuery) -> str:
        """Keep a query; its token."""
        token = uuid.uuid4().hex
        with self._lock:
            self._asked[token] = query
            while len(self._asked) > _REMEMBERED:
                self._asked.popitem(last=False)
        return token

    def recall(self, token: str) -> AskedQuery:
        """The query of a token.

        Raises:
            SettingsError: it was forgotten, or never asked.
        """
        with self._lock:
            try:
                return self._asked[token]
            except KeyError:
                raise SettingsError("this search is too long ago: search again") from None


@dataclass(frozen=True, slots=True)
class SearchParts:
    """``network`` loads on the first call. ``snapshot`` gives the newest photos that it knows."""

    database: Database
    features: FeatureSettings
    network: Callable[[], QueryNetwork]
    pool: Decoder
    snapshot: Callable[[Ticket], Snapshot]
    asked: AskedQueries = field(default_factory=AskedQueries)
