"""Measures what the search finds on the photo sets, against the figures that it must keep.

Run it: ``REFOCAL_PHOTOS=… python -m tests.bench.retrieval``. It indexes the sets into the cache
the first time (minutes). The last line tells how many targets were met; the exit status is 1 if
one was missed.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from engine.config import Method, SearchSettings
from engine.jobs import Ticket
from engine.measuring import evaluate
from engine.requests import EvaluateReport, EvaluateRequest


@dataclass(frozen=True)
class Target:
    """A figure of a report and the least that it must be."""

    dataset: str
    method: Method
    figure: str
    least: float


TARGETS = (
    Target("holidays", Method.GLOBAL, "map", 0.79),
    Target("cutouts", Method.GLOBAL, "map", 0.77),
    Target("cutouts", Method.QAM, "map", 0.84),
)


def main() -> int:
    """Print the table; 0 if every target was met."""
    sets = Path(os.environ["REFOCAL_PHOTOS"])
    reports: dict[tuple[str, Method], EvaluateReport] = {}
    heads = " ".join(f"{head:>6s}" for head in ("N-S", "point", "IoU", "chance"))
    print(f"{'set':10s} {'method':8s} {'mAP':>7s} {heads}")
    for target in TARGETS:
        key = (target.dataset, target.method)
        request = EvaluateRequest(
            sets / target.dataset, SearchSettings(method=target.method), exact_focus=False
        )
        reports[key] = report = evaluate(request, Ticket())
        figures = (report.ns_score, report.pointing, report.focus_iou, report.pointing_chance)
        shown = " ".join(f"{'-' if f is None else format(f, '.3f'):>6s}" for f in figures)
        print(f"{target.dataset:10s} {target.method:8s} {report.map:7.4f} {shown}", flush=True)
        print(f"  {report.settings}")
    met = [getattr(reports[t.dataset, t.method], t.figure) >= t.least for t in TARGETS]
    wanted = ", ".join(f"{t.dataset} {t.method} ≥ {t.least}" for t in TARGETS)
    print(f"targets met: {sum(met)} of {len(met)} ({wanted})")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
