"""A real library on a real disk with a network that costs nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from engine.catalogue.photos import page
from engine.config import Codec, FeatureSettings, IndexSettings
from engine.features.codes import codec_for
from engine.indexing.job import index
from engine.indexing.parts import Decoder, Extractor, IndexParts
from engine.jobs import Ticket
from engine.media.thumbnails import ThumbnailCache
from engine.requests import IndexReport, IndexRequest, PhotosRequest
from engine.store.check import inspect
from engine.store.database import Database
from engine.store.networks import NetworkRecord
from engine.store.paths import LibraryPaths
from engine.store.vectors import VectorStore
from engine.types import Photo
from tests.fakes.fast_extractor import DIM, FastExtractor
from tests.fakes.inline_pool import InlinePool

CODEC = codec_for(Codec.FLOAT16, DIM)
FEATURES = FeatureSettings(codec=Codec.FLOAT16)
NETWORK = NetworkRecord(key="fast-1", manifest="{}", settings=FEATURES.to_json())


class SmallLibrary:
    """Opened for writing. ``loads`` counts how often the network was loaded, ``published`` how
    often searches were shown something new; ``extractor`` is the one that gets loaded."""

    def __init__(self, root: Path, *, pool: Decoder | None = None) -> None:
        self.paths = LibraryPaths(root)
        self.database = Database.open(self.paths, writable=True)
        self.vectors = VectorStore.open(
            self.paths.vectors(NETWORK.key), dim=DIM, region_bytes=CODEC.width, writable=True
        )
        self.extractor: Extractor = FastExtractor()
        self.inline_pool = InlinePool()
        self.thumbnails = ThumbnailCache(self.paths.thumbnails, 10_000_000)
        self.loads = 0
        self.published = 0
        self.parts = IndexParts(
            database=self.database,
            vectors=self.vectors,
            codec=CODEC,
            network=NETWORK,
            extractor=self._load,
            pool=pool or self.inline_pool,
            thumbnails=self.thumbnails,
            settings=IndexSettings(commit_every=4, hand_over=3, publish_every_s=0),
            size_px=64,
            thumbnail_px=32,
            publish=self._publish,
        )

    def index(
        self,
        *folders: Path,
        ticket: Ticket | None = None,
        retry_failed: bool = False,
        network: NetworkRecord = NETWORK,
    ) -> IndexReport:
        """Run the real job."""
        request = IndexRequest(folders=folders, retry_failed=retry_failed)
        parts = replace(self.parts, network=network)
        return index(request, ticket or Ticket(), parts=parts)

    def photos(self) -> tuple[Photo, ...]:
        """All photos as the window lists them."""
        return page(self.database, PhotosRequest(limit=1_000_000)).photos

    def problems(self) -> tuple[str, ...]:
        """What `inspect` finds."""
        return inspect(self.database, self.paths)

    def close(self) -> None:
        self.vectors.close()
        self.database.close()

    def _load(self) -> Extractor:
        self.loads += 1
        return self.extractor

    def _publish(self) -> None:
        self.published += 1


@contextmanager
def small_library(root: Path, *, pool: Decoder | None = None) -> Iterator[SmallLibrary]:
    """A library that is closed at the end."""
    library = SmallLibrary(root, pool=pool)
    try:
        yield library
    finally:
        library.close()
