"""The engine as the window sees it: one method per job, each returning a `Job` at once.

The engine is opened by the first call, on that call's worker, so that the window is up before
anything is loaded. A library that another process writes is opened for reading, and the window is
told; the next `index` tries again to become the writer.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from app.bridge.errors import words
from app.bridge.host import EngineHost, Job
from app.bridge.images import image_from_jpeg, image_from_pixels
from app.bridge.lanes import Lane
from engine.errors import LibraryInUseError
from engine.jobs import Cancelled, Ticket
from engine.requests import (
    EngineStatus,
    FocusAnswer,
    FocusRequest,
    IndexReport,
    IndexRequest,
    LibraryOverview,
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

logger = logging.getLogger(__name__)

_SEARCH = "search"
_FOCUS = "focus"


class Engine(Protocol):
    """What the window needs of `engine.service.Engine`."""

    def warm(self, request: WarmRequest, ticket: Ticket) -> EngineStatus: ...
    def index(self, request: IndexRequest, ticket: Ticket) -> IndexReport: ...
    def search(self, request: SearchRequest, ticket: Ticket) -> SearchAnswer: ...
    def focus(self, request: FocusRequest, ticket: Ticket) -> FocusAnswer: ...
    def preview(self, request: PreviewRequest, ticket: Ticket) -> Preview: ...
    def thumbnail(self, request: ThumbnailRequest, ticket: Ticket) -> Thumbnail: ...
    def photos(self, request: PhotosRequest, ticket: Ticket) -> PhotoPage: ...
    def overview(self, request: OverviewRequest, ticket: Ticket) -> LibraryOverview: ...
    def close(self) -> None: ...


class OpenEngine(Protocol):
    """Opens a library; `engine.service.Engine.open`."""

    def __call__(self, library: Path, *, writable: bool) -> Engine: ...


class EngineCalls:
    """Every method returns a `Job`; what its ``succeeded`` carries stands in its first line."""

    def __init__(
        self, host: EngineHost, library: Path, *, open_engine: OpenEngine | None = None
    ) -> None:
        self._host = host
        self._library = library
        self._door = _Door(library, host, open_engine or _open_engine)

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
        """`SearchAnswer`. Cancels the searches before it, and their exact focus maps."""
        self._host.cancel_group(_FOCUS)
        return self._submit(
            lambda e, t: e.search(request, t), Lane.INTERACTIVE, urgent=True, group=_SEARCH
        )

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


def _open_engine(library: Path, *, writable: bool) -> Engine:
    # Here, on a worker: nothing of the engine is loaded before somebody needs it.
    from engine.service import Engine as RealEngine

    return RealEngine.open(library, writable=writable)


class _Held:
    """An open engine and how many calls are inside."""

    def __init__(self, engine: Engine, *, writable: bool) -> None:
        self.engine = engine
        self.writable = writable
        self.users = 0


class _Door:
    """Lets workers in to the engine: opens it once, swaps it, closes it when the last one left.

    Its lock is waited for by workers only, never by the window's thread.
    """

    def __init__(self, library: Path, host: EngineHost, open_engine: OpenEngine) -> None:
        self._library = library
        self._host = host
        self._open_engine = open_engine
        self._lock = threading.Lock()
        self._held: _Held | None = None
        self._closed = False

    @contextmanager
    def engine(self, ticket: Ticket) -> Iterator[Engine]:
        """The engine for one call."""
        with self._lock:
            ticket.check()
            if self._closed:
                raise Cancelled
            if self._held is None:
                self._held = self._open()
            held = self._held
            held.users += 1
        try:
            yield held.engine
        finally:
            with self._lock:
                held.users -= 1
                unused = held is not self._held and not held.users
            if unused:
                held.engine.close()

    def reopen_for_writing(self) -> None:
        """If the engine only reads, try to become the writer.

        Raises:
            LibraryInUseError: another process still writes the library.
        """
        with self._lock:
            old = self._held
            if self._closed or old is None or old.writable:
                return
            self._held = _Held(self._open_engine(self._library, writable=True), writable=True)
            unused = not old.users
        logger.info("the library can be written now")
        if unused:
            old.engine.close()

    def close(self) -> None:
        """Close the engine. No call may come after."""
        with self._lock:
            self._closed = True
            held, self._held = self._held, None
        if held is not None:
            held.engine.close()

    def _open(self) -> _Held:
        try:
            return _Held(self._open_engine(self._library, writable=True), writable=True)
        except LibraryInUseError as error:
            logger.info("reading only: %s", error)
            held = _Held(self._open_engine(self._library, writable=False), writable=False)
            self._host.notify(words(error))
            return held
