"""Whole evaluations of small folders of real photos, in this process."""

import json
import pickle
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from engine.config import FeatureSettings, Method, SearchSettings
from engine.errors import FolderError, GroundTruthError
from engine.jobs import Ticket
from engine.measuring import evaluate
from engine.requests import EvaluateReport, EvaluateRequest
from engine.store.paths import evaluation_cache
from tests.engine.evaluation.downloads import copy_photos, write_original

pytestmark = [pytest.mark.heavy, pytest.mark.photos]


@dataclass(frozen=True)
class Pictures:
    """``query``: a photo with a thing in the box; ``others``: photos that do not have it."""

    source: Path
    query: str
    box: tuple[float, float, float, float]
    others: Sequence[str]

    @property
    def corners(self) -> list[float]:
        x, y, w, h = self.box
        return [x, y, x + w, y + h]

    def write_twin(self, target: Path, *, quality: int) -> None:
        """The photo that asks, saved anew: nothing is more like it, and it is no copy."""
        target.parent.mkdir(parents=True, exist_ok=True)
        Image.open(self.source / self.query).save(target, quality=quality)


@pytest.fixture(scope="module")
def pictures(photo_sets: Path) -> Pictures:
    source = photo_sets / "cutouts"
    truth = json.loads((source / "gt.json").read_text())
    query = truth["queries"][0]
    others = [name for name in truth["photos"] if name.startswith("plain")][:4]
    return Pictures(source, query["photo"], tuple(query["box"]), others)


def _measured(folder: Path, *distractors: Path) -> EvaluateReport:
    settings = SearchSettings(method=Method.GLOBAL)
    request = EvaluateRequest(
        folder, settings, features=FeatureSettings(size_px=128), distractors=distractors
    )
    return evaluate(request, Ticket())


def test_a_revisited_set(pictures: Pictures, tmp_path: Path) -> None:
    """One twin of the query is junk, one is the easy positive, an unlike photo the hard one."""
    jpg = tmp_path / "jpg"
    copy_photos(pictures.source, jpg, {"asks": pictures.query, "hard": pictures.others[0]})
    copy_photos(pictures.source, jpg, {"none": pictures.others[1]})
    pictures.write_twin(jpg / "junk.jpg", quality=95)
    pictures.write_twin(jpg / "easy.jpg", quality=80)
    pictures.write_twin(jpg / "unlisted.jpg", quality=90)
    asked = {"bbx": pictures.corners, "easy": [1], "hard": [3], "junk": [2]}
    truth: dict[str, Any] = {"imlist": ["none", "easy", "junk", "hard"], "qimlist": ["asks"]}
    (tmp_path / "gnd_rparis6k.pkl").write_bytes(pickle.dumps({**truth, "gnd": [asked]}, 2))
    report = _measured(tmp_path)
    assert (report.dataset, report.queries, report.distractors) == ("rparis6k", 1, 0)
    assert report.settings["protocol"] == "revisited"
    easy, medium, hard = (report.protocols[name] for name in ("easy", "medium", "hard"))
    assert (easy.map, easy.mean_precision_at) == (1.0, {1: 1.0, 5: 1.0, 10: 1.0})
    # The hard one and "none" are both unlike the query; either may come first.
    first = hard.map == 1.0
    assert hard.map == pytest.approx(1.0 if first else 1 / 4)
    assert (
        medium.map == report.map == pytest.approx(1.0 if first else (1 + (1 / 2 + 2 / 3) / 2) / 2)
    )
    assert medium.mean_precision_at[1] == 1.0


