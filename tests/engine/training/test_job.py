"""The training job: from a labelled folder to a network of the library."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from engine.config import NetworkChoice, TrainSettings
from engine.errors import NetworkError, RefocalError, TrainingError
from engine.jobs import Cancelled, Ticket
from engine.network import registry
from engine.network.device import DeviceChoice
from engine.network.kept import MANIFEST, kept_ids, kept_manifest
from engine.network.manifest import NetworkManifest
from engine.network_requests import (
    TrainReport,
    TrainRequest,
    UseNetworkRequest,
)
from engine.requests import (
    IndexRequest,
    SearchRequest,
)
from engine.service import Engine
from engine.store.paths import LibraryPaths
from engine.teaching import labels_of
from engine.training import job
from engine.training.checkpoint import STATE
from engine.training.job import CURVE, READING, RECORD, STEPS, TrainParts
from engine.training.model import TrainableNetwork
from engine.types import Picture
from tests.engine.training.hues import SETTINGS, paint_hue, paint_hues, tiny_network
from tests.fakes.inline_pool import InlinePool

SMALL = replace(SETTINGS, hold_out=0.3)


class Parts:
    """The job's parts with a tiny network in the place of the real one."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths = LibraryPaths(folder / "library")
        self.models: list[TrainableNetwork] = []
        weights = folder / "start.safetensors"
        save_file(tiny_network().trained_weights().backbone, weights)
        known = registry.manifest(registry.DEFAULT)
        source = replace(known.weights, package=None, file=str(weights))
        self.start = replace(known, weights=source, dim=12)
        monkeypatch.setattr(job, "_model", self._model)

    def _model(self, _start: NetworkManifest) -> TrainableNetwork:
        self.models.append(tiny_network())
        return self.models[-1]

    def train(
        self,
        folder: Path,
        settings: TrainSettings = SMALL,
        ticket: Ticket | None = None,
        name: str = "hues",
        **more: object,
    ) -> TrainReport:
        request = TrainRequest(folder, name, settings, **more)  # type: ignore[arg-type]
        parts = TrainParts(
            start=self.start,
            device=DeviceChoice("cpu", "CPU: for the tests"),
            pool=InlinePool(),
            paths=self.paths,
        )
        labelled = labels_of(folder, each_photo=request.each_photo)
        return job.train(request, labelled, ticket or Ticket(), parts=parts)


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parts:
    return Parts(tmp_path, monkeypatch)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return paint_hues(tmp_path / "photos", [3, 3, 1, 2, 4])


def test_a_training_leaves_a_network_its_curve_and_its_record(parts: Parts, photos: Path) -> None:
    report = parts.train(photos, licence="CC0")
    place = parts.paths.networks / "hues"
    assert report.folder == place
    assert (report.network, report.classes, report.steps) == ("hues", 3, 4)
    assert report.photos + report.held_out == 13
    assert report.failures == ()
    assert report.map_before is not None
    assert report.map_after is not None
    assert report.map_after >= report.map_before

    known = kept_manifest(parts.paths.networks, "hues")
    assert known.licence == "CC0"
    assert known.gem_p == pytest.approx(float(parts.models[0].gem_p.detach()))
    assert f"trained with the ap loss, {report.best_step} steps" in known.origin
    assert f"{report.photos} photos of 3 classes" in known.origin
    (measured,) = known.measured
    assert (measured.dataset, measured.map) == ("photos", report.map_after)
    assert "2 held-out classes, 48 px" in measured.settings
    assert known.known_output == ()

    record = json.loads((place / RECORD).read_text())
    assert record["settings"]["lr"] == 0.01
    assert record["settings"]["seed"] == 0
    assert (record["map_after"], record["licence"]) == (report.map_after, "CC0")
    assert record["start"]["sha256"] == parts.start.weights.sha256
    assert len((place / STEPS).read_text().splitlines()) == 5
    with Image.open(place / CURVE) as curve:
        assert len(np.unique(np.asarray(curve).reshape(-1, 3), axis=0)) > 10
    assert not parts.paths.training("hues").exists()


def test_without_a_licence_it_says_that_photos_have_none(parts: Parts, photos: Path) -> None:
    parts.train(photos)
    licence = kept_manifest(parts.paths.networks, "hues").licence
    assert licence == f"{parts.start.licence}; photos: not said"


