"""One pass of the network for each photo and crop; what comes of them is kept on disk."""

import hashlib
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.comparing.kept import Arrays, KeptArrays
from engine.config import FeatureSettings
from engine.errors import PhotoUnreadableError
from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto
from engine.media.identity import identity
from engine.media.pool import DecodeOutcome, DecodeTask
from engine.network.manifest import NetworkManifest, network_key
from engine.searching.query import View, decode_query, query_pixels
from engine.types import Box, Failure, FloatArray, Picture, PixelArray, Size

_log = logging.getLogger(__name__)

HalfArray = NDArray[np.float16]

_VERSION = 1
"""Raise it whenever something that is kept would come out otherwise."""


class Maps(Protocol):
    """A loaded network; `engine.network.network.Network` is one."""

    def feature_map(self, image: PixelArray) -> FloatArray:
        """(C, h, w) float32 of (H, W, 3) uint8."""


class Decoder(Protocol):
    """Decodes files elsewhere; `engine.media.pool.DecodePool` is one."""

    def run(
        self, tasks: Iterable[DecodeTask], ticket: Ticket
    ) -> Generator[DecodeOutcome, None, None]:
        """The outcome of each task, in their order."""

    def decode(self, task: DecodeTask, ticket: Ticket | None = None) -> DecodedPhoto:
        """One picture now."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where feature maps come from. ``load`` is called once, and only if a map is missing."""

    manifest: NetworkManifest
    features: FeatureSettings
    load: Callable[[], Maps]

    @property
    def key(self) -> str:
        """Names the numbers, for files."""
        return f"{network_key(self.manifest, self.features)}-{_VERSION}"

    @property
    def map_bytes(self) -> int:
        """What the map of a square photo takes as float16; of others it is less."""
        cells = -(-self.features.size_px // self.manifest.stride)
        return 2 * self.manifest.dim * cells**2


@dataclass(frozen=True, slots=True)
class Content:
    """A photo that was read, or a crop of one. ``size``: of the upright photo in pixels."""

    name: str
    path: Path
    size: Size


class Extraction:
    """Feature maps of photos and crops, and what is derived from them, each computed once.

    Names are those of contents, so that two sets, or two runs, share what they have in common.
    Photos are read as indexing reads them and crops as searching does.
    """

    def __init__(
        self,
        source: Source,
        kept: KeptArrays,
        *,
        pool: Decoder,
        thumbnail_px: int,
        ticket: Ticket,
    ) -> None:
        """``thumbnail_px``: as in indexing, because it has a say in how a photo is reduced."""
        self.source = source
        self.ticket = ticket
        self.passes = 0
        self._kept = kept
        self._pool = pool
        self._thumbnail_px = thumbnail_px
        self._network: Maps | None = None

    def photos(self, paths: Sequence[Path]) -> tuple[dict[Path, Content], list[Failure]]:
        """Sees to it that every photo has its map; files of one content share it.

        Returns:
            The content of each file, and the files that have none with the reason.

        Raises:
            SettingsError: the maps need more room than there is.
        """
        names, failures = _identities(paths)
        missing = {name: path for path, name in names.items() if self._name(name) not in self._kept}
        self._kept.make_room(len(missing) * self.source.map_bytes, of="feature maps")
        reasons = dict(self._pass_all(missing))
        found = {}
        for path, name in names.items():
            held = None if name in reasons else self._kept.get(self._name(name))
            if held is None:
                failures.append(Failure(path, reasons.get(name, "it cannot be kept")))
            else:
                found[path] = Content(name, path, Size(*held["size"].tolist()))
        for failure in failures:
            _log.warning("%s: %s", failure.path.name, failure.reason)
        return found, failures

    def crop(self, photo: Content, box: Box, scale: float) -> Content:
        """A box of a photo as a query of its own; see `engine.searching.query.query_pixels`.

        Raises:
            PhotoError: it cannot be read any more.
            BoxError: the box lies outside.
        """
        place = hashlib.blake2b(f"{box} {scale:g}".encode(), digest_size=6).hexdigest()
        content = Content(f"{photo.name}-{place}", photo.path, photo.size)
        if self._name(content.name) in self._kept:
            return content
        size_px = self.source.features.size_px
        decoded = decode_query(
            Picture(photo.path),
            box,
            size_px=size_px,
            scales=(scale,),
            pool=self._pool,
            ticket=self.ticket,
        )
        inside = box.within(decoded.facts.size)
        pixels = query_pixels(decoded, inside, View(scale), size_px=size_px)
        if not self._pass(content.name, pixels, decoded.facts.size):
            raise PhotoUnreadableError("the network has no numbers for it", path=photo.path)
        return content

    def map_of(self, content: Content) -> HalfArray:
        """(C, h, w) float16.

        Raises:
            OSError: the cache lost it meanwhile.
        """
        held = self._kept.get(self._name(content.name))
        if held is None:
            raise OSError(f"the cache folder {self._kept.folder} lost a map while it was in use")
        return held["map"]

    def derived(self, content: Content, key: str, make: Callable[[HalfArray], Arrays]) -> Arrays:
        """What ``make`` makes of a map, kept under this key."""
        name = self._name(f"{content.name}.{key}")
        held = self._kept.get(name)
        if held is None:
            held = make(self.map_of(content))
            self._kept.put(name, held)
        return held

    def each(self, contents: Sequence[Content], stage: str) -> Iterator[Content]:
        """The contents one by one, with progress."""
        for done, content in enumerate(contents):
            self.ticket.update(stage, done, len(contents))
            yield content

    def _name(self, name: str) -> str:
        return f"{self.source.key}/{name}"

    def _pass_all(self, missing: dict[str, Path]) -> Iterator[tuple[str, str]]:
        """The names without a map, and why."""
        names = list(missing)
        tasks = (
            DecodeTask(
                key=number,
                picture=Picture(missing[name]),
                max_side_px=self.source.features.size_px,
                thumbnail_px=self._thumbnail_px,
            )
            for number, name in enumerate(names)
        )
        with closing(self._pool.run(tasks, self.ticket)) as outcomes:
            for done, outcome in enumerate(outcomes):
                self.ticket.update("feature maps", done, len(names))
                name, photo = names[outcome.task.key], outcome.photo
                if photo is None:
                    yield name, outcome.error.reason if outcome.error else "it was not decoded"
                elif not self._pass(name, photo.pixels, photo.facts.size):
                    yield name, "the network has no numbers for it"

    def _pass(self, name: str, pixels: PixelArray, size: Size) -> bool:
        """Keep the map of these pixels; False where it holds values that are no numbers."""
        if self._network is None:
            self._network = self.source.load()
        values = self._network.feature_map(pixels).astype(np.float16)
        self.passes += 1
        if not np.isfinite(values).all():
            return False
        self._kept.put(self._name(name), {"map": values, "size": np.array([size.w, size.h])})
        return True


def _identities(paths: Iterable[Path]) -> tuple[dict[Path, str], list[Failure]]:
    found, failures = {}, []
    for path in paths:
        try:
            found[path] = identity(path)
        except OSError as error:
            failures.append(Failure(path, (error.strerror or str(error)).lower()))
    return found, failures
