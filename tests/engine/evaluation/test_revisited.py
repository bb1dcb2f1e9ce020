"""ROxford5k and RParis6k as they are downloaded."""

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from engine.errors import GroundTruthError
from engine.evaluation.groundtruth import Answers, Protocol
from engine.evaluation.reading import read
from engine.types import Box
from tests.engine.evaluation.downloads import gnd, touch_photos, write_original


def _folder(tmp_path: Path, content: object, *, name: str = "gnd_roxford5k.pkl") -> Path:
    known = gnd()
    touch_photos(tmp_path / "jpg", [*known["imlist"], *known["qimlist"], "unlisted"])
    written = json.dumps(content).encode() if name.endswith("json") else pickle.dumps(content)
    (tmp_path / name).write_bytes(written)
    return tmp_path


@pytest.mark.parametrize("name", ["gnd_roxford5k.pkl", "gnd_rparis6k.json"])
def test_reads_a_download(tmp_path: Path, name: str) -> None:
    truth = read(_folder(tmp_path, gnd(), name=name))
    assert truth.protocol is Protocol.REVISITED
    assert truth.name == name.split("_")[1].split(".")[0]
    listed = [f"jpg/all_souls_{n:06d}.jpg" for n in range(5)]
    assert truth.photos == tuple(listed)
    first, second = truth.queries
    assert (first.photo, second.photo) == ("jpg/oxford_000001.jpg", "jpg/oxford_000002.jpg")
    assert first.box == Box(10.5, 20, 100, 200)
    easy, hard, junk = listed[0], listed[2], listed[3]
    assert truth.answers(first) == {
        "easy": Answers((easy,), (junk, hard)),
        "medium": Answers((easy, hard), (junk,)),
        "hard": Answers((hard,), (junk, easy)),
    }
    assert truth.answers(second)["easy"] == Answers((), (listed[4],))


def test_arrays_and_tuples_do_as_well(tmp_path: Path) -> None:
    arrays = gnd(
        bbx=np.array([[10.5, 20, 110.5, 220]]),
        easy=np.array([0]),
        hard=np.array([2], dtype="u1"),
        junk=(3, np.int64(1)),
    )
    empty = gnd()["gnd"][1]
    arrays["gnd"] = (arrays["gnd"][0], {**empty, "easy": np.array([])})
    read_arrays = read(_folder(tmp_path / "a", arrays)).queries
    assert read_arrays == read(_folder(tmp_path / "b", gnd(junk=[3, 1]))).queries


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ([], "the whole must be an object"),
        ({}, "imlist must be a list"),
        ({**gnd(), "imlist": []}, "needs photos"),
        ({**gnd(), "imlist": ["all_souls_000000"] * 2}, "twice"),
        ({**gnd(), "imlist": [b"x"]}, "no name of a photo"),
        ({**gnd(), "imlist": ["../x"]}, "leads out"),
        ({**gnd(), "imlist": [["x" * 10_000] * 1000]}, "no name of a photo"),
        ({**gnd(), "qimlist": ["oxford_000001"]}, "differ in length"),
        ({**gnd(), "qimlist": ["oxford_000001", "gone"]}, "lacks 1 of the 7 photos"),
        ({**gnd(), "gnd": None}, "gnd must be a list"),
        ({**gnd(), "gnd": [1, 2]}, "query 0 must be an object"),
        (gnd(easy=[5]), "query 0: easy: 5 is no place"),
        (gnd(hard=[-1]), "hard: -1 is no place"),
        (gnd(junk=[True]), "junk: True is no place"),
        (gnd(junk=[1.0]), "junk: 1.0 is no place"),
        (gnd(junk="1"), "junk must be a list"),
        (gnd(bbx=[1, 2, 3]), "4 numbers"),
        (gnd(bbx=[5, 5, 1, 9]), "no area"),
        (gnd(bbx=None), "bbx must be a list"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_place(
    tmp_path: Path, content: object, reason: str
) -> None:
    with pytest.raises(GroundTruthError, match=reason) as caught:
        read(_folder(tmp_path, content))
    assert "gnd_roxford5k.pkl" in caught.value.reason
    assert len(caught.value.reason) < 1000


def test_nothing_in_the_pickle_is_executed(tmp_path: Path) -> None:
    class Attack:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch '{tmp_path / 'executed'}'",)

    folder = _folder(tmp_path, {**gnd(), "extra": Attack()})
    with pytest.raises(GroundTruthError, match=r"system', which is not admitted"):
        read(folder)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("data", [b"", b"\x80\x04", b"[" * 100_000, b"\xff\xfe"])
@pytest.mark.parametrize("kind", ["pkl", "json"])
def test_damage(tmp_path: Path, data: bytes, kind: str) -> None:
    (tmp_path / f"gnd_roxford5k.{kind}").write_bytes(data)
    with pytest.raises(GroundTruthError, match=f"gnd_roxford5k.{kind}: "):
        read(tmp_path)


def test_a_file_of_any_size_is_not_taken_into_memory(tmp_path: Path) -> None:
    with (tmp_path / "gnd_rparis6k.pkl").open("wb") as file:
        file.truncate(2**24 + 1)
    with pytest.raises(GroundTruthError, match="too large"):
        read(tmp_path)


def test_which_ground_truth_is_taken(tmp_path: Path) -> None:
    folder = _folder(tmp_path, gnd())
    touch_photos(folder / "jpg", ["a"])
    write_original(folder, query="a 0 0 1 1", good=["a"], ok=[], junk=[])
    assert read(folder).protocol is Protocol.REVISITED
    own = {"photos": ["x.jpg"], "queries": [{"photo": "x.jpg", "positives": []}]}
    (folder / "gt.json").write_text(json.dumps(own))
    assert read(folder).protocol is Protocol.LEAVE_QUERY_OUT
    (folder / "gt.json").unlink()
    (folder / "gnd_rparis6k.json").write_text("{}")
    with pytest.raises(GroundTruthError, match=r"several .*: gnd_roxford5k\.pkl, gnd_rparis6k"):
        read(folder)
    for name in ("gnd_roxford5k.pkl", "gnd_rparis6k.json"):
        (folder / name).unlink()
    assert read(folder).protocol is Protocol.ORIGINAL