def test_an_original_set(pictures: Pictures, tmp_path: Path) -> None:
    """A twin of the query is junk, another good, as is the query; no other is like it. So two
    come first, and the first of them is half of the answers."""
    x1, y1, x2, y2 = pictures.corners
    copy_photos(pictures.source, tmp_path / "jpg", {"all_souls_000001": pictures.query})
    others = {f"oxford_00000{n}": name for n, name in enumerate(pictures.others)}
    copy_photos(pictures.source, tmp_path / "jpg", others)
    pictures.write_twin(tmp_path / "jpg" / "twin_junk.jpg", quality=95)
    pictures.write_twin(tmp_path / "jpg" / "twin_good.jpg", quality=80)
    query = f"oxc1_all_souls_000001 {x1} {y1} {x2} {y2}"
    write_original(
        tmp_path, query=query, good=["twin_good"], ok=["all_souls_000001"], junk=["twin_junk"]
    )
    report = _measured(tmp_path)
    assert report.protocols["original"].map == report.map == 1.0
    assert report.recall_at[1] == 1 / 2
    assert report.settings["average_precision"] == "trapezoids"
    assert report.settings["photos"] == 7


@pytest.fixture
def described(pictures: Pictures, tmp_path: Path) -> Path:
    """A set whose one positive is found first, because nothing else is ranked."""
    folder = tmp_path / "set"
    copy_photos(pictures.source, folder, {"asks": pictures.query, "right": pictures.others[0]})
    query = {"photo": "asks.jpg", "box": list(pictures.box), "positives": ["right.jpg"]}
    truth = {"photos": ["asks.jpg", "right.jpg"], "queries": [query]}
    (folder / "gt.json").write_text(json.dumps(truth))
    return folder


def test_distractors(pictures: Pictures, described: Path, tmp_path: Path) -> None:
    """The twin comes before the positive; copies of the set's own photos distract nobody."""
    assert _measured(described).map == 1.0
    near, far = tmp_path / "near" / "inner", tmp_path / "far"
    pictures.write_twin(near / "twin.jpg", quality=90)
    shutil.copy(described / "asks.jpg", near / "copy of the query.jpg")
    shutil.copy(described / "right.jpg", near / "copy of the positive.jpg")
    copy_photos(pictures.source, far, {"unlike": pictures.others[1]})
    shutil.copy(far / "unlike.jpg", far / "twice.jpg")
    before = len(list(evaluation_cache().iterdir()))
    report = _measured(described, near.parent)
    assert (report.map, report.distractors) == (1 / 2, 1)
    assert _measured(described, near.parent, far).distractors == 2
    assert _measured(described, far, near.parent).distractors == 2
    assert len(list(evaluation_cache().iterdir())) == before + 2
    assert (_measured(described).map, _measured(described).distractors) == (1.0, 0)


def test_photos_of_the_set_that_are_not_listed_may_distract(
    pictures: Pictures, described: Path
) -> None:
    pictures.write_twin(described / "more" / "twin.jpg", quality=90)
    assert _measured(described).map == 1.0
    report = _measured(described, described / "more")
    assert (report.map, report.distractors) == (1 / 2, 1)


def test_photos_that_ask_distract_nobody(
    pictures: Pictures, described: Path, tmp_path: Path
) -> None:
    """Two photos ask for one thing and are not listed, as in the revisited sets."""
    pictures.write_twin(described / "twin.jpg", quality=90)
    truth = json.loads((described / "gt.json").read_text())
    asked = truth["queries"][0]
    queries = [asked, {**asked, "photo": "twin.jpg"}]
    written = {"photos": ["right.jpg"], "queries": queries}
    (described / "gt.json").write_text(json.dumps(written))
    for name in ("asks", "twin"):
        (tmp_path / "more").mkdir(exist_ok=True)
        shutil.copy(described / f"{name}.jpg", tmp_path / "more" / f"copy of {name}.jpg")
    report = _measured(described, tmp_path / "more")
    assert (report.map, report.distractors) == (1.0, 0)


def test_distractors_that_are_not_there(described: Path, tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="cannot be read"):
        _measured(described, tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FolderError, match="no photo was found"):
        _measured(described, tmp_path / "empty")


def test_a_missing_photo_that_asks_is_named_before_anything_is_indexed(described: Path) -> None:
    (described / "asks.jpg").unlink()
    truth = json.loads((described / "gt.json").read_text())
    (described / "gt.json").write_text(json.dumps({**truth, "photos": ["right.jpg"]}))
    with pytest.raises(GroundTruthError, match=r"lacks 1 of the 2 photos .*'asks\.jpg'"):
        _measured(described)
