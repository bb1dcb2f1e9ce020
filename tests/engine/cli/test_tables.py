"""How comparisons are printed."""

import json

import pytest

from engine.cli.tables import comparison
from engine.comparing.table import Claim, Row, Table
from engine.config import Expansion


def _row(reranking: str, map_: float, expansion: Expansion, *, ns: float | None = None) -> Row:
    return Row(
        aggregation="gem",
        whitened=True,
        reranking=reranking,
        expansion=expansion,
        pooling="gem / max",
        map=map_,
        ns=ns,
        pointing=0.25 if reranking else None,
        iou=None,
        seconds=0.0123,
        bytes_per_photo=2560.0,
        protocols={"leave-query-out": map_},
    )


def _table(*rows: Row) -> Table:
    return Table(
        dataset="cutouts",
        queries=60,
        photos=1440,
        sweep="",
        rows=rows,
        claims=(Claim("QE adds", True, "+0.1"), Claim("best K: 5", None, "5 0.1, 10 0.0")),
        left_out=("a row: why",),
        passes=3,
        failed=1,
        seconds=2.4,
        settings={"size_px": 768},
    )


def test_expansions_are_columns_of_the_line_of_their_method(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = (
        _row("", 0.5, Expansion.NONE),
        _row("QAM", 0.6, Expansion.NONE),
        _row("QAM", 0.65, Expansion.AVERAGE),
        _row("QAM", 0.7, Expansion.ALPHA),
    )
    comparison(_table(*rows), as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "cutouts: 60 queries, 1,440 photos",
        "  method               query / photo  mAP     + QE    + αQE   pointing  ms/query  "
        "bytes/photo",
        "  gem, whitened        gem / max      0.5000                            12.3      2,560",
        "  gem, whitened + QAM  gem / max      0.6000  0.6500  0.7000  0.250     12.3      2,560",
        "  left out: a row: why",
        "  QE adds: yes (+0.1)",
        "  best K: 5 (5 0.1, 10 0.0)",
        "  3 passes, 1 unreadable, 2 s",
        "  size_px 768",
    ]


def test_json_is_one_object_with_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = (_row("", 0.5, Expansion.NONE, ns=3.9), _row("QAM", 0.7, Expansion.ALPHA))
    comparison(_table(*rows), as_json=True)
    (line,) = capsys.readouterr().out.splitlines()
    said = json.loads(line)
    assert (said["dataset"], said["passes"], said["left_out"]) == ("cutouts", 3, ["a row: why"])
    assert [row["expansion"] for row in said["rows"]] == ["none", "alpha"]
    assert said["rows"][0]["ns"] == 3.9
    assert said["claims"][0] == {"claim": "QE adds", "holds": True, "figures": "+0.1"}


def test_several_protocols_are_columns(capsys: pytest.CaptureFixture[str]) -> None:
    row = _row("", 0.5, Expansion.NONE)
    row.protocols.update({"easy": 0.75, "hard": 0.25})
    comparison(_table(row), as_json=False)
    head, line = capsys.readouterr().out.splitlines()[1:3]
    assert head.split()[-5:] == ["leave-query-out", "easy", "hard", "ms/query", "bytes/photo"]
    assert line.split()[-5:] == ["0.5000", "0.7500", "0.2500", "12.3", "2,560"]
