"""Hits as a file for other programs: a table, JSON, or a list of paths.

A file is written under a temporary name beside its place and renamed when it is whole, so that what
stood there before is kept until then. All three kinds are UTF-8; a file name that is no valid text
keeps its bytes.
"""

import contextlib
import csv
import errno
import json
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TextIO

from engine.errors import ExportError
from engine.jobs import Ticket
from engine.requests import ExportReport, ExportRequest, HitPage
from engine.store.paths import spelled
from engine.types import Box, Hit

PAGE_HITS = 5000
"""Many, because each page is ranked anew."""
_COLUMNS = ("path", "score", "global_score", "x", "y", "w", "h", "id", "taken")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_LINE_ENDS = "\n\r"


class ExportForm(StrEnum):
    """The kinds of file, by their suffix."""

    CSV = ".csv"
    """A header and a row for each hit: see `csv_row`."""
    JSON = ".json"
    """``{"hits": [...]}``, each as in ``refocal search --json``: see `hit_object`."""
    PATHS = ".txt"
    """A path on each line."""


def form_of(target: Path) -> ExportForm:
    """What a file's suffix asks for.

    Raises:
        ExportError: it is none of `ExportForm`.
    """
    try:
        return ExportForm(target.suffix.lower())
    except ValueError:
        kinds = ", ".join(ExportForm)
        reason = f"hits are written to a file that ends in {kinds}, not {spelled(target)}"
        raise ExportError(reason) from None


def export(
    request: ExportRequest, ticket: Ticket, *, page: Callable[[int, int], HitPage]
) -> ExportReport:
    """Write the hits of a search that reach the request's score, best first.

    Args:
        page: the hits from an offset on, at most so many; see `engine.requests.HitPage`.

    Raises:
        ExportError: the file's suffix is unknown, or it cannot be written. What stood in its
            place is untouched.
        SettingsError: the search was forgotten.
        Cancelled: somebody asked for the end; nothing is written.
    """
    hits = reaching(_all_hits(page, ticket), request.min_score)
    return ExportReport(request.target, write_hits(hits, request.target))


def reaching(hits: Iterable[Hit], min_score: float | None) -> Iterator[Hit]:
    """The hits of at least this score, in their order; None: all."""
    return (hit for hit in hits if min_score is None or hit.score >= min_score)


def write_hits(hits: Iterable[Hit], target: Path) -> int:
    """Write hits to a file in the form of its suffix; how many there were.

    Raises:
        ExportError: as in `export`.
    """
    write = {
        ExportForm.CSV: _write_csv,
        ExportForm.JSON: _write_json,
        ExportForm.PATHS: _write_paths,
    }[form_of(target)]
    counted = _Counted(hits)
    try:
        with _replacing(target) as file:
            write(counted, file)
    except OSError as error:
        raise _refusal(error, target) from error
    return counted.count


def hit_object(hit: Hit, *, box: Box | None, focus: Path | None) -> dict[str, object]:
    """A hit for JSON. ``box``: the found part, x, y, w, h in pixels of the upright photo;
    ``focus``: the file of its focus map, if there is one."""
    return {
        "photo": str(hit.photo.path),
        "score": round(hit.score, 6),
        "global_score": round(hit.global_score, 6),
        "box": [round(number, 1) for number in box.xywh] if box else None,
        "focus": str(focus) if focus else None,
    }


def csv_row(hit: Hit) -> list[str]:
    """A hit's cells: path, score, global_score, x, y, w, h, id, taken. Empty: not known.

    A spreadsheet takes a text that begins with =, +, - or @ for a formula and runs it; an
    apostrophe before it makes it a text. Paths are absolute and never begin so by themselves.
    """
    box = [f"{number:.1f}" for number in hit.box.xywh] if hit.box else [""] * 4
    return [
        _as_text(str(hit.photo.path)),
        f"{hit.score:.6f}",
        f"{hit.global_score:.6f}",
        *box,
        str(hit.photo.id),
        _as_text(hit.photo.taken or ""),
    ]


def _as_text(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell


def _write_csv(hits: Iterable[Hit], file: TextIO) -> None:
    table = csv.writer(file)
    table.writerow(_COLUMNS)
    table.writerows(csv_row(hit) for hit in hits)


def _write_json(hits: Iterable[Hit], file: TextIO) -> None:
    # By hand round the hits, so that a library's worth of them need not be in memory at once.
    file.write('{"hits": [')
    before = "\n"
    for hit in hits:
        file.write(before + json.dumps(hit_object(hit, box=hit.box, focus=None)))
        before = ",\n"
    file.write("\n]}\n")


def _write_paths(hits: Iterable[Hit], file: TextIO) -> None:
    for hit in hits:
        path = str(hit.photo.path)
        if any(end in path for end in _LINE_ENDS):
            reason = (
                f"{spelled(hit.photo.path)} has a line break in its name and does not fit a list "
                f"of lines; choose {ExportForm.CSV} or {ExportForm.JSON}"
            )
            raise ExportError(reason)
        file.write(path + "\n")


def _all_hits(page: Callable[[int, int], HitPage], ticket: Ticket) -> Iterator[Hit]:
    """Every hit once, though a page may overlap the one before where photos went away."""
    seen: set[int] = set()
    offset, total = 0, 1
    while offset < total:
        ticket.update("exporting", offset, total if offset else 0)
        got = page(offset, PAGE_HITS)
        if not got.hits:
            return
        for hit in got.hits:
            if hit.photo.id not in seen:
                seen.add(hit.photo.id)
                yield hit
        offset, total = offset + len(got.hits), got.total


class _Counted:
    """Counts what is taken out of it."""

    def __init__(self, hits: Iterable[Hit]) -> None:
        self.count = 0
        self._hits = hits

    def __iter__(self) -> Iterator[Hit]:
        for hit in self._hits:
            self.count += 1
            yield hit


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[TextIO]:
    """A text file that takes the place of ``target`` (or of what a link there leads to) once it is
    whole and on the disk, and goes if it never is."""
    place = Path(os.path.realpath(target))
    part = place.with_name(f".refocal-{uuid.uuid4().hex[:12]}.part")
    # Names that are no valid text are written as the bytes that the system gave us.
    odd = sys.getfilesystemencodeerrors()
    try:
        with part.open("x", encoding="utf-8", errors=odd, newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _refusal(error: OSError, target: Path) -> ExportError:
    name, folder = spelled(target), spelled(target.absolute().parent)
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            reason = f"{name} cannot be written: the disk is full"
        case errno.ENOENT | errno.ENOTDIR:
            reason = f"{name} cannot be written: there is no folder {folder}"
        case errno.EISDIR:
            reason = f"{name} is a folder"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            reason = f"{name} cannot be written: there is no permission"
        case _:
            reason = f"{name} cannot be written: {(error.strerror or str(error)).lower()}"
    return ExportError(reason)