def test_unreadable_photos_are_left_out_and_reported(parts: Parts, photos: Path) -> None:
    bad = [photos / "class_00" / "00.jpg", photos / "class_02" / "00.jpg"]
    bad[0].write_bytes(b"no picture")
    bad[1].write_bytes(bad[1].read_bytes()[:400])
    report = parts.train(photos)
    assert [failure.path for failure in report.failures] == bad
    assert all(failure.reason for failure in report.failures)
    assert report.photos + report.held_out == 11


def test_every_photo_can_be_a_class(parts: Parts, photos: Path) -> None:
    paint_hue(photos / "loose.jpg", 0.5, seed=9999)
    report = parts.train(photos, each_photo=True)
    assert (report.classes, report.photos, report.held_out) == (10, 10, 4)
    assert report.map_before is not None
    record = json.loads((report.folder / RECORD).read_text())
    assert record["each_photo"] is True


def test_nothing_need_be_held_out(parts: Parts, photos: Path) -> None:
    report = parts.train(photos, replace(SMALL, hold_out=0.0))
    assert (report.held_out, report.map_before, report.map_after) == (0, None, None)
    assert report.best_step == 4
    known = kept_manifest(parts.paths.networks, "hues")
    assert known.measured == ()
    trained = parts.models[0].trained_weights()
    assert known.gem_p == trained.gem_p != parts.start.gem_p
    kept = load_file(known.weights.file)
    assert kept.keys() == trained.backbone.keys()
    assert all(torch.equal(kept[name], value) for name, value in trained.backbone.items())


def test_a_name_that_is_taken_is_refused_before_anything_is_done(
    parts: Parts, photos: Path
) -> None:
    parts.train(photos)
    before = (parts.paths.networks / "hues" / MANIFEST).read_bytes()
    with pytest.raises(NetworkError, match="a network hues already"):
        parts.train(photos)
    assert len(parts.models) == 1
    assert (parts.paths.networks / "hues" / MANIFEST).read_bytes() == before


@pytest.mark.parametrize("name", ["", "../hues", "a/b", "x" * 90, "resnet50", registry.DEFAULT])
def test_a_name_that_none_may_have_is_refused(parts: Parts, photos: Path, name: str) -> None:
    with pytest.raises(NetworkError):
        parts.train(photos, name=name)
    assert parts.models == []


