"""The indexing job: from folders to committed vectors, resumable anywhere.

Scan, then for every photo that this network has not seen: decode in another process, one pass,
append to the vector files, flush, and only then one transaction that says so. Whatever ends the
job leaves committed photos whole and the others as if they had never been begun.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from engine.catalogue import identify, roots
from engine.catalogue.scan import ScanReport, scan
from engine.catalogue.work import Work, needs_work, needs_work_count, tally
from engine.errors import PhotoError, PhotoMissingError
from engine.indexing.commit import Commit
from engine.indexing.parts import IndexParts
from engine.indexing.passes import Passes
from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto
from engine.media.pool import DecodeOutcome, DecodeTask
from engine.requests import IndexReport, IndexRequest
from engine.store.networks import register
from engine.store.table import recover
from engine.types import Failure, Picture

# A file that changes or moves away under way is taken up again at the end, this often.
_ROUNDS = 3


def index(request: IndexRequest, ticket: Ticket, *, parts: IndexParts) -> IndexReport:
    """Add the request's folders (none: take all of the library) and index what is new in them.

    Only for the process that holds the writer lock. A cancelled job keeps what it has done.
    ``request.size_px`` is for whoever chooses the parts.

    Raises:
        FolderError: a new folder is missing, is none, or may not be read.
        LibraryError: the library's disk is full or failed; the last consistent state is kept.
        Cancelled: somebody asked for the end.
    """
    started = time.monotonic()
    register(parts.database, parts.network)
    lost = recover(parts.database, parts.vectors, parts.network.key)
    scanned = scan(parts.database, request.folders, ticket)
    run = _Run(parts, scanned, ticket)
    run.all_rounds(retry_failed=request.retry_failed)
    found = tally(parts.database, parts.network.key, scanned.scopes)
    return IndexReport(
        found=scanned.found,
        indexed=run.commit.indexed,
        unchanged=max(found.ready - run.commit.indexed, 0),
        failed=len(found.failures),
        offline=found.offline,
        passes=run.passes.count,
        seconds=time.monotonic() - started,
        failures=found.failures,
        skipped=scanned.skipped + run.left_over(),
        notes=_lost_note(lost) + run.passes.notes,
        copies=found.copies,
    )


class _Run:
    """One run over everything that needs work in the scanned scopes."""

    def __init__(self, parts: IndexParts, scanned: ScanReport, ticket: Ticket) -> None:
        self.commit = Commit(parts)
        self.passes = Passes(parts.extractor)
        self._parts = parts
        self._scopes = scanned.scopes
        self._ticket = ticket
        self._under_way: dict[int, Work] = {}
        self._decoded: list[tuple[Work, DecodedPhoto]] = []
        self._done = 0
        self._total = 0
        self._again = False
        self._lost_roots: list[Path] = []

    def all_rounds(self, *, retry_failed: bool) -> None:
        for number in range(_ROUNDS):
            self._again = False
            self._round(retry_failed=retry_failed and number == 0)
            if not self._again:
                break
        self.commit.publish()

    def left_over(self) -> tuple[Failure, ...]:
        """Folders and files that went away or changed under way; nothing else is wrong with
        them."""
        for root in {scope.root for scope in self._scopes}:
            self._check_root(root)
        gone = "the folder went offline while it was read; it is taken up next time"
        changed = "the file changed or went away while it was read; it is taken up next time"
        unread = identify.unread_paths(self._parts.database, self._scopes)
        return (
            *(Failure(root, gone) for root in self._lost_roots),
            *(Failure(path, changed) for path in unread),
        )

    def _round(self, *, retry_failed: bool) -> None:
        tasks = self._tasks(retry_failed=retry_failed)
        first = next(tasks, None)
        if first is None:
            return
        try:
            with closing(self._parts.pool.run(chain([first], tasks), self._ticket)) as outcomes:
                for outcome in outcomes:
                    self._take(outcome)
            self._pass()
        finally:
            # Also on cancel or failure: what the network has seen need not be seen again.
            self._commit()

    def _tasks(self, *, retry_failed: bool) -> Iterator[DecodeTask]:
        database, key = self._parts.database, self._parts.network.key
        self._total = (
            self._done
            + needs_work_count(database, key, scopes=self._scopes, retry_failed=retry_failed)
            + identify.unread_count(database, self._scopes)
        )
        for work in needs_work(database, key, scopes=self._scopes, retry_failed=retry_failed):
            yield self._task(work)
        for batch in identify.identify(database, self._scopes, self._ticket):
            new = [
                work
                for work in needs_work(
                    database,
                    key,
                    scopes=self._scopes,
                    retry_failed=retry_failed,
                    among=batch.photo_ids,
                )
                if work.photo_id not in self._under_way
            ]
            self._done += batch.files - len(new)
            self._ticket.update("indexing", self._done, self._total)
            for work in new:
                yield self._task(work)

    def _task(self, work: Work) -> DecodeTask:
        self._under_way[work.photo_id] = work
        return DecodeTask(
            key=work.photo_id,
            picture=Picture(path=work.path),
            max_side_px=self._parts.size_px,
            thumbnail_px=self._parts.thumbnail_px,
        )

    def _take(self, outcome: DecodeOutcome) -> None:
        work = self._under_way[outcome.task.key]
        if outcome.photo is None:
            self._take_error(work, outcome.error)
        elif outcome.photo.identity != work.identity:
            identify.mark_unread(self._parts.database, work.photo_id, work.path)
            self._drop(work)
        else:
            self._decoded.append((work, outcome.photo))
        self._done += 1
        self._ticket.update("indexing", self._done, self._total)
        if len(self._decoded) >= self._parts.settings.hand_over:
            self._pass()
        if len(self.commit) >= self._parts.settings.commit_every:
            self._commit()

    def _take_error(self, work: Work, error: PhotoError | None) -> None:
        if not self._check_root(work.root):
            self._drop(work)
        elif isinstance(error, PhotoMissingError):
            identify.mark_missing(self._parts.database, work.photo_id, work.path)
            self._drop(work)
        else:
            self.commit.add_failure(work, error.reason if error else "it was not decoded")

    def _check_root(self, root: Path) -> bool:
        """Whether the folder can still be reached; one that went away is offline from now on."""
        if roots.reachable(root):
            return True
        if roots.mark_offline(self._parts.database, root):
            self._lost_roots.append(root)
        return False

    def _drop(self, work: Work) -> None:
        del self._under_way[work.photo_id]
        self._again = True

    def _pass(self) -> None:
        decoded, self._decoded = self._decoded, []
        features = self.passes.extract([photo.pixels for _, photo in decoded])
        for (work, photo), seen in zip(decoded, features, strict=True):
            if isinstance(seen, str):
                self.commit.add_failure(work, seen)
            else:
                self.commit.add(work, photo, seen)

    def _commit(self) -> None:
        for photo_id in self.commit.keep():
            del self._under_way[photo_id]


def _lost_note(lost: int) -> tuple[str, ...]:
    if not lost:
        return ()
    what = "1 photo" if lost == 1 else f"{lost} photos"
    return (f"The vector files had lost the end that holds {what}; all were indexed again.",)
