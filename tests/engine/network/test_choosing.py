"""A network chosen on the command line, and remembered by the library."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.cli import main
from engine.network import fetch as fetching
from tests.engine.network.networks import with_random_weights

pytestmark = pytest.mark.heavy

SMALL = "timm:test_resnet.r160_in1k"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three small photos and a query."""
    folder = tmp_path / "photos"
    folder.mkdir()
    random = np.random.default_rng(3)
    for name in "abc":
        pixels = random.integers(0, 256, (12, 16, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((160, 120)).save(folder / f"{name}.png")
    query = {"photo": "a.png", "box": [0, 0, 100, 80], "positives": ["b.png"]}
    truth = {"photos": ["a.png", "b.png", "c.png"], "queries": [query]}
    (folder / "gt.json").write_text(json.dumps(truth))
    return folder


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:  # noqa: ANN401
    status = main([*map(str, arguments), "--json"])
    output = capsys.readouterr()
    assert status == 0, output.err
    return json.loads(output.out)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main([*map(str, arguments)]) == 1
    return capsys.readouterr().err


def test_an_evaluation_says_which_network_it_measured(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = with_random_weights(SMALL, tmp_path).weights
    chosen = ("--network", SMALL, "--weights", str(weights), "--layer", "layer3")
    report = said(capsys, "evaluate", folder, "--size", "160", *chosen)
    assert report["settings"]["network"] == SMALL
    report = said(capsys, "evaluate", folder, "--size", "160")
    assert report["settings"]["network"] == "efficientnet-lite0-ap"


def test_a_library_remembers_the_network_that_it_was_indexed_with(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = ("--library", tmp_path / "library")
    weights = with_random_weights(SMALL, tmp_path).weights
    chosen = ("--network", SMALL, "--weights", str(weights))
    assert said(capsys, "index", folder, *library, *chosen)["indexed"] == 3
    assert said(capsys, "index", folder, *library)["unchanged"] == 3
    answer = said(capsys, "search", folder / "a.png", *library)
    assert answer["network"].startswith("timm-test_resnet")
    assert {Path(hit["photo"]).name for hit in answer["hits"]} == {"b.png", "c.png"}
    deeper = refusal(capsys, "search", folder / "a.png", *library, *chosen, "--layer", "layer3")
    assert "index" in deeper, "nothing is indexed with another layer"
    assert said(capsys, "index", *library, "--network", "efficientnet-lite0")["indexed"] == 3
    assert said(capsys, "search", folder / "a.png", *library)["network"].startswith("efficientnet")


def test_a_library_whose_weights_are_gone_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = ("--library", tmp_path / "library")
    weights = with_random_weights(SMALL, tmp_path).weights
    assert weights is not None
    said(capsys, "index", folder, *library, "--network", SMALL, "--weights", str(weights))
    weights.unlink()
    assert "weights cannot be read" in refusal(capsys, "search", folder / "a.png", *library)


def test_a_network_without_weights_is_refused_with_where_they_are(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = refusal(capsys, "evaluate", folder, "--network", "vgg19")
    assert "--weights FILE" in reason
    assert "https://download.pytorch.org/models/vgg19-dcbb9e9d.pth" in reason


def test_weights_are_fetched_into_the_cache(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Path] = []

    def fetch(url: str, target: Path, **options: object) -> Path:
        asked.append(target)
        return with_random_weights("resnet50", tmp_path).weights or target

    monkeypatch.setattr(fetching, "fetch", fetch)
    chosen = ("--network", "resnet50", "--weights", "fetch")
    report = said(capsys, "evaluate", folder, "--size", "160", *chosen)
    assert report["settings"]["network"] == "resnet50"
    assert [path.name for path in asked] == ["resnet50-0676ba61.pth"]
    assert asked[0].parent.name == "weights"
