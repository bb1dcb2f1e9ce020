"""A real library of painted scenes, ready to be searched."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.config import Codec, FeatureSettings, IndexSettings
from engine.features.codes import codec_for
from engine.indexing.job import index
from engine.indexing.parts import IndexParts
from engine.jobs import Ticket
from engine.media.thumbnails import ThumbnailCache
from engine.requests import IndexRequest
from engine.retrieval.collection import Collection
from engine.searching.asked import AskedQueries
from engine.searching.parts import SearchParts
from engine.store.database import Database
from engine.store.networks import NetworkRecord
from engine.store.paths import LibraryPaths
from engine.store.vectors import VectorStore
from engine.types import Box
from tests.fakes.colour_network import DIM, ColourNetwork
from tests.fakes.inline_pool import InlinePool

FEATURES = FeatureSettings(size_px=256)
SCENE_W, SCENE_H = 384, 256

RED_AND_GREEN = ((255, 0, 0), (0, 255, 0))
BLUE_AND_YELLOW = ((0, 0, 255), (255, 255, 0))
# A thing of two colours, and where it hangs in each scene.
RED_PLACES = [Box(20, 20, 96, 96), Box(240, 30, 110, 110), Box(130, 120, 128, 128)]
BLUE_PLACES = [Box(30, 110, 120, 120), Box(220, 20, 96, 96)]


def paint_scene(path: Path, *, seed: int, thing: tuple[tuple[int, int, int], ...], at: Box) -> Path:
    """A grey-brown muddle with a thing of vertical stripes in it, as a PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    muddle = np.random.default_rng(seed).integers(60, 180, (8, 12, 1)).repeat(3, axis=2)
    muddle[..., 2] //= 2
    image = Image.fromarray(muddle.astype(np.uint8)).resize((SCENE_W, SCENE_H))
    pixels = np.array(image)
    x, y, w, h = (int(number) for number in at.xywh)
    stripes = np.array(thing, dtype=np.uint8)[np.arange(w) * 4 // w % len(thing)]
    pixels[y : y + h, x : x + w] = stripes[None]
    Image.fromarray(pixels).save(path)
    return path


@dataclass
class Searchable:
    """``folder`` holds red_0 … red_2 and blue_0 … blue_1; ``collection`` what was indexed."""

    folder: Path
    database: Database
    collection: Collection
    parts: SearchParts
    index_parts: IndexParts

    def index(self) -> None:
        """Take up what is new in the folder, and show it to searches."""
        index(IndexRequest((self.folder,)), Ticket(), parts=self.index_parts)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Searchable]:
    """Nothing indexed yet, and the folder is not there either."""
    paths = LibraryPaths(tmp_path / "library")
    database = Database.open(paths, writable=True)
    record = NetworkRecord("colours", "{}", "{}")
    codec = codec_for(Codec.FLOAT16, DIM)
    vectors = VectorStore.open(
        paths.vectors(record.key), dim=DIM, region_bytes=codec.width, writable=True
    )
    collection = Collection(
        database, record, vectors, codec=codec, index_cache=paths.index(record.key)
    )
    network, pool = ColourNetwork(FEATURES), InlinePool()
    index_parts = IndexParts(
        database=database,
        vectors=vectors,
        codec=codec,
        network=record,
        extractor=lambda: network,
        pool=pool,
        thumbnails=ThumbnailCache(paths.thumbnails, 1_000_000),
        settings=IndexSettings(),
        size_px=FEATURES.size_px,
        thumbnail_px=32,
        publish=collection.publish,
    )
    parts = SearchParts(
        database=database,
        features=FEATURES,
        network=lambda: network,
        pool=pool,
        snapshot=collection.snapshot,
        asked=AskedQueries(),
    )
    yield Searchable(tmp_path / "photos", database, collection, parts, index_parts)
    collection.close()
    database.close()


@pytest.fixture
def library(empty: Searchable) -> Searchable:
    """Five scenes, indexed."""
    for number, place in enumerate(RED_PLACES):
        paint_scene(empty.folder / f"red_{number}.png", seed=number, thing=RED_AND_GREEN, at=place)
    for number, place in enumerate(BLUE_PLACES):
        paint_scene(
            empty.folder / f"blue_{number}.png", seed=9 + number, thing=BLUE_AND_YELLOW, at=place
        )
    empty.index()
    return empty
