"""Answers as text for people, as JSON for programs, and focus maps as PNG files."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from engine.exporting import hit_object
from engine.requests import (
    DoctorReport,
    EvaluateReport,
    IndexReport,
    ProtocolFigures,
    SearchAnswer,
)
from engine.store.paths import spelled
from engine.types import Box, Failure, FocusMap, Hit, Size

_PNG_SIDE_PX = 2048


@dataclass(frozen=True, slots=True)
class FocusFile:
    """A focus map that was written, and the box that it finds."""

    path: Path
    box: Box | None


def index_report(report: IndexReport, *, as_json: bool) -> None:
    """What an indexing run did."""
    if as_json:
        _object(
            {
                **asdict(report),
                "failures": _failures(report.failures),
                "skipped": _failures(report.skipped),
            }
        )
        return
    print(
        f"{report.indexed:,} indexed, {report.unchanged:,} unchanged, {report.failed:,} failed, "
        f"{report.offline:,} offline · {report.found:,} photos in {report.seconds:.1f} s"
    )
    for title, failures in (("failed", report.failures), ("skipped", report.skipped)):
        for failure in failures:
            print(f"  {title}: {spelled(failure.path)}: {failure.reason}")
    for note in report.notes:
        print(f"  {note}")


def search_answer(
    answer: SearchAnswer,
    maps: Mapping[int, FocusFile],
    *,
    as_json: bool,
    exported: Path | None = None,
) -> None:
    """``maps``: the focus map of a photo id, where one was written; its box is the finer one.
    ``exported``: the file that the hits were written to; they are not listed once more then."""
    if as_json:
        _object(
            {
                "query": {
                    "photo": str(answer.query.path),
                    "box": _box(answer.box),
                    "size": [answer.query_size.w, answer.query_size.h],
                },
                "network": answer.network,
                "method": answer.method,
                "total": answer.total,
                "cutoff": asdict(answer.cutoff) if answer.cutoff else None,
                "hits": [_hit(hit, maps.get(hit.photo.id)) for hit in answer.hits],
                "timings_ms": {k: round(v, 2) for k, v in asdict(answer.timings_ms).items()},
            }
        )
        return
    if exported is None:
        for place, hit in enumerate(answer.hits, start=1):
            box = f"  box {hit.box}" if hit.box else ""
            print(f"{place:4d}  {hit.score:.3f}  {spelled(hit.photo.path)}{box}")
    if answer.cutoff is not None and not answer.cutoff.good:
        print("no good match: these photos only come nearest")
    where = f" written to {spelled(exported)}" if exported else ""
    took = f"{answer.timings_ms.total:.0f} ms, method {answer.method}"
    print(f"{len(answer.hits):,} hits of {answer.total:,}{where} in {took}")


def evaluate_report(report: EvaluateReport, *, as_json: bool) -> None:
    """The figures of an evaluation, with everything they depend on."""
    if as_json:
        _object(asdict(report))
        return
    among = f", {report.distractors:,} distractors" if report.distractors else ""
    print(f"{report.dataset}: {report.queries:,} queries{among}")
    rows: list[tuple[str, float | None]] = [
        ("mAP", report.map),
        ("mAP, global descriptor alone", report.map_global),
        ("N-S score", report.ns_score),
        *((f"recall at {k}", value) for k, value in report.recall_at.items()),
        ("pointing", report.pointing),
        ("pointing by chance", report.pointing_chance),
        ("focus IoU", report.focus_iou),
        *(
            (f"{part}, {name}", value)
            for part, figures in report.protocols.items()
            for name, value in _protocol_rows(figures)
        ),
    ]
    for name, value in rows:
        if value is not None:
            print(f"  {name:30s} {value:.4f}")
    print("  " + ", ".join(f"{name} {ms:.1f} ms" for name, ms in report.timings_ms.items()))
    print("  " + ", ".join(f"{name} {value}" for name, value in report.settings.items()))


def _protocol_rows(figures: ProtocolFigures) -> list[tuple[str, float]]:
    precisions = figures.mean_precision_at.items()
    return [("mAP", figures.map), *((f"mP@{k}", value) for k, value in precisions)]


def doctor_report(report: DoctorReport, *, as_json: bool) -> None:
    """What is wrong with a library, and the facts for a bug report."""
    if as_json:
        _object(asdict(report))
        return
    for name, value in report.facts.items():
        print(f"{name:18s} {value}")
    for problem in report.problems:
        print(f"problem: {problem}")
    if not report.problems:
        print("nothing wrong")


def write_focus(focus: FocusMap, size: Size, target: Path) -> None:
    """Write a focus map as an 8-bit grey PNG in the shape of the upright photo (0 = ignored,
    255 = matched), at the photo's size or with a longest side of 2048 pixels."""
    factor = min(1.0, _PNG_SIDE_PX / max(size.w, size.h))
    shape = (max(1, round(size.w * factor)), max(1, round(size.h * factor)))
    grey = Image.fromarray(np.rint(focus.values * 255).astype(np.uint8))
    target.parent.mkdir(parents=True, exist_ok=True)
    grey.resize(shape, Image.Resampling.BICUBIC).save(target)


def _hit(hit: Hit, focus: FocusFile | None) -> dict[str, object]:
    if focus is None:
        return hit_object(hit, box=hit.box, focus=None)
    return hit_object(hit, box=focus.box, focus=focus.path)


def _box(box: Box | None) -> list[float] | None:
    return [round(number, 1) for number in box.xywh] if box else None


def _failures(failures: Iterable[Failure]) -> list[dict[str, str]]:
    return [{"path": str(failure.path), "reason": failure.reason} for failure in failures]


def _object(values: Mapping[str, object]) -> None:
    print(json.dumps(values))
