"""The engine as one object: open a library, ask, close. The one lazy door to the heavy rooms.

A method takes a request and a ticket and returns an answer, on the caller's thread; any number of
threads may be inside. What must not run twice at once (indexing) waits for its turn.
"""

import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from engine import networks
from engine.catalogue import photos as catalogue
from engine.config import FeatureSettings, IndexSettings, NetworkChoice
from engine.errors import LibraryError, PhotoMissingError
from engine.exporting import export
from engine.features.codes import codec_for
from engine.indexing.job import index
from engine.indexing.parts import IndexParts
from engine.jobs import Ticket
from engine.media.pool import DecodeTask
from engine.media.thumbnails import ThumbnailCache
from engine.network.kept import as_kept_now
from engine.network.manifest import NetworkManifest, network_key
from engine.network.registry import DEFAULT, current
from engine.network_requests import (
    ExportNetworkReport,
    ExportNetworkRequest,
    ImportNetworkRequest,
    NetworkInfo,
    NetworkList,
    NetworksRequest,
    RemoveNetworkReport,
    RemoveNetworkRequest,
    TrainReport,
    TrainRequest,
    UseNetworkReport,
    UseNetworkRequest,
    WhitenNetworkRequest,
)
from engine.requests import (
    DoctorReport,
    DoctorRequest,
    EngineStatus,
    ExportReport,
    ExportRequest,
    FocusAnswer,
    FocusRequest,
    HitPage,
    IndexReport,
    IndexRequest,
    LibraryOverview,
    MoreHitsRequest,
    OverviewRequest,
    PhotoPage,
    PhotosRequest,
    Preview,
    PreviewRequest,
    SearchAnswer,
    SearchRequest,
    Thumbnail,
    ThumbnailRequest,
    WarmRequest,
)
from engine.runtime import Runtime, Use
from engine.searching.asked import AskedQueries
from engine.store.database import Database
from engine.store.lock import WriterLock
from engine.store.networks import NetworkRecord, activate, active_network
from engine.store.paths import LibraryPaths, default_library
from engine.store.table import recover
from engine.store.vectors import VectorStore
from engine.training.torchrun import is_first
from engine.types import Picture

if TYPE_CHECKING:
    from engine.retrieval.collection import Collection
    from engine.searching.parts import SearchParts

__all__ = ["Engine", "default_library"]


