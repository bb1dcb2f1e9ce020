"""Comparisons of methods as text for people or as JSON for programs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from engine.config import Expansion

if TYPE_CHECKING:  # loads scipy, which no other command waits for
    from engine.comparing.table import Claim, Row, Table


def comparison(table: "Table", *, as_json: bool) -> None:
    """The rows, under them the claims, and everything that the figures depend on."""
    if as_json:
        print(json.dumps(asdict(table)))
        return
    what = f", by {table.sweep}" if table.sweep else ""
    print(f"{table.dataset}: {table.queries:,} queries, {table.photos:,} photos{what}")
    for line in _lines(table.rows):
        print(f"  {line}")
    for reason in table.left_out:
        print(f"  left out: {reason}")
    for claim in table.claims:
        print(f"  {_said(claim)}")
    print(f"  {table.passes:,} passes, {table.failed:,} unreadable, {table.seconds:.0f} s")
    print("  " + ", ".join(f"{name} {value}" for name, value in table.settings.items()))


def _said(claim: "Claim") -> str:
    verdict = "" if claim.holds is None else f": {'yes' if claim.holds else 'no'}"
    return f"{claim.claim}{verdict} ({claim.figures})"


def _lines(rows: Sequence["Row"]) -> list[str]:
    """Columns as wide as they need; those that no row fills are left out. Expansions of a method
    are columns of its line: but for mAP and a little time they have its figures."""
    plain = [row for row in rows if row.expansion is Expansion.NONE]
    columns: list[tuple[str, Callable[[Row], str]]] = [
        ("setting", lambda row: row.setting),
        ("method", lambda row: row.method),
        ("query / photo", lambda row: row.pooling),
        ("mAP", lambda row: f"{row.map:.4f}"),
        ("+ QE", _expanded(rows, Expansion.AVERAGE)),
        ("+ αQE", _expanded(rows, Expansion.ALPHA)),
        *((name, _protocol(name)) for name in _several_protocols(rows)),
        ("N-S", lambda row: _figure(row.ns, 3)),
        ("pointing", lambda row: _figure(row.pointing, 3)),
        ("IoU", lambda row: _figure(row.iou, 3)),
        ("ms/query", lambda row: f"{row.seconds * 1000:.1f}"),
        ("bytes/photo", lambda row: f"{row.bytes_per_photo:,.0f}"),
    ]
    cells = [(title, [cell(row) for row in plain]) for title, cell in columns]
    shown = [(title, own) for title, own in cells if any(own)]
    widths = [max(len(title), *map(len, own)) for title, own in shown]
    lines = [[title for title, _ in shown], *zip(*(own for _, own in shown), strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _expanded(rows: Sequence["Row"], expansion: Expansion) -> Callable[["Row"], str]:
    known = {(row.setting, row.method): row.map for row in rows if row.expansion is expansion}
    return lambda row: _figure(known.get((row.setting, row.method)), 4)


def _several_protocols(rows: Sequence["Row"]) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row.protocols))
    return names if len(names) > 1 else []


def _protocol(name: str) -> Callable[["Row"], str]:
    return lambda row: _figure(row.protocols.get(name), 4)


def _figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
