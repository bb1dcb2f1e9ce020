"""The table: rows of figures, and what they say of the papers' claims."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.config import Expansion

EQUALLY_GOOD = 0.01
"""mAP within this is as good."""


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one method, in [0, 1] but ``ns`` in [0, 4]; None where the set has none.

    ``aggregation`` makes the list that ``reranking`` ("" for none) re-ranks. ``pooling``: of the
    query and of the photos' regions. ``expansion``: a further search with what was found.
    ``setting``: the value that a sweep has here, "" in the table. ``protocols``: mAP of each part
    of the protocol. ``seconds``: of one query's matching, mean; what is known of the photos before
    anybody asks is ready. ``bytes_per_photo``: of the features that are compared, as float16.
    """

    aggregation: str
    whitened: bool
    reranking: str
    expansion: Expansion
    pooling: str
    map: float
    ns: float | None
    pointing: float | None
    iou: float | None
    seconds: float
    bytes_per_photo: float
    protocols: dict[str, float]
    setting: str = ""

    @property
    def method(self) -> str:
        """In one line, for people; without the expansion."""
        first = f"{self.aggregation}{', whitened' if self.whitened else ''}"
        return f"{first} + {self.reranking}" if self.reranking else first


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the papers, whether it holds in these rows, and the figures that say so."""

    claim: str
    holds: bool | None
    figures: str


@dataclass(frozen=True, slots=True)
class Table:
    """``sweep``: what varies, "" for the table of methods. ``left_out``: rows that there are not,
    and why. ``passes``: photos and crops that went through the network in this run; ``seconds``:
    of the run. ``failed``: photos that could not be read."""

    dataset: str
    queries: int
    photos: int
    sweep: str
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...]
    left_out: tuple[str, ...]
    passes: int
    failed: int
    seconds: float
    settings: dict[str, object] = field(default_factory=dict)


# --- claims ---------------------------------------------------------------------------------

_Key = tuple[str, bool, str, Expansion]


def claims_of(rows: Sequence[Row]) -> tuple[Claim, ...]:
    """What rows of the table of methods say of the papers' claims; what they cannot tell is left
    out."""
    by_key = {_key(row): row for row in rows}
    names = dict.fromkeys(row.reranking for row in rows if row.reranking)
    plain = [row for row in rows if row.expansion is Expansion.NONE]
    found = [
        _gains(
            f"{name} improves every aggregation",
            [row for row in plain if row.reranking == name],
            lambda row: by_key.get((row.aggregation, row.whitened, "", Expansion.NONE)),
        )
        for name in names
    ]
    found += [
        _gains(
            f"{'QE' if kind is Expansion.AVERAGE else 'αQE'} adds to {name}",
            [row for row in rows if row.reranking == name and row.expansion is kind],
            lambda row: by_key.get((row.aggregation, row.whitened, row.reranking, Expansion.NONE)),
        )
        for name in names
        for kind in (Expansion.AVERAGE, Expansion.ALPHA)
    ]
    return tuple(claim for claim in (*found, clustering_claim(rows)) if claim is not None)


def clustering_claim(rows: Sequence[Row]) -> Claim | None:
    """Whether 25 groups are as good as no clustering, where the same list was re-ranked by both."""
    pairs: defaultdict[tuple[str, bool], dict[str, float]] = defaultdict(dict)
    for row in rows:
        for name in ("K = 25, spectral", "no clustering"):
            if row.reranking == f"QAM (FMP, {name})" and row.expansion is Expansion.NONE:
                pairs[row.aggregation, row.whitened][name] = row.map
    both = [pair for pair in pairs.values() if len(pair) == 2]
    if not both:
        return None
    few = statistics.fmean(pair["K = 25, spectral"] for pair in both)
    every = statistics.fmean(pair["no clustering"] for pair in both)
    return Claim(
        "K = 25 is as good as no clustering",
        few >= every - EQUALLY_GOOD,
        f"mAP {few:.4f} against {every:.4f}",
    )


def best_claims(
    rows: Sequence[Row], what: str, *, of: Callable[[Row], Sequence[str]] | None = None
) -> tuple[Claim, ...]:
    """Which setting of a sweep is best for each method; the first of several.

    Args:
        what: varies, for people.
        of: the methods that a row belongs to; None: its own.
    """
    by_method: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for method in (row.method,) if of is None else of(row):
            by_method[method].append(row)
    claims = []
    for method, own in by_method.items():
        best = max(own, key=lambda row: row.map)
        figures = ", ".join(f"{row.setting} {row.map:.4f}" for row in own)
        claims.append(Claim(f"best {what} for {method}: {best.setting}", None, figures))
    return tuple(claims)


def _key(row: Row) -> _Key:
    return row.aggregation, row.whitened, row.reranking, row.expansion


def _gains(claim: str, rows: Sequence[Row], before: Callable[[Row], Row | None]) -> Claim | None:
    gains = {row.method: row.map - base.map for row in rows if (base := before(row)) is not None}
    if not gains:
        return None
    least, most = min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__)
    better = sum(gain > 0 for gain in gains.values())
    figures = f"better in {better} of {len(gains)}, {gains[least]:+.4f} to {gains[most]:+.4f}"
    worst = "" if gains[least] > 0 else f"; least: {least}"
    return Claim(claim, better == len(gains), figures + worst)