class Engine:
    """One open library. Close it, or use it as a context manager."""

    def __init__(
        self,
        paths: LibraryPaths,
        database: Database,
        lock: WriterLock | None,
        runtime: Runtime,
        network: NetworkChoice | None,
    ) -> None:
        """Not for callers: see `open`."""
        self._paths = paths
        self._database = database
        self._lock = lock
        self._runtime = runtime
        self._network = network
        self._thumbnails = ThumbnailCache(
            paths.thumbnails, limit_bytes=runtime.decode.thumbnail_cache_bytes
        )
        self._indexing = threading.Lock()
        self._opening = threading.Lock()
        self._collections: dict[str, Collection] = {}
        self._asked = AskedQueries()

    @classmethod
    def open(
        cls,
        library: Path,
        *,
        writable: bool = True,
        runtime: Runtime | None = None,
        network: NetworkChoice | None = None,
    ) -> "Engine":
        """Open the library in this folder; a writable one is made where there is none.

        Fast: no network is loaded. ``runtime`` is taken over and closed with the engine.
        ``network``: None for the one that the library is in use with.

        Raises:
            LibraryInUseError: another process writes it (only if ``writable``).
            LibraryError: it is damaged, of a newer Refocal, or its disk cannot be used.
        """
        paths = LibraryPaths(library)
        lock = WriterLock(paths.lock) if writable else None
        if lock is not None:
            lock.acquire()
        try:
            database = Database.open(paths, writable=writable)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return cls(paths, database, lock, runtime or Runtime(), network)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End processes and let the library go. No thread may be inside any more."""
        self._runtime.close()
        for collection in self._collections.values():
            collection.close()
        self._database.close()
        if self._lock is not None:
            self._lock.release()

    # --- jobs -------------------------------------------------------------------------------

    def warm(self, request: WarmRequest, ticket: Ticket) -> EngineStatus:
        """Load what the first search needs, and say what was found.

        Raises:
            NetworkError: the network's weights are missing or damaged.
        """
        return self.status(self._features(None), ticket)

    def status(self, features: FeatureSettings, ticket: Ticket | None = None) -> EngineStatus:
        """Load the network for these features, open their index, and say what was found."""
        ticket = ticket or Ticket()
        ticket.update("loading the network", 0, 0)
        network = self._runtime.network(features, self._known())
        ticket.update("opening the index", 0, 0)
        snapshot = self._collection(features).snapshot(ticket)
        return EngineStatus(
            network=network.manifest.name,
            device=network.device.kind,
            device_reason=network.device.reason,
            index=snapshot.index.kind,
            index_reason=snapshot.index_reason,
            photos=len(snapshot),
        )

    def index(self, request: IndexRequest, ticket: Ticket) -> IndexReport:
        """Add folders and index what is new; see `engine.indexing.job.index`.

        Searches that name no size use this one's from now on.
        """
        self._demand_writable()
        features, known = self._features(request.features), self._known()
        with self._indexing:
            collection = self._collection(features)
            parts = IndexParts(
                database=self._database,
                vectors=collection.vectors,
                codec=collection.codec,
                network=collection.record,
                extractor=lambda: self._runtime.network(features, known),
                pool=self._runtime.pool(Use.WORK),
                thumbnails=self._thumbnails,
                settings=IndexSettings(),
                size_px=features.size_px,
                thumbnail_px=self._runtime.decode.thumbnail_px,
                publish=collection.publish,
            )
            report = index(request, ticket, parts=parts)
            activate(self._database, collection.record.key)
            return report

    def search(self, request: SearchRequest, ticket: Ticket) -> SearchAnswer:
        """Find every photo that has the thing; see `engine.searching.job.search`."""
        from engine.searching.job import search

        return search(request, ticket, parts=self._search_parts(self._features(request.features)))

    def more(self, request: MoreHitsRequest, ticket: Ticket) -> HitPage:
        """More hits of an earlier search; see `engine.searching.job.more`."""
        from engine.searching.job import more

        return more(request, ticket, parts=self._search_parts(self._asked_features(request.token)))

    def export(self, request: ExportRequest, ticket: Ticket) -> ExportReport:
        """Write hits to a file, page by page; see `engine.exporting.export`."""
        return export(
            request,
            ticket,
            page=lambda offset, limit: self.more(
                MoreHitsRequest(request.token, offset, limit), ticket
            ),
        )

    def focus(self, request: FocusRequest, ticket: Ticket) -> FocusAnswer:
        """Where the match of one photo sits; see `engine.searching.focus.focus`."""
        from engine.searching.focus import focus

        return focus(request, ticket, parts=self._search_parts(self._asked_features(request.token)))

    def preview(self, request: PreviewRequest, ticket: Ticket) -> Preview:
        """Pixels of any picture, in the library or not.

        Raises:
            PhotoError: it cannot be shown.
        """
        ticket.check()
        task = DecodeTask(
            key=0, picture=request.picture, max_side_px=request.max_side_px, thumbnail_px=None
        )
        photo = self._runtime.pool(Use.WORK).decode(task, ticket)
        return Preview(photo.pixels, photo.facts.size)

    def thumbnail(self, request: ThumbnailRequest, ticket: Ticket) -> Thumbnail:
        """The thumbnail of a photo of the library; made anew where the cache has none.

        Raises:
            PhotoError: it cannot be read, or the library has no such photo.
        """
        ticket.check()
        identity = catalogue.identity_of(self._database, request.photo_id)
        kept = self._thumbnails.get(identity) if identity else None
        if kept is not None:
            return Thumbnail(request.photo_id, kept)
        photo = catalogue.by_ids(self._database, [request.photo_id]).get(request.photo_id)
        if photo is None:
            raise PhotoMissingError("the library has this photo no more")
        side = self._runtime.decode.thumbnail_px
        task = DecodeTask(key=0, picture=Picture(photo.path), max_side_px=side, thumbnail_px=side)
        decoded = self._runtime.pool(Use.THUMBNAILS).decode(task, ticket)
        jpeg = decoded.thumbnail or b""
        if decoded.identity is not None and self._lock is not None:
            self._thumbnails.put(decoded.identity, jpeg)
        return Thumbnail(request.photo_id, jpeg)

    def photos(self, request: PhotosRequest, ticket: Ticket) -> PhotoPage:
        """A page of the library."""
        ticket.check()
        return catalogue.page(self._database, request)

    def overview(self, request: OverviewRequest, ticket: Ticket) -> LibraryOverview:
        """Folders and counts."""
        ticket.check()
        return catalogue.overview(self._database)

    def doctor(self, request: DoctorRequest, ticket: Ticket) -> DoctorReport:
        """Look the library over; see `engine.doctor.examine`."""
        from engine.doctor import examine

        return examine(self._database, self._paths, self._runtime, ticket)

    # --- networks ---------------------------------------------------------------------------

    def networks(self, request: NetworksRequest, ticket: Ticket) -> NetworkList:
        """The networks that there are; see `engine.networks.listed`."""
        ticket.check()
        return networks.listed(self._paths.networks, self._database)

    def import_network(self, request: ImportNetworkRequest, ticket: Ticket) -> NetworkInfo:
        """Take a network out of a file into the library; see `engine.networks.bring`."""
        self._demand_writable()
        folder = self._paths.networks
        return networks.bring(request, ticket, folder=folder, database=self._database)

    def whiten_network(self, request: WhitenNetworkRequest, ticket: Ticket) -> NetworkInfo:
        """Give a copy of a network a whitening; see `engine.whitened`."""
        self._demand_writable()
        self._runtime.preload(ticket)
        from engine.whitened import bare, rows_of_folder, rows_of_library, whiten

        folder, features = self._paths.networks, self._features(None)
        known = bare(networks.known_by(folder, request.network))
        if request.folder is None:
            snapshot = self._collection(features, known).snapshot(ticket)
            rows = rows_of_library(snapshot, ticket)
        else:
            network = self._runtime.network(features, known)
            rows = rows_of_folder(request.folder, network, features, self._runtime, ticket)
        kept = whiten(request, rows, known, networks=folder)
        return networks.described(kept, folder, self._database)

    def export_network(self, request: ExportNetworkRequest, ticket: Ticket) -> ExportNetworkReport:
        """Write a network to a file; see `engine.networks.export`."""
        return networks.export(request, ticket, folder=self._paths.networks)

    def use_network(self, request: UseNetworkRequest, ticket: Ticket) -> UseNetworkReport:
        """Index and search with this network from now on; see `engine.networks.use`."""
        self._demand_writable()
        return networks.use(
            request,
            ticket,
            folder=self._paths.networks,
            database=self._database,
            features=self._features(None),
        )

    def remove_network(self, request: RemoveNetworkRequest, ticket: Ticket) -> RemoveNetworkReport:
        """Remove a network that was imported or trained; see `engine.networks.remove`."""
        self._demand_writable()
        folder = self._paths.networks
        return networks.remove(request, ticket, folder=folder, database=self._database)

    def train(self, request: TrainRequest, ticket: Ticket) -> TrainReport:
        """Train a network on a labelled folder; see `engine.training.job.train`. Of the processes
        that torchrun starts only the first one writes."""
        if is_first():
            self._demand_writable()
        self._runtime.preload(ticket)
        from engine.teaching import train

        choice = request.network
        start = self._known() if choice is None else self._runtime.manifest(choice)
        return train(request, ticket, start=start, runtime=self._runtime, paths=self._paths)

    def photo_id(self, path: Path) -> int | None:
        """The photo that was last seen at this place, if the library has one."""
        return catalogue.by_path(self._database, path)

    # --- wiring -----------------------------------------------------------------------------

    def _demand_writable(self) -> None:
        if self._lock is None:
            raise LibraryError("this library was opened for reading only")

    def _features(self, asked: FeatureSettings | None) -> FeatureSettings:
        """What was asked for, or else the settings that the library is in use with."""
        if asked is not None:
            return asked
        active = active_network(self._database)
        return FeatureSettings.from_json(active.settings) if active else FeatureSettings()

    def _asked_features(self, token: str) -> FeatureSettings:
        """Those of an earlier search: its query must not meet other numbers."""
        return self._asked.recall(token).features

    def _known(self) -> NetworkManifest:
        """The network that was asked for, or else the one that the library is in use with."""
        if self._network is not None:
            return self._runtime.manifest(self._network)
        active = active_network(self._database)
        if active is None:
            return self._runtime.manifest(NetworkChoice(DEFAULT))
        remembered = current(NetworkManifest.from_json(active.manifest))
        return as_kept_now(self._paths.networks, remembered)

    def _collection(
        self, features: FeatureSettings, known: NetworkManifest | None = None
    ) -> "Collection":
        from engine.retrieval.collection import Collection

        features.validate()
        known = known or self._known()
        key = network_key(known, features)
        with self._opening:
            if key not in self._collections:
                writable = self._lock is not None
                codec = codec_for(features.codec, known.descriptor_dim)
                vectors = VectorStore.open(
                    self._paths.vectors(key),
                    dim=known.descriptor_dim,
                    region_bytes=codec.width,
                    writable=writable,
                )
                if writable:
                    recover(self._database, vectors, key)
                self._collections[key] = Collection(
                    self._database,
                    NetworkRecord(key, known.to_json(), features.to_json()),
                    vectors,
                    codec=codec,
                    index_cache=self._paths.index(key),
                )
            return self._collections[key]

    def _search_parts(self, features: FeatureSettings) -> "SearchParts":
        from engine.searching.parts import SearchParts

        known = self._known()
        return SearchParts(
            database=self._database,
            features=features,
            network=lambda: self._runtime.network(features, known),
            pool=self._runtime.pool(Use.WORK),
            snapshot=self._collection(features).snapshot,
            asked=self._asked,
        )
