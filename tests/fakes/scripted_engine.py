"""An engine that answers the window at once, from a script."""

import io
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from engine.errors import PhotoMissingError, RefocalError
from engine.exporting import export
from engine.jobs import Ticket
from engine.requests import (
    Cutoff,
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
    PhotoFilter,
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
from engine.types import (
    Box,
    Failure,
    FocusMap,
    Folder,
    Hit,
    Photo,
    PhotoState,
    Picture,
    SearchTimings,
    Size,
)

PHOTO_SIZE = Size(400, 300)
TOKEN = "token"
_GATE_S = 10.0


def photo(number: int, *, state: PhotoState = PhotoState.READY) -> Photo:
    """The photo with this id."""
    return Photo(number, Path(f"/album/photo_{number:06}.jpg"), state, PHOTO_SIZE)


def hit(number: int, score: float, *, state: PhotoState = PhotoState.READY) -> Hit:
    """A hit with a footprint in the middle of its photo."""
    values = np.zeros((6, 8), np.float32)
    values[2:4, 3:5] = 1
    return Hit(
        photo(number, state=state), score, score, Box(150, 100, 100, 100), FocusMap(values, False)
    )


@dataclass
class ScriptedEngine:
    """Change the fields to change the answers. ``asked`` keeps every request.

    A gate that is cleared holds the calls of its kind until it is set or the call is cancelled.
    """

    photos_: list[Photo] = field(default_factory=list)
    folders: list[Folder] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    report: IndexReport = field(default_factory=lambda: IndexReport(3, 3, 0, 0, 0, 3, 1.5))
    errors: dict[str, RefocalError] = field(default_factory=dict)
    method: str = "qam"
    cutoff: Cutoff | None = None
    writable: bool = True
    pending: int = 0
    asked: list[object] = field(default_factory=list)
    gates: dict[str, threading.Event] = field(default_factory=dict)
    _ranked: list[Hit] = field(default_factory=list)

    def hold(self, kind: str) -> threading.Event:
        """Hold the calls of a kind until the returned event is set."""
        return self.gates.setdefault(kind, threading.Event())

    def requests(self, kind: type) -> list[object]:
        """The requests of a kind, oldest first."""
        return [request for request in self.asked if isinstance(request, kind)]

    def _enter(self, kind: str, request: object, ticket: Ticket) -> None:
        self.asked.append(request)
        gate = self.gates.get(kind)
        waited = 0.0
        while gate is not None and not gate.wait(0.01):
            ticket.check()
            waited += 0.01
            if waited > _GATE_S:
                raise AssertionError(f"nobody opened the gate of {kind}")
        if kind in self.errors:
            raise self.errors[kind]

    def warm(self, request: WarmRequest, ticket: Ticket) -> EngineStatus:
        self._enter("warm", request, ticket)
        count = len(self.photos_)
        return EngineStatus("lite0", "cpu", "No GPU was found.", "exact", "a small library", count)

    def index(self, request: IndexRequest, ticket: Ticket) -> IndexReport:
        ticket.update("indexing", 1, 3)
        self._enter("index", request, ticket)
        for folder in request.folders:
            if folder not in [known.path for known in self.folders]:
                self.folders.append(Folder(len(self.folders) + 1, folder, True, 3))
                self.photos_ += [photo(len(self.photos_) + n) for n in (1, 2, 3)]
        return self.report

    def search(self, request: SearchRequest, ticket: Ticket) -> SearchAnswer:
        self._enter("search", request, ticket)
        return SearchAnswer(
            token=TOKEN,
            query=request.picture,
            query_size=PHOTO_SIZE,
            box=request.box,
            network="lite0",
            method=self.method,
            hits=tuple(self._steered(request)[: request.top]),
            timings_ms=SearchTimings(1, 2, 3, 4, 0, 10),
            total=len(self.hits),
            cutoff=self.cutoff,
        )

    def _steered(self, request: SearchRequest) -> list[Hit]:
        """The liked photos come first and the disliked ones last."""
        self._ranked = sorted(
            self.hits,
            key=lambda hit: (
                hit.photo.id not in request.liked,
                hit.photo.id in request.disliked,
            ),
        )
        return self._ranked

    def more(self, request: MoreHitsRequest, ticket: Ticket) -> HitPage:
        self._enter("more", request, ticket)
        found = self._ranked[request.offset : request.offset + request.limit]
        return HitPage(request.offset, len(self._ranked), tuple(found))

    def export(self, request: ExportRequest, ticket: Ticket) -> ExportReport:
        self._enter("export", request, ticket)

        def page(offset: int, limit: int) -> HitPage:
            found = tuple(self._ranked[offset : offset + limit])
            return HitPage(offset, len(self._ranked), found)

        return export(request, ticket, page=page)

    def focus(self, request: FocusRequest, ticket: Ticket) -> FocusAnswer:
        self._enter("focus", request, ticket)
        values = np.full((6, 8), 0.5, np.float32)
        return FocusAnswer(request.photo_id, FocusMap(values, True), Box(10, 10, 50, 50))

    def preview(self, request: PreviewRequest, ticket: Ticket) -> Preview:
        self._enter("preview", request, ticket)
        pixels = np.full((PHOTO_SIZE.h, PHOTO_SIZE.w, 3), 90, np.uint8)
        return Preview(pixels, PHOTO_SIZE)

    def thumbnail(self, request: ThumbnailRequest, ticket: Ticket) -> Thumbnail:
        self._enter("thumbnail", request, ticket)
        if request.photo_id < 0:
            raise PhotoMissingError("it is not there")
        return Thumbnail(request.photo_id, _jpeg(request.photo_id))

    def photos(self, request: PhotosRequest, ticket: Ticket) -> PhotoPage:
        self._enter("photos", request, ticket)
        rows: Sequence[Photo] = self.photos_
        if request.show is PhotoFilter.FAILED:
            rows = [
                Photo(1000 + n, one.path, PhotoState.FAILED, reason=one.reason)
                for n, one in enumerate(self.failed)
            ]
        page = tuple(rows[request.offset : request.offset + request.limit])
        return PhotoPage(request.offset, len(rows), page)

    def overview(self, request: OverviewRequest, ticket: Ticket) -> LibraryOverview:
        self._enter("overview", request, ticket)
        total, failed = len(self.photos_), len(self.failed)
        ready = total - failed - self.pending
        return LibraryOverview(tuple(self.folders), total, ready, failed, self.writable)

    def close(self) -> None:
        """Nothing is open."""


def library(count: int, *, hits: int = 0) -> ScriptedEngine:
    """An engine with a folder of ``count`` photos; ``hits`` of them answer every search."""
    return ScriptedEngine(
        photos_=list(_photos(count)),
        folders=[Folder(1, Path("/album"), True, count)],
        hits=[hit(n + 1, 0.9 - n / 1000) for n in range(hits)],
    )


def offline(one: Hit) -> Hit:
    """The same hit in a folder that is not there now."""
    return replace(one, photo=replace(one.photo, state=PhotoState.OFFLINE))


def picture() -> Picture:
    """A picture from anywhere."""
    return Picture(data=_jpeg(7))


@cache
def _photos(count: int) -> tuple[Photo, ...]:
    return tuple(photo(n + 1) for n in range(count))


def _jpeg(number: int) -> bytes:
    colour = (number * 37 % 256, number * 91 % 256, number * 53 % 256)
    written = io.BytesIO()
    Image.new("RGB", (32, 24), colour).save(written, "JPEG")
    return written.getvalue()
