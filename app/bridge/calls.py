"""The engine as the window sees it: one method per job, each returning a `Job` at once.

The engine is opened by the first call, on that call's worker, so that the window is up before
anything is loaded. A library that another process writes is opened for reading, and the window is
told; the next `index` tries again to become the writer.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from app.bridge.door import Engine, EngineDoor, OpenEngine
from app.bridge.door import open_engine as open_real_engine
from app.bridge.host import EngineHost, Job
from app.bridge.images import image_from_jpeg, image_from_pixels
from app.bridge.lanes import Lane
from engine.jobs import Ticket
from engine.requests import (
    ExportRequest,
    FocusRequest,
    IndexRequest,
    MoreHitsRequest,
    OverviewRequest,
    PhotosRequest,
    PreviewRequest,
    SearchRequest,
    ThumbnailRequest,
    WarmRequest,
)

logger = logging.getLogger(__name__)

_SEARCH = "search"
_FOCUS = "focus"
_MORE = "more"


class EngineCalls:
    """Every method returns a `Job`; what its ``succeeded`` carries stands in its first line."""

    def __init__(
        self, host: EngineHost, library: Path, *, open_engine: OpenEngine | None = None
    ) -> None:
        self._host = host
        self._library = library
        self._door = EngineDoor(library, host, open_engine or open_real_engine)

    @property
    def host(self) -> EngineHost:
        """Runs the jobs; its ``noticed`` tells what belongs to no job."""
        return self._host

    @property
    def library(self) -> Path:
        """The library's data folder."""
        return self._library

    def warm(self, request: WarmRequest | None = None) -> Job:
        """`EngineStatus`, once the network is loaded and the index open."""
        asked = request or WarmRequest()
        return self._submit(lambda e, t: e.warm(asked, t), Lane.INTERACTIVE)

    def index(self, request: IndexRequest) -> Job:
        """`IndexReport`. Takes minutes to hours; further ones wait their turn."""

        def call(ticket: Ticket) -> object:
            self._door.reopen_for_writing()
            with self._door.engine(ticket) as engine:
                return engine.index(request, ticket)

        return self._host.submit(call, lane=Lane.BATCH)

    def search(self, request: SearchRequest) -> Job:
        """`SearchAnswer`. Cancels the searches before it, with their further hits and exact focus
        maps."""
        self._host.cancel_group(_FOCUS)
        self._host.cancel_group(_MORE)
        return self._submit(
            lambda e, t: e.search(request, t), Lane.INTERACTIVE, urgent=True, group=_SEARCH
        )

    def more(self, request: MoreHitsRequest) -> Job:
        """`HitPage`: further hits of a search."""
        return self._submit(lambda e, t: e.more(request, t), Lane.IO, urgent=True, group=_MORE)

    def export(self, request: ExportRequest) -> Job:
        """`ExportReport`: the hits of a search are in a file."""
        return self._submit(lambda e, t: e.export(request, t), Lane.IO, urgent=True)

    def focus(self, request: FocusRequest) -> Job:
        """`FocusAnswer`: the exact focus map of a hit."""
        job = self._submit(lambda e, t: e.focus(request, t), Lane.INTERACTIVE)
        job.group = _FOCUS  # they end together, and do not end each other
        return job

    def preview(self, request: PreviewRequest) -> Job:
        """`Preview`: pixels of a picture and its full size."""
        return self._submit(lambda e, t: e.preview(request, t), Lane.IO, urgent=True)

    def preview_image(self, request: PreviewRequest) -> Job:
        """``(QImage, Size)``: a picture as an image, and its full upright size."""

        def call(engine: Engine, ticket: Ticket) -> object:
            preview = engine.preview(request, ticket)
            return image_from_pixels(preview.pixels), preview.size

        return self._submit(call, Lane.IO, urgent=True)

    def thumbnail(self, request: ThumbnailRequest) -> Job:
        """`Thumbnail`: an encoded picture."""
        return self._submit(lambda e, t: e.thumbnail(request, t), Lane.IO)

    def thumbnail_image(self, request: ThumbnailRequest) -> Job:
        """``QImage`` of a thumbnail, decoded on the worker."""
        return self._submit(lambda e, t: image_from_jpeg(e.thumbnail(request, t).jpeg), Lane.IO)

    def photos(self, request: PhotosRequest) -> Job:
        """`PhotoPage`."""
        return self._submit(lambda e, t: e.photos(request, t), Lane.IO, urgent=True)

    def overview(self, request: OverviewRequest | None = None) -> Job:
        """`LibraryOverview`."""
        asked = request or OverviewRequest()
        return self._submit(lambda e, t: e.overview(asked, t), Lane.IO, urgent=True)

    def close(self) -> bool:
        """End all jobs, then close the engine; see `EngineHost.close`."""
        return self._host.close(last=self._door.close)

    def _submit(
        self,
        call: Callable[[Engine, Ticket], object],
        lane: Lane,
        *,
        urgent: bool = False,
        group: str | None = None,
    ) -> Job:
        def with_engine(ticket: Ticket) -> object:
            with self._door.engine(ticket) as engine:
                return call(engine, ticket)

        return self._host.submit(with_engine, lane=lane, urgent=urgent, group=group)
