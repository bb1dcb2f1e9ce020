"""The way in to the engine: opened late, on a worker, and by one thread for all."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from app.bridge.errors import words
from app.bridge.host import EngineHost
from engine.errors import LibraryInUseError
from engine.jobs import Cancelled, Ticket
from engine.requests import (
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

logger = logging.getLogger(__name__)


class Engine(Protocol):
    """What the window needs of `engine.service.Engine`."""

    def warm(self, request: WarmRequest, ticket: Ticket) -> EngineStatus: ...
    def index(self, request: IndexRequest, ticket: Ticket) -> IndexReport: ...
    def search(self, request: SearchRequest, ticket: Ticket) -> SearchAnswer: ...
    def more(self, request: MoreHitsRequest, ticket: Ticket) -> HitPage: ...
    def export(self, request: ExportRequest, ticket: Ticket) -> ExportReport: ...
    def focus(self, request: FocusRequest, ticket: Ticket) -> FocusAnswer: ...
    def preview(self, request: PreviewRequest, ticket: Ticket) -> Preview: ...
    def thumbnail(self, request: ThumbnailRequest, ticket: Ticket) -> Thumbnail: ...
    def photos(self, request: PhotosRequest, ticket: Ticket) -> PhotoPage: ...
    def overview(self, request: OverviewRequest, ticket: Ticket) -> LibraryOverview: ...
    def close(self) -> None: ...


class OpenEngine(Protocol):
    """Opens a library; `engine.service.Engine.open`."""

    def __call__(self, library: Path, *, writable: bool) -> Engine: ...


def open_engine(library: Path, *, writable: bool) -> Engine:
    """Open the real engine. On a worker: only here is anything of it loaded."""
    from engine.service import Engine as RealEngine

    return RealEngine.open(library, writable=writable)


class _Held:
    """An open engine and how many calls are inside."""

    def __init__(self, engine: Engine, *, writable: bool) -> None:
        self.engine = engine
        self.writable = writable
        self.users = 0
        self._closed = False

    def close(self) -> None:
        """Close the engine, once."""
        if not self._closed:
            self._closed = True
            self.engine.close()


class EngineDoor:
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
                held.close()

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
            old.close()

    def close(self) -> None:
        """Close the engine. No call may come after."""
        with self._lock:
            self._closed = True
            held, self._held = self._held, None
        if held is not None:
            held.close()

    def _open(self) -> _Held:
        try:
            return _Held(self._open_engine(self._library, writable=True), writable=True)
        except LibraryInUseError as error:
            logger.info("reading only: %s", error)
            held = _Held(self._open_engine(self._library, writable=False), writable=False)
            self._host.notify(words(error))
            return held
