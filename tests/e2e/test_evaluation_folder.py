"""What an evaluation makes of a folder that does not hold just what gt.json lists."""

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.command import refocal
from tests.e2e.conftest import SmallSet

pytestmark = [pytest.mark.heavy, pytest.mark.photos]


def _folder(tmp_path: Path, small_set: SmallSet, *, listed: list[str], copied: list[str]) -> Path:
    query = small_set.queries[0]
    for name in copied:
        shutil.copy2(small_set.folder / name, tmp_path / name)
    truth = {
        "photos": listed,
        "queries": [{"photo": query["photo"], "box": None, "positives": listed[-1:]}],
    }
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    return tmp_path


def test_photos_that_are_not_listed_are_not_ranked(tmp_path: Path, small_set: SmallSet) -> None:
    query = small_set.queries[0]
    listed = [query["photo"], small_set.photos[-1]]  # an unrelated photo as the one positive
    folder = _folder(tmp_path, small_set, listed=listed, copied=[*listed, *query["positives"]])
    outcome = refocal("evaluate", folder, "--size", "128", "--json")
    assert outcome.status == 0, outcome.messages
    assert outcome.json["map"] == 1.0


def test_distractors_are_counted_and_named_in_both_outputs(
    tmp_path: Path, small_set: SmallSet
) -> None:
    photo, far = small_set.queries[0]["photo"], small_set.photos[-1]
    (tmp_path / "set").mkdir()
    folder = _folder(tmp_path / "set", small_set, listed=[photo, far], copied=[photo, far])
    others = [tmp_path / "one", tmp_path / "two"]
    for other, name in zip(others, small_set.photos[-3:-1], strict=True):
        other.mkdir()
        shutil.copy2(small_set.folder / name, other)
    arguments: tuple[str | Path, ...] = ("--size", "128", "--distractors", *others)
    outcome = refocal("evaluate", folder, *arguments, "--json")
    assert outcome.status == 0, outcome.messages
    assert outcome.json["distractors"] == 2
    figures = outcome.json["protocols"]["leave-query-out"]
    assert figures["map"] == outcome.json["map"]
    assert set(figures["mean_precision_at"]) == {"1", "5", "10"}
    lines = refocal("evaluate", folder, *arguments).output.splitlines()
    assert lines[0] == "set: 1 queries, 2 distractors"
    rows = dict(line.rsplit(maxsplit=1) for line in lines[1:-2])
    assert rows["  leave-query-out, mAP"] == f"{figures['map']:.4f}"
    assert "  leave-query-out, mP@10" in rows


def test_a_listed_photo_that_is_missing_is_named(tmp_path: Path, small_set: SmallSet) -> None:
    listed = [small_set.queries[0]["photo"], "gone.jpg"]
    folder = _folder(tmp_path, small_set, listed=listed, copied=listed[:1])
    outcome = refocal("evaluate", folder)
    assert outcome.status == 1
    assert "gone.jpg" in outcome.reason


def test_a_table_of_methods_in_both_outputs(tmp_path: Path, small_set: SmallSet) -> None:
    listed = [small_set.queries[0]["photo"], *small_set.photos[-2:]]
    folder = _folder(tmp_path, small_set, listed=listed, copied=listed)
    first = refocal("evaluate", folder, "--table", "--size", "128", "--json")
    assert first.status == 0, first.messages
    assert (first.json["photos"], first.json["passes"]) == (3, 3)
    gem = next(row for row in first.json["rows"] if row["aggregation"] == "gem")
    second = refocal("evaluate", folder, "--table", "--size", "128")
    assert any(
        line.split()[:5] == ["gem", "gem", "/", "gem", f"{gem['map']:.4f}"]
        for line in second.output.splitlines()
    )
    assert "0 passes" in second.output


def test_sweeps_and_whitenings_that_lack_something(tmp_path: Path, small_set: SmallSet) -> None:
    photo, far = small_set.queries[0]["photo"], small_set.photos[-1]
    folder = _folder(tmp_path, small_set, listed=[photo, far], copied=[photo, far])
    assert refocal("evaluate", folder, "--table", "--sweep", "k").status == 2
    layers = refocal("evaluate", folder, "--sweep", "layer", "--layers", "no.such.layer")
    assert layers.status == 1
    assert "no.such.layer" in layers.reason
    alone = refocal("evaluate", folder, "--whitening-from", folder)
    assert (alone.status, alone.reason) == (1, "refocal: --whitening-from goes with --table")
