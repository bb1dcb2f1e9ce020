"""``refocal train``: what it asks of the engine, what it says, and how it ends."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli import training
from engine.cli.main import describe, main
from engine.config import LossKind, LossSettings, NetworkChoice, TrainSettings
from engine.errors import LibraryError, TrainingError
from engine.jobs import Progress, Ticket
from engine.network.kept import kept_ids
from engine.network_requests import (
    TrainReport,
    TrainRequest,
)
from engine.store.paths import LibraryPaths
from engine.training.job import CURVE, RECORD
from engine.types import Failure
from tests.engine.training.hues import paint_hues

REPORT = TrainReport(
    network="mine",
    photos=1200,
    classes=300,
    held_out=130,
    steps=200,
    best_step=160,
    map_before=0.8012,
    map_after=0.8333,
    device="CPU: no GPU",
    seconds=612.0,
    failures=(Failure(Path("/album/bad.jpg"), "it is damaged"),),
    folder=Path("/library/networks/mine"),
)

Run = Callable[..., tuple[int, str, str]]


class Door:
    """In the place of the engine: remembers what it is asked for, and how it was opened."""

    def __init__(self) -> None:
        self.requests: list[TrainRequest] = []
        self.opened: list[tuple[Path, bool]] = []
        self.missing = 0
        self.report = REPORT
        self.error: TrainingError | None = None

    @contextmanager
    def open(self, library: Path, *, writable: bool = True) -> Iterator["Door"]:
        self.opened.append((library, writable))
        yield self

    def train(self, request: TrainRequest, _ticket: Ticket) -> TrainReport:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        return self.report


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Door:
    made = Door()
    monkeypatch.setattr(training, "Engine", made)
    return made


@pytest.fixture
def run(door: Door, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    (tmp_path / "photos").mkdir()

    def refocal_train(*options: str) -> tuple[int, str, str]:
        places = [str(tmp_path / "photos"), "--as", "mine", "--library", str(tmp_path / "library")]
        status = main(["train", *places, *options])
        said = capsys.readouterr()
        return status, said.out, said.err

    return refocal_train


def test_by_itself_it_asks_for_the_standard_recipe(run: Run, door: Door, tmp_path: Path) -> None:
    assert run()[0] == 0
    assert door.requests == [TrainRequest(tmp_path / "photos", "mine", TrainSettings())]
    assert door.opened == [(tmp_path / "library", True)]


def test_every_option_reaches_the_request(run: Run, door: Door, tmp_path: Path) -> None:
    numbers = {
        "steps": 7, "batch": 64, "per_class": 2, "micro_batch": 8, "crop_px": 128, "lr": 2e-4,
        "p_lr": 3e-3, "weight_decay": 1e-5, "frozen": 0.5, "hold_out": 0.2, "validate_every": 3,
        "seed": 4,
    }  # fmt: skip
    options = [f"--{name.replace('_', '-')}={value}" for name, value in numbers.items()]
    run(
        *options, "--loss", "ap-tie", "--bins", "10", "--equal-queries", "--any-class",
        "--licence", "CC0", "--each-photo", "--network", "efficientnet_lite0",
    )  # fmt: skip
    (request,) = door.requests
    assert request == TrainRequest(
        tmp_path / "photos",
        "mine",
        TrainSettings(
            loss=LossKind.AP_TIE,
            loss_settings=LossSettings(bins=10, class_weights=False),
            balanced=False,
            **numbers,  # type: ignore[arg-type]
        ),
        NetworkChoice("efficientnet_lite0"),
        "CC0",
        each_photo=True,
    )


def test_it_says_how_it_went(run: Run) -> None:
    status, said, _ = run()
    assert status == 0
    assert said.splitlines() == [
        "mine: 200 steps on 1,200 photos of 300 classes, 10.2 minutes on CPU: no GPU",
        "mAP of the classes held out: 0.801 before, 0.833 after step 160",
        "1 photos were left out:",
        "  /album/bad.jpg: it is damaged",
        "its curve lies in /library/networks/mine",
        "'refocal networks use mine' makes it the library's own",
    ]


def test_without_held_out_classes_there_is_no_figure(run: Run, door: Door) -> None:
    door.report = replace(REPORT, map_before=None, map_after=None, failures=())
    said = run()[1]
    assert "mAP" not in said
    assert "left out" not in said


def test_json_has_the_whole_report(run: Run) -> None:
    answer = json.loads(run("--json")[1])
    assert answer["map_after"] == 0.8333
    assert answer["failures"] == [{"path": "/album/bad.jpg", "reason": "it is damaged"}]
    assert answer["folder"] == "/library/networks/mine"


def test_what_stops_a_training_is_one_line(run: Run, door: Door) -> None:
    door.error = TrainingError("the training went astray")
    assert run() == (1, "", "refocal: the training went astray\n")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--seed", "-1"], "seed"),
        (["--batch", "4"], "two classes"),
        (["--weight-decay", "nan"], "weight decay"),
        (["--bins", "1"], "2 bins"),
    ],
)
def test_settings_out_of_range_are_one_line_and_make_no_library(
    run: Run, door: Door, options: list[str], reason: str
) -> None:
    status, _, said = run(*options)
    assert status == 1
    assert len(said.splitlines()) == 1
    assert reason in said
    assert door.opened == []


def test_a_missing_folder_makes_no_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library"
    nowhere = str(tmp_path / "nowhere")
    assert main(["train", nowhere, "--as", "mine", "--library", str(library)]) == 1
    assert capsys.readouterr().err == f"refocal: there is no folder {nowhere}\n"
    assert not library.exists()


@pytest.mark.parametrize(
    "wrong", [[], ["--as", "mine", "--loss", "best"], ["--as", "mine", "--steps", "many"]]
)
def test_wrong_usage_is_said(tmp_path: Path, wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", str(tmp_path), *wrong])
    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(7.4, "0:07"), (754.0, "12:34"), (3600.0, "1:00:00"), (90061, "25:01:01")],
)
def test_time_left_of_long_trainings_has_hours(seconds: float, shown: str) -> None:
    line = describe(Progress("training", 1200, 48000, 12.34, seconds))
    assert line == f"training 1,200 of 48,000 · 12.3/s · {shown} left"


# --- several processes ----------------------------------------------------------------------


def test_of_several_processes_the_first_alone_writes_and_speaks(
    run: Run, door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "test")
    monkeypatch.setenv("RANK", "0")
    assert run()[1]
    monkeypatch.setenv("RANK", "1")
    assert run()[:2] == (0, "")
    assert door.opened == [(tmp_path / "library", True), (tmp_path / "library", False)]


def test_the_others_wait_until_the_first_has_made_the_library(
    run: Run, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "test")
    monkeypatch.setenv("RANK", "1")
    tries = []
    opened = door.open

    def late(library: Path, *, writable: bool = True) -> object:
        tries.append(1)
        if len(tries) < 3:
            raise LibraryError("there is no library yet")
        return opened(library, writable=writable)

    monkeypatch.setattr(door, "open", late)
    monkeypatch.setattr(training, "_LOOK_EVERY_S", 0.0)
    assert run()[0] == 0
    assert (len(tries), len(door.requests)) == (3, 1)
    monkeypatch.setattr(training, "_MADE_WITHIN_S", -1.0)
    tries.clear()
    assert run() == (1, "", "refocal: there is no library yet\n")


@pytest.mark.heavy
def test_torchrun_trains_a_network_of_a_new_library(tmp_path: Path) -> None:
    photos = paint_hues(tmp_path / "photos", [3, 3, 3])
    library = tmp_path / "library"
    settings = {"steps": 2, "batch": 6, "per_class": 3, "crop_px": 64, "hold_out": 0.3}
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"),
            *("-m", "app", "train", str(photos), "--as", "mine", "--library", str(library)),
            *(f"--{name.replace('_', '-')}={value}" for name, value in settings.items()),
            "--json",
        ],
        cwd=Path(__file__).parents[3],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    (said,) = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    assert json.loads(said)["steps"] == 2
    paths = LibraryPaths(library)
    assert kept_ids(paths.networks) == ("mine",)
    assert {CURVE, RECORD} <= {one.name for one in (paths.networks / "mine").iterdir()}
    assert not paths.training("mine").exists()
