"""Whole comparisons of painted scenes, by a network without weights."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.comparing import job
from engine.comparing.extraction import Extraction
from engine.comparing.job import QUERY_SCALES, CompareRequest, Sweep, compare
from engine.comparing.material import Material, gather
from engine.comparing.table import Row, Table
from engine.config import Aggregation, Expansion
from engine.errors import FolderError, GroundTruthError, SettingsError
from engine.evaluation.groundtruth import GroundTruth
from engine.jobs import Cancelled, Ticket
from tests.engine.comparing.conftest import PaintedRuntime
from tests.engine.searching.conftest import RED_AND_GREEN, RED_PLACES, paint_scene

SIZE_PX = 192


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "evaluation_cache", lambda: tmp_path / "cache")


def _table(
    truth: GroundTruth,
    *,
    sweep: Sweep | None = None,
    whitening_from: Path | None = None,
    distractors: tuple[Path, ...] = (),
) -> Table:
    request = CompareRequest(
        truth.folder,
        sweep=sweep,
        size_px=SIZE_PX,
        whitening_from=whitening_from,
        distractors=distractors,
    )
    return compare(request, Ticket(), runtime=PaintedRuntime())


@pytest.fixture
def strangers(tmp_path: Path) -> Path:
    """Twelve scenes that nobody compares."""
    folder = tmp_path / "strangers"
    for n in range(12):
        paint_scene(folder / f"{n}.png", seed=400 + n, thing=RED_AND_GREEN, at=RED_PLACES[n % 3])
    return folder


def _row(table: Table, method: str, expansion: Expansion = Expansion.NONE) -> Row:
    (row,) = (row for row in table.rows if row.method == method and row.expansion is expansion)
    return row


def test_a_table_has_every_method(scenes: GroundTruth) -> None:
    table = _table(scenes)
    assert (table.dataset, table.queries, table.photos, table.failed) == ("scenes", 2, 8, 0)
    # 8 photos, and 2 boxes at 3 scales.
    assert table.passes == 14
    plain = [row.method for row in table.rows if row.expansion is Expansion.NONE]
    assert len(plain) == len(set(plain)) == 5 + 5 * 8 + 1
    assert {row.aggregation for row in table.rows} == set(Aggregation)
    # Five re-rankings are no best region, and each is expanded in two ways.
    assert len(table.rows) == len(plain) + 5 * 5 * 2
    assert len(table.left_out) == 1
    assert "--whitening-from" in table.left_out[0]


def test_a_thing_of_its_own_colours_is_found_first(scenes: GroundTruth) -> None:
    """By parts of the photos; the muddle round it has a say in a descriptor of all."""
    table = _table(scenes)
    for name in ("best region (OSPP, gem)", "best region (OSPP, max)", "the default"):
        row = _row(table, f"gem + {name}")
        assert row.map == 1.0
        assert row.pointing == 1.0
        assert row.iou is not None
        assert row.iou > 0.35
    assert all(row.pointing is None for row in table.rows if not row.reranking)


def test_bytes_are_those_of_the_features(scenes: GroundTruth) -> None:
    """Maps are 16 × 24 cells: 20 squares of a pyramid of three levels."""
    table = _table(scenes)
    assert _row(table, "gem").bytes_per_photo == 27 * 2
    assert _row(table, "gem + QAM (OSPP, gem)").bytes_per_photo == 27 * 2 * (1 + 20)
    assert _row(table, "gem").pooling == "gem / gem"
    assert _row(table, "gem + QAM (OSPP, max)").pooling == "r-mac / max"
    assert _row(table, "gem + QAM (OSPP, max)").seconds > _row(table, "gem").seconds > 0


def test_a_second_run_has_no_passes_and_the_same_figures(scenes: GroundTruth) -> None:
    first = _table(scenes)
    runtime = PaintedRuntime()
    request = CompareRequest(scenes.folder, size_px=SIZE_PX)
    second = compare(request, Ticket(), runtime=runtime)
    assert (second.passes, runtime.networks) == (0, 0)
    assert [row.map for row in second.rows] == [row.map for row in first.rows]


def test_whitened_rows(scenes: GroundTruth, strangers: Path) -> None:
    table = _table(scenes, whitening_from=strangers)
    assert table.left_out == ()
    whitened = [row for row in table.rows if row.whitened]
    assert {row.aggregation for row in whitened} == set(Aggregation)
    assert len(whitened) == 5 + 5 * 8 + 5 * 5 * 2
    assert _row(table, "gem, whitened").bytes_per_photo < 27 * 2  # 12 photos have 11 axes at most
    assert table.settings["whitening"] == "strangers, exponent 0.5"


def test_whitening_from_what_is_compared_is_refused(scenes: GroundTruth, strangers: Path) -> None:
    shutil.copy(scenes.folder / "red_1.png", strangers / "another name.png")
    with pytest.raises(SettingsError, match=r"1 of the photos .*another name\.png"):
        _table(scenes, whitening_from=strangers)


def test_folders_that_are_not_there(scenes: GroundTruth, tmp_path: Path) -> None:
    with pytest.raises(FolderError):
        _table(scenes, whitening_from=tmp_path / "gone")
    with pytest.raises(FolderError):
        _table(scenes, distractors=(tmp_path / "gone",))
    with pytest.raises(GroundTruthError):
        compare(CompareRequest(tmp_path), Ticket())


def test_distractors_are_ranked(scenes: GroundTruth, strangers: Path) -> None:
    shutil.copy(scenes.folder / "red_1.png", strangers / "a copy.png")
    table = _table(scenes, distractors=(strangers,))
    assert table.photos == 8 + 12
    assert table.settings["distractors"] == 12
    assert _row(table, "gem").map < _row(_table(scenes), "gem").map


def test_a_sweep_of_query_scales_passes_each_crop_once(
    scenes: GroundTruth, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def gather_noted(
        truth: GroundTruth,
        extraction: Extraction,
        *,
        distractors: Sequence[Path],
        query_scale: float,
        part_scales: Sequence[float],
    ) -> Material:
        asked.append((query_scale, *part_scales))
        return gather(truth, extraction, query_scale=query_scale, part_scales=part_scales)

    monkeypatch.setattr(job, "gather", gather_noted)
    table = _table(scenes, sweep=Sweep.QUERY_SCALE)
    assert table.passes == 8 + 2 * len(QUERY_SCALES)
    assert list(dict.fromkeys(row.setting for row in table.rows)) == [
        "0.35", "0.5", "0.7", "1", "1.4", "2",
    ]  # fmt: skip
    assert len(table.rows) == 6 * 7
    assert asked == [(scale, scale) for scale in QUERY_SCALES]
    assert "query_scale" not in table.settings
    assert [claim.claim.partition(":")[0] for claim in table.claims][:2] == [
        "best query-scale for spoc",
        "best query-scale for r-mac",
    ]


def test_a_sweep_of_sizes_passes_each_photo_at_each_size(
    scenes: GroundTruth, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No scene is larger than 384 pixels, and none is enlarged."""
    monkeypatch.setattr(job, "SIZES_PX", (128, 384, 768))
    table = _table(scenes, sweep=Sweep.SIZE)
    assert table.passes == 3 * (8 + 2 * 3)
    by_size = {row.setting: row.map for row in table.rows if row.method == "gem"}
    assert list(by_size) == ["128 px", "384 px", "768 px"]
    assert by_size["384 px"] == by_size["768 px"]