def test_where_the_network_cannot_be_kept_the_training_is(
    parts: Parts, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise NetworkError("the networks cannot be written: no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(job, "keep", full)
        with pytest.raises(NetworkError, match="no space left"):
            parts.train(photos)
    ticket = StopsAt("training", 0.0)  # not one step is to be taken again
    assert parts.train(photos, ticket=ticket).steps == 4
    assert kept_ids(parts.paths.networks) == ("hues",)


@pytest.mark.parametrize(
    ("counts", "hold_out", "reason"),
    [([3], 0.0, "two classes"), ([3, 3], 0.3, "too few"), ([], 0.0, "has a label")],
)
def test_too_little_to_learn_from_is_an_error(
    parts: Parts, tmp_path: Path, counts: list[int], hold_out: float, reason: str
) -> None:
    photos = paint_hues(tmp_path / "photos", counts)
    photos.mkdir(exist_ok=True)
    with pytest.raises(TrainingError, match=reason):
        parts.train(photos, replace(SMALL, hold_out=hold_out))
    assert kept_ids(parts.paths.networks) == ()


class StopsAt(Ticket):
    """Somebody asks for the end once so much is done."""

    def __init__(self, stage: str, share: float) -> None:
        super().__init__()
        self._at = (stage, share)

    def update(self, stage: str, done: int, total: int) -> None:
        if stage == self._at[0] and done >= self._at[1] * total:
            self.cancel()
        super().update(stage, done, total)


def stopped(parts: Parts, photos: Path, settings: TrainSettings = SMALL) -> None:
    with pytest.raises(Cancelled):
        parts.train(photos, settings, StopsAt("training", 0.7))


def test_a_stopped_training_shows_its_curve_and_goes_on(
    parts: Parts, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(parts, photos)
    work = parts.paths.training("hues")
    assert {one.name for one in work.iterdir()} == {STATE, CURVE, STEPS}
    assert 1 < len((work / STEPS).read_text().splitlines()) < 5
    assert kept_ids(parts.paths.networks) == ()
    report = parts.train(photos)
    (tmp_path / "whole").mkdir()
    whole = Parts(tmp_path / "whole", monkeypatch)
    assert whole.train(photos).map_after == report.map_after
    expected = dict(whole.models[0].named_parameters())
    for name, value in parts.models[-1].named_parameters():
        assert torch.equal(value, expected[name]), name


def _one_more(photos: Path) -> None:
    paint_hue(photos / "class_01" / "new.jpg", 0.3, seed=77)


def _another_in_its_place(photos: Path) -> None:
    for photo in photos.glob("class_0?/00.jpg"):
        paint_hue(photo, 0.3, seed=77, size=(80, 80))


def _one_moved(photos: Path) -> None:
    (photos / "class_04" / "00.jpg").rename(photos / "class_03" / "99.jpg")


@pytest.mark.parametrize("change", [_one_more, _another_in_its_place, _one_moved])
def test_other_photos_are_another_training(parts: Parts, photos: Path, change) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    stopped(parts, photos)
    change(photos)
    with pytest.raises(TrainingError, match="photos or settings differ"):
        parts.train(photos)


@pytest.mark.parametrize(
    "other", [{"lr": 0.02}, {"steps": 5}, {"seed": 1}, {"crop_px": 40}, {"batch": 4}]
)
def test_other_settings_are_another_training(
    parts: Parts, photos: Path, other: dict[str, float]
) -> None:
    stopped(parts, photos)
    with pytest.raises(TrainingError, match="photos or settings differ"):
        parts.train(photos, replace(SMALL, **other))  # type: ignore[arg-type]


def test_what_changes_no_result_may_change(parts: Parts, photos: Path) -> None:
    stopped(parts, photos)
    report = parts.train(photos, replace(SMALL, micro_batch=3, keep_every_s=100.0))
    assert report.steps == 4


def test_reading_can_be_stopped(parts: Parts, photos: Path) -> None:
    with pytest.raises(Cancelled):
        parts.train(photos, ticket=StopsAt(READING, 0.5))
    assert parts.models == []


@pytest.mark.parametrize(
    "wrong", [{"seed": -1}, {"weight_decay": float("nan")}, {"batch": 2}, {"lr": 0.0}]
)
def test_settings_out_of_their_range_are_refused_at_once(
    parts: Parts, photos: Path, wrong: dict[str, float]
) -> None:
    with pytest.raises(RefocalError):
        parts.train(photos, replace(SMALL, **wrong))  # type: ignore[arg-type]
    assert parts.models == []


# --- the real thing -------------------------------------------------------------------------


@pytest.mark.heavy
def test_a_library_is_used_with_what_it_has_trained(tmp_path: Path) -> None:
    photos = paint_hues(tmp_path / "photos", [3, 3, 3], w=96, h=72)
    settings = TrainSettings(
        steps=2, batch=6, per_class=3, micro_batch=6, crop_px=64, validate_px=64, hold_out=0.3
    )
    ticket = Ticket()
    with Engine.open(tmp_path / "library") as engine:
        engine.index(IndexRequest((photos,)), ticket)
        report = engine.train(TrainRequest(photos, "mine", settings, licence="CC0"), ticket)
        assert (report.photos, report.held_out, report.steps) == (6, 3, 2)
        for name in (CURVE, STEPS, RECORD):
            assert (report.folder / name).stat().st_size > 0
        engine.use_network(UseNetworkRequest("mine"), ticket)
        assert engine.index(IndexRequest(()), ticket).indexed == 9
        asked = photos / "class_01" / "01.jpg"
        answer = engine.search(SearchRequest(Picture(asked)), ticket)
        assert answer.hits[0].photo.path.parent == asked.parent
        trained = kept_manifest(LibraryPaths(tmp_path / "library").networks, "mine")
        assert trained.licence == "CC0"
    with Engine.open(tmp_path / "library") as engine:  # and to begin with
        again = TrainRequest(photos, "more", settings, NetworkChoice("mine", folder=report.folder))
        assert engine.train(again, ticket).steps == 2
        record = json.loads((report.folder.parent / "more" / RECORD).read_text())
        assert record["start"]["name"] == "mine"
