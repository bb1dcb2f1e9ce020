"""The main job by the command line, with the real network on real photos."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.e2e.command import refocal
from tests.e2e.conftest import IndexedSet

pytestmark = [pytest.mark.heavy, pytest.mark.photos]


def _box(query: dict[str, Any]) -> str:
    return ",".join(str(number) for number in query["box"])


def test_index_counts_every_photo_once(indexed: IndexedSet) -> None:
    report = indexed.first_run.json
    assert report["found"] == report["indexed"] == len(indexed.photos.photos)
    assert report["passes"] == report["indexed"]
    assert report["failed"] == report["offline"] == 0


def test_index_again_finds_nothing_to_do(indexed: IndexedSet) -> None:
    again = refocal("index", indexed.photos.folder, "--library", indexed.library, "--json")
    assert again.status == 0
    assert again.json["unchanged"] == len(indexed.photos.photos)
    assert again.json["indexed"] == again.json["passes"] == 0


def test_box_search_finds_the_thing(indexed: IndexedSet, tmp_path: Path) -> None:
    query = indexed.photos.queries[0]
    photo = indexed.photos.folder / query["photo"]
    outcome = refocal(
        "search", photo, "--box", _box(query), "--library", indexed.library, "--top", "5",
        "--focus", tmp_path / "focus", "--json",
    )  # fmt: skip
    assert outcome.status == 0, outcome.messages
    answer = outcome.json
    assert answer["method"] == "sparse"
    assert set(answer["timings_ms"]) == {
        "decode", "network", "shortlist", "rerank", "expand", "total",
    }  # fmt: skip
    assert len(answer["hits"]) == 5
    names = [Path(hit["photo"]).name for hit in answer["hits"]]
    assert query["photo"] not in names
    assert names[0] in query["positives"]
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)
    for hit in answer["hits"]:
        _check_focus(hit)


def _check_focus(hit: dict[str, Any]) -> None:
    with Image.open(hit["photo"]) as photo, Image.open(hit["focus"]) as focus:
        assert focus.size == photo.size
        assert focus.format == "PNG"
        assert np.asarray(focus).max() > 200
        x, y, w, h = hit["box"]
        assert x >= 0
        assert y >= 0
        assert x + w <= photo.width + 0.5
        assert y + h <= photo.height + 0.5


def test_solvers_agree(indexed: IndexedSet) -> None:
    for query in indexed.photos.queries:
        scores = []
        for solver in ("nnls", "osqp"):
            outcome = refocal(
                "search", indexed.photos.folder / query["photo"], "--box", _box(query),
                "--library", indexed.library, "--solver", solver, "--json",
            )  # fmt: skip
            assert outcome.status == 0, outcome.messages
            scores.append({hit["photo"]: hit["score"] for hit in outcome.json["hits"]})
        assert scores[0].keys() == scores[1].keys()
        for photo, score in scores[0].items():
            assert scores[1][photo] == pytest.approx(score, abs=1e-5)


def test_report_25_a_new_picture_is_a_query_and_stays_outside(
    indexed: IndexedSet, tmp_path: Path
) -> None:
    query = indexed.photos.queries[1]
    x, y, w, h = query["box"]
    new = tmp_path / "not in the library.png"
    with Image.open(indexed.photos.folder / query["photo"]) as photo:
        photo.crop((x, y, x + w, y + h)).save(new)
    outcome = refocal("search", new, "--library", indexed.library, "--json")
    assert outcome.status == 0, outcome.messages
    photos = {hit["photo"] for hit in outcome.json["hits"]}
    assert len(photos) == len(indexed.photos.photos)
    assert str(new) not in photos
    doctor = refocal("doctor", "--library", indexed.library, "--json")
    assert doctor.json["facts"]["photos"] == str(len(indexed.photos.photos))


def test_evaluate_tells_figures_with_settings(indexed: IndexedSet) -> None:
    outcome = refocal("evaluate", indexed.photos.folder, "--json")
    assert outcome.status == 0, outcome.messages
    report = outcome.json
    assert report["queries"] == len(indexed.photos.queries)
    assert report["map"] > 0.6  # three queries: 0.74
    assert report["pointing"] > report["pointing_chance"]
    assert 0 < report["focus_iou"] < 1
    assert report["settings"]["size_px"] == 768


def test_doctor_finds_nothing_wrong(indexed: IndexedSet) -> None:
    outcome = refocal("doctor", "--library", indexed.library, "--json")
    assert outcome.status == 0
    assert outcome.json["problems"] == []