def test_a_sweep_of_k(scenes: GroundTruth) -> None:
    table = _table(scenes, sweep=Sweep.K)
    assert [row.setting for row in table.rows] == [
        *(str(k) for k in (5, 10, 25, 50, 100) for _ in range(2)),
        "none",
    ]
    spectral, kmeans, same = table.claims
    assert spectral.claim.startswith("best K for spectral: ")
    assert kmeans.claim.startswith("best K for k-means: ")
    # The scenes have fewer colours than 25: nothing is clustered.
    assert same.holds is True
    last = {row.setting: row.map for row in table.rows}
    assert last["25"] == last["100"] == last["none"]


def test_a_sweep_of_layers_asks_for_each(scenes: GroundTruth) -> None:
    runtime = PaintedRuntime()
    request = CompareRequest(
        scenes.folder, sweep=Sweep.LAYER, size_px=SIZE_PX, layers=("early", "late")
    )
    table = compare(request, Ticket(), runtime=runtime)
    assert runtime.layers == ["early", "late"]
    assert table.passes == 2 * 14
    assert list(dict.fromkeys(row.setting for row in table.rows)) == ["early", "late"]


def test_a_whole_photo_asks_with_its_own_map(scenes: GroundTruth) -> None:
    """Nothing passes but the photos; a copy of the query is no other photo."""
    content = json.loads((scenes.folder / "gt.json").read_text())
    shutil.copy(scenes.folder / "red_0.png", scenes.folder / "twin.png")
    query = {"photo": "red_0.png", "positives": ["red_1.png", "red_2.png"]}
    photos = [*content["photos"], "twin.png"]
    (scenes.folder / "gt.json").write_text(json.dumps({"photos": photos, "queries": [query]}))
    table = _table(scenes)
    assert (table.passes, table.photos) == (8, 8)
    assert _row(table, "gem + the default").map == 1.0
    assert all(row.pointing is None for row in table.rows)


def test_cancelling_ends_it(scenes: GroundTruth) -> None:
    ticket = Ticket()
    ticket.cancel()
    with pytest.raises(Cancelled):
        compare(CompareRequest(scenes.folder), ticket, runtime=PaintedRuntime())
