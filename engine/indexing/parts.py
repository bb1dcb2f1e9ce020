"""What the indexing job works with."""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.config import IndexSettings
from engine.features.codes import RegionCodec
from engine.jobs import Ticket
from engine.media.pool import DecodeOutcome, DecodeTask
from engine.store.database import Database
from engine.store.networks import NetworkRecord
from engine.store.vectors import VectorStore
from engine.types import FloatArray, PixelArray


class Features(Protocol):
    """What one pass tells of a photo; engine.network.network.PhotoFeatures is one.

    ``descriptor``: (D,) float32 of unit length. ``regions``: (R, D) float32, rows of unit length.
    ``boxes``: (R, 4) float32 x0, y0, x1, y1 as fractions of the upright photo.
    """

    @property
    def descriptor(self) -> FloatArray: ...

    @property
    def regions(self) -> FloatArray: ...

    @property
    def boxes(self) -> FloatArray: ...


class Extractor(Protocol):
    """A loaded network; engine.network.network.Network is one."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of how it went."""

    def extract(self, images: Sequence[PixelArray]) -> Sequence[Features]:
        """Features of photos, (H, W, 3) uint8 each, in their order."""


class Decoder(Protocol):
    """Decodes files elsewhere; engine.media.pool.DecodePool is one."""

    def run(
        self, tasks: Iterable[DecodeTask], ticket: Ticket
    ) -> Generator[DecodeOutcome, None, None]:
        """The outcome of each task, in their order; reads ahead a little, never far. Closing it
        gives up what was read ahead."""


class Thumbnails(Protocol):
    """Keeps thumbnails; engine.media.thumbnails.ThumbnailCache is one."""

    def put(self, identity: str, jpeg: bytes) -> None:
        """A cache: what cannot be kept is no error."""


@dataclass(frozen=True, slots=True)
class IndexParts:
    """``codec`` makes the bytes that ``vectors`` keep of regions.

    ``network`` names the numbers, ``extractor`` makes them: it is called once, and only when
    there is work, so that nothing heavy is loaded to find that nothing has changed.
    ``size_px``: longest side of the photos before the network. ``thumbnail_px``: of thumbnails.
    ``publish``: called when committed photos are to be shown to searches.
    """

    database: Database
    vectors: VectorStore
    codec: RegionCodec
    network: NetworkRecord
    extractor: Callable[[], Extractor]
    pool: Decoder
    thumbnails: Thumbnails
    settings: IndexSettings
    size_px: int
    thumbnail_px: int
    publish: Callable[[], None]
