"""Thumbnails for the models: fetched when in sight, forgotten when long unseen."""

from collections import OrderedDict
from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage, QPixmap

from app.bridge.calls import EngineCalls
from app.bridge.host import Job
from engine.requests import ThumbnailRequest

KEPT_BYTES = 192 * 1024**2
AT_ONCE = 6
"""Requests on their way. Few, so that what comes into sight next is not kept waiting."""


class Thumbnails(QObject):
    """One store for all grids. Whoever shows photos says which by `want`; those that are no longer
    wanted by anybody are not fetched, and requests for them are cancelled."""

    arrived = Signal(int)
    """The id of a photo whose thumbnail is there now, or is known to be missing."""

    def __init__(
        self, calls: EngineCalls, *, kept_bytes: int = KEPT_BYTES, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._calls = calls
        self._kept_bytes = kept_bytes
        self._pixmaps: OrderedDict[int, QPixmap] = OrderedDict()
        self._bytes = 0
        self._wanted: dict[str, tuple[int, ...]] = {}
        self._served: set[int] = set()
        self._jobs: dict[int, Job] = {}
        self._dropped: set[int] = set()
        self._stopped = False

    def get(self, photo_id: int) -> QPixmap | None:
        """The thumbnail; None while there is none, a null pixmap if there can be none."""
        pixmap = self._pixmaps.get(photo_id)
        if pixmap is not None:
            self._pixmaps.move_to_end(photo_id)
        return pixmap

    def want(self, who: str, photo_ids: Iterable[int]) -> None:
        """Fetch these, first ones first, for one of the grids, instead of what it wanted before."""
        self._wanted.pop(who, None)
        self._wanted[who] = tuple(photo_ids)
        self._served.clear()
        wanted = {photo_id for ids in self._wanted.values() for photo_id in ids}
        for photo_id, job in tuple(self._jobs.items()):
            if photo_id not in wanted:
                self._dropped.add(photo_id)
                job.cancel()
        self._fetch()

    def forget_missing(self) -> None:
        """Ask again for those that could not be had, when they are wanted."""
        for photo_id in [i for i, pixmap in self._pixmaps.items() if pixmap.isNull()]:
            self._drop(photo_id)
            self._served.discard(photo_id)

    def _fetch(self) -> None:
        if self._stopped:
            return
        for ids in reversed(self._wanted.values()):  # whoever asked last is looked at
            for photo_id in ids:
                if len(self._jobs) >= AT_ONCE:
                    return
                if not self._has(photo_id):
                    self._ask(photo_id)

    def _has(self, photo_id: int) -> bool:
        # What was served and is gone again did not fit beside the others: once is enough.
        known = (self._pixmaps, self._jobs, self._served)
        return any(photo_id in place for place in known)

    def _ask(self, photo_id: int) -> None:
        job = self._calls.thumbnail_image(ThumbnailRequest(photo_id))
        self._jobs[photo_id] = job
        job.succeeded.connect(partial(self._on_succeeded, photo_id))
        job.failed.connect(partial(self._on_failed, photo_id))
        job.cancelled.connect(partial(self._on_cancelled, photo_id))

    def _on_succeeded(self, photo_id: int, image: object) -> None:
        assert isinstance(image, QImage)
        self._keep(photo_id, QPixmap.fromImage(image))

    def _on_failed(self, photo_id: int, _words: object) -> None:
        self._keep(photo_id, QPixmap())

    def _on_cancelled(self, photo_id: int) -> None:
        self._jobs.pop(photo_id, None)
        if photo_id in self._dropped:
            self._dropped.discard(photo_id)
        else:
            # Not by us: the host is closing, and would cancel whatever is asked for now.
            self._stopped = True
        self._fetch()

    def _keep(self, photo_id: int, pixmap: QPixmap) -> None:
        self._jobs.pop(photo_id, None)
        self._drop(photo_id)
        self._served.add(photo_id)
        self._pixmaps[photo_id] = pixmap
        self._bytes += _weight(pixmap)
        while self._bytes > self._kept_bytes and len(self._pixmaps) > 1:
            self._drop(next(iter(self._pixmaps)))
        self.arrived.emit(photo_id)
        self._fetch()

    def _drop(self, photo_id: int) -> None:
        pixmap = self._pixmaps.pop(photo_id, None)
        if pixmap is not None:
            self._bytes -= _weight(pixmap)


def _weight(pixmap: QPixmap) -> int:
    return pixmap.width() * pixmap.height() * 4 + 256
