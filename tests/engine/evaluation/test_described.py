"""gt.json, right and wrong."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine.errors import GroundTruthError
from engine.evaluation.described import FILE
from engine.evaluation.groundtruth import Answers, Protocol
from engine.evaluation.reading import read
from engine.types import Box

GOOD: dict[str, Any] = {
    "name": "things",
    "protocol": "leave-query-out",
    "photos": ["a.jpg", "b/c.jpg", "d.jpg"],
    "queries": [
        {
            "photo": "a.jpg",
            "box": [1, 2, 3.5, 4],
            "positives": ["b/c.jpg"],
            "junk": ["d.jpg"],
            "masks": {"b/c.jpg": [[[0, 0], [10, 0], [10, 10.5]]]},
        },
        {"photo": "elsewhere.jpg", "box": None, "positives": []},
    ],
}


def _written(folder: Path, content: object) -> Path:
    (folder / "gt.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_reads_what_is_said(tmp_path: Path) -> None:
    truth = read(_written(tmp_path, GOOD))
    assert truth.name == "things"
    assert truth.photos == ("a.jpg", "b/c.jpg", "d.jpg")
    first, second = truth.queries
    assert first.box == Box(1, 2, 3.5, 4)
    assert (first.positives, first.junk) == (("b/c.jpg",), ("d.jpg",))
    assert first.masks == {"b/c.jpg": (((0.0, 0.0), (10.0, 0.0), (10.0, 10.5)),)}
    assert (second.box, second.positives, second.masks) == (None, (), {})


def test_the_folder_names_what_has_no_name(tmp_path: Path) -> None:
    assert read(_written(tmp_path, {**GOOD, "name": tmp_path.name})).name == tmp_path.name


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(GroundTruthError, match=r"there is no gt\.json"):
        read(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "\xff", "[" * 100_000])
def test_no_json(tmp_path: Path, text: str) -> None:
    (tmp_path / "gt.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(GroundTruthError, match="cannot be read"):
        read(tmp_path)


def _query(**changes: object) -> dict[str, object]:
    return {"queries": [{**GOOD["queries"][0], **changes}]}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"protocol": "other"}, "protocol"),
        ({"photos": []}, "needs photos"),
        ({"photos": None}, "photos must be a list"),
        ({"photos": ["a.jpg", "a.jpg"]}, "twice"),
        ({"photos": [7]}, "no name of a photo"),
        ({"photos": ["/etc/passwd"]}, "leads out"),
        ({"photos": ["../a.jpg"]}, "leads out"),
        ({"queries": []}, "needs photos and queries"),
        ({"queries": ["a.jpg"]}, "query 0 must be an object"),
        (_query(photo=None), "no name of a photo"),
        (_query(positives=None), "positives must be a list"),
        (_query(positives=["z.jpg"]), "not in photos"),
        (_query(junk=["z.jpg"]), "not in photos"),
        (_query(masks={"z.jpg": []}), "not in photos"),
        (_query(masks={"d.jpg": [[[0, 0], [1, 1]]]}), "three points"),
        (_query(masks={"d.jpg": [[[0, 0], [1, 1], [2]]]}), "2 numbers"),
        (_query(masks=[]), "masks must be an object"),
        (_query(junk={}), "junk must be a list"),
        (_query(positives=["a.jpg"], junk=["a.jpg"]), "'a.jpg' is in positives and in junk"),
        (_query(positives=["b/c.jpg"], junk=["b/c.jpg"]), "in positives and in junk"),
        ({"protocol": ["revisited"]}, "protocol"),
        ({"protocol": "revisited"}, "easy must be a list"),
        (_query(box=[0, 0, 10]), "4 numbers"),
        (_query(box=[0, 0, 10, 0]), "no area"),
        (_query(box=[0, 0, 10, "5"]), "no number"),
        (_query(box=[0, 0, 10, float("nan")]), "not within a photo"),
        (_query(box=[0, 0, 10, 10**400]), "not within a photo"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_place(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    with pytest.raises(GroundTruthError, match=reason) as caught:
        read(_written(tmp_path, {**GOOD, **change}))
    assert "gt.json" in caught.value.reason
    assert "\n" not in caught.value.reason


def test_what_is_null_is_left_out(tmp_path: Path) -> None:
    (query,) = read(_written(tmp_path, {**GOOD, **_query(box=None, junk=None, masks=None)})).queries
    assert (query.box, query.junk, query.masks) == (None, (), {})


def _revisited(**changes: object) -> dict[str, object]:
    query = {"photo": "q.jpg", "easy": ["a.jpg"], "hard": ["b/c.jpg"], "junk": ["d.jpg"], **changes}
    return {**GOOD, "protocol": "revisited", "queries": [query]}


def test_the_revisited_protocol_in_ones_own_words(tmp_path: Path) -> None:
    truth = read(_written(tmp_path, _revisited()))
    assert truth.protocol is Protocol.REVISITED
    (query,) = truth.queries
    assert query.positives == ("a.jpg", "b/c.jpg")
    assert truth.answers(query) == {
        "easy": Answers(("a.jpg",), ("d.jpg", "b/c.jpg")),
        "medium": Answers(("a.jpg", "b/c.jpg"), ("d.jpg",)),
        "hard": Answers(("b/c.jpg",), ("d.jpg", "a.jpg")),
    }
    with pytest.raises(GroundTruthError, match="in easy and in hard"):
        read(_written(tmp_path, _revisited(hard=["a.jpg"])))
    with pytest.raises(GroundTruthError, match=r"hard has 'z\.jpg'"):
        read(_written(tmp_path, _revisited(hard=["z.jpg"])))


def test_the_original_protocol_in_ones_own_words(tmp_path: Path) -> None:
    truth = read(_written(tmp_path, {**GOOD, "protocol": "original"}))
    assert truth.answers(truth.queries[0]) == {"original": Answers(("b/c.jpg",), ("d.jpg",))}


def test_the_photo_sets_are_well_formed(photo_sets: Path) -> None:
    for name, queries in (("cutouts", 60), ("holidays", 295), ("ukbench", 1000)):
        assert len(read(photo_sets / name).queries) == queries


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_is_no_ground_truth_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(GroundTruthError, match="there is no"):
        read(tmp_path)
