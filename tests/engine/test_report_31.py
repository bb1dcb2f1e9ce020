"""31: Weights could not be had behind a proxy; cached ones still called home; a failed load
deleted the cache.

A person carries a file to a machine without a network and imports it; nothing calls anywhere, what
is damaged is named by its checksum, and no file that was good is ever deleted.
"""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from engine.cli.main import main
from tests.engine.network.networks import random_state

pytestmark = [pytest.mark.heavy, pytest.mark.shared_workers]

NETWORK = "timm:test_resnet"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def refocal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """``refocal ARGUMENTS`` on a library of its own, on a machine without any connection."""

    def no_connection(*_: object) -> None:
        raise AssertionError("something called out")

    monkeypatch.setattr(socket.socket, "connect", no_connection)
    monkeypatch.setattr(socket, "getaddrinfo", no_connection)

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        library = ["--library", str(tmp_path / "library")]
        status = main([*map(str, arguments), *library])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.pth"
    torch.save(random_state(NETWORK), path)
    return path


@pytest.fixture
def album(tmp_path: Path) -> Path:
    folder = tmp_path / "album"
    folder.mkdir()
    for seed in range(3):
        pixels = np.random.default_rng(seed).integers(0, 256, (96, 128, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{seed}.png")
    return folder


def test_a_carried_file_is_used_without_a_connection(
    refocal: Run, weights: Path, album: Path
) -> None:
    content = weights.read_bytes()
    status, said, _ = refocal("networks", "import", weights, "--network", NETWORK, "--as", "mine")
    assert status == 0
    assert "networks use mine" in said
    assert refocal("networks", "use", "mine")[0] == 0
    assert weights.read_bytes() == content
    weights.unlink()  # the library has its own
    status, said, _ = refocal("index", album, "--json")
    assert (status, json.loads(said)["indexed"]) == (0, 3)
    status, said, _ = refocal("search", album / "1.png", "--json")
    answer = json.loads(said)
    assert status == 0
    assert answer["network"].startswith("mine-")
    assert answer["total"] == 2


def test_a_damaged_file_is_named_and_nothing_is_deleted(
    refocal: Run, weights: Path, album: Path, tmp_path: Path
) -> None:
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    status, _, reason = refocal("networks", "import", weights, "--network", NETWORK)
    assert status == 1
    assert len(reason.splitlines()) == 1
    assert weights.read_bytes() == whole[: len(whole) // 2]
    weights.write_bytes(whole)
    assert refocal("networks", "import", weights, "--network", NETWORK, "--as", "mine")[0] == 0
    kept = tmp_path / "library" / "networks" / "mine" / "weights.safetensors"
    good = kept.read_bytes()
    kept.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    status, _, reason = refocal("index", album, "--network", "mine")
    assert status == 1
    assert "no longer the file" in reason
    assert kept.exists()
    kept.write_bytes(good)
    assert refocal("index", album, "--network", "mine")[0] == 0


def test_the_way_there_and_back(refocal: Run, weights: Path, album: Path, tmp_path: Path) -> None:
    listed = refocal("networks", "list", "--json")
    assert not (tmp_path / "library").exists()
    networks = json.loads(listed[1])["networks"]
    assert all(one["shipped"] for one in networks)
    (shipped,) = [one for one in networks if one["active"]]
    count = len(networks)
    assert refocal("index", album)[0] == 0
    refocal("networks", "import", weights, "--network", NETWORK, "--as", "mine", "--licence", "MIT")
    status, said, _ = refocal("networks", "list")
    assert status == 0
    assert any(line.startswith(f"* {shipped['id']}: shipped") for line in said.splitlines())
    assert said.splitlines()[count].startswith("  mine: imported")
    assert "MIT" in said
    status, said, _ = refocal("networks", "use", "mine", "--json")
    assert json.loads(said) == {"network": "mine", "photos": 3, "seen": 0}
    status, _, reason = refocal("networks", "remove", "mine")
    assert (status, "in use with mine" in reason) == (1, True)
    assert refocal("networks", "export", "mine", tmp_path / "mine.zip")[0] == 0
    status, said, _ = refocal("networks", "use", shipped["id"], "--json")
    assert json.loads(said)["seen"] == 3  # the way back costs nothing
    assert refocal("networks", "remove", shipped["id"])[0] == 1
    assert refocal("networks", "remove", "mine")[0] == 0
    assert refocal("networks", "use", "mine")[0] == 1
    assert refocal("search", album / "1.png")[0] == 0
    assert refocal("networks", "import", tmp_path / "mine.zip", "--as", "again")[0] == 0
    again = json.loads(refocal("networks", "list", "--json")[1])["networks"][count]
    assert (again["id"], again["licence"]) == ("again", "MIT")


def test_a_kept_network_has_its_own_weights(refocal: Run, weights: Path, album: Path) -> None:
    refocal("networks", "import", weights, "--network", NETWORK, "--as", "mine")
    status, _, reason = refocal("index", album, "--network", "mine", "--weights", weights)
    assert status == 1
    assert "has its own weights" in reason
