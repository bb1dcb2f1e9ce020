"""The folder of kept networks: whole or not there, and as it was said."""

import errno
import os
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.config import FeatureSettings
from engine.errors import NetworkError
from engine.features.head import Head, Linear
from engine.features.whitening import Whitening, WhiteningFit, fit
from engine.network import kept, registry
from engine.network.manifest import NetworkManifest, network_key

C = 6
KNOWN = replace(registry.manifest(registry.OFF_THE_SHELF), name="mine", dim=C, known_output=())
WEIGHTS = {"a.weight": np.arange(6, dtype=np.float32).reshape(2, 3)}
FEATURES = FeatureSettings()


def whitening(seed: int, dim: int = C) -> Whitening:
    rows = np.random.default_rng(seed).normal(size=(40, dim))
    return fit(rows, name="random", exponent=0.25, dim=dim - 2)


def linear(dim_out: int = 4) -> Linear:
    rng = np.random.default_rng(3)
    return Linear(rng.normal(size=(dim_out, C)).astype(np.float32), np.ones(dim_out, np.float32))


@pytest.mark.parametrize(
    "head", [None, Head(linear()), Head(whitening=whitening(1)), Head(linear(), whitening(2, 4))]
)
def test_a_network_comes_back_as_it_was_kept(head: Head | None, tmp_path: Path) -> None:
    made = kept.keep(tmp_path, KNOWN, WEIGHTS, head)
    assert kept.kept_ids(tmp_path) == ("mine",)
    assert kept.kept_manifest(tmp_path, "mine") == made
    assert registry.weights_file(made.weights) == tmp_path / "mine" / "weights.safetensors"
    read = registry.head_of(made)
    rows = np.random.default_rng(1).uniform(size=(3, C)).astype(np.float32)
    if head is None:
        assert read is None
        assert made.descriptor_dim == C
    else:
        assert read is not None
        assert np.array_equal(read.apply(rows), head.apply(rows))
        assert made.descriptor_dim == head.dim_out
        assert made.unit_first == head.unit_first
    assert {one.name for one in (tmp_path / "mine").iterdir()} == set(kept.files_of(made))


def test_every_part_of_the_head_changes_the_key(tmp_path: Path) -> None:
    heads = [
        None,
        Head(linear()),
        Head(linear(), unit_first=False),
        Head(whitening=whitening(1)),
        Head(whitening=whitening(2)),
    ]
    made = [
        kept.keep(tmp_path, replace(KNOWN, name=f"n{i}"), WEIGHTS, head)
        for i, head in enumerate(heads)
    ]
    keys = {network_key(replace(one, name="same"), FEATURES) for one in made}
    assert len(keys) == len(heads)
    moved = replace(made[1], origin="elsewhere", weights=replace(made[1].weights, file="/x"))
    assert network_key(moved, FEATURES) == network_key(made[1], FEATURES)


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a b", "x" * 81, "é"])
def test_names_that_are_none(name: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="cannot name a network"):
        kept.keep(tmp_path, replace(KNOWN, name=name), WEIGHTS, None)


def test_names_that_are_taken(tmp_path: Path) -> None:
    kept.keep(tmp_path, KNOWN, WEIGHTS, None)
    with pytest.raises(NetworkError, match="already"):
        kept.keep(tmp_path, KNOWN, WEIGHTS, None)
    for name in (registry.OFF_THE_SHELF, "resnet101"):
        with pytest.raises(NetworkError, match="names another network"):
            kept.keep(tmp_path, replace(KNOWN, name=name), WEIGHTS, None)


def test_a_head_of_other_channels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="takes 7 channels"):
        kept.keep(tmp_path, KNOWN, WEIGHTS, Head(whitening=whitening(1, 7)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fails_at", ["save_file", "linear_bytes", "save_whitening"])
def test_a_full_disk_leaves_nothing(
    fails_at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kept, fails_at, full)
    with pytest.raises(NetworkError, match="no space left"):
        kept.keep(tmp_path, KNOWN, WEIGHTS, Head(linear(), whitening(1, 4)))
    assert list(tmp_path.iterdir()) == []


_KEEPS_AND_IS_KILLED = """
import os, signal, sys
from pathlib import Path
from engine.network import kept
from tests.engine.network.test_kept import KNOWN, WEIGHTS
kept._sync = lambda path: os.kill(os.getpid(), signal.SIGKILL)
kept.keep(Path(sys.argv[1]), KNOWN, WEIGHTS, None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_a_kill_leaves_no_network_and_the_next_import_clears_up(tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", _KEEPS_AND_IS_KILLED, str(tmp_path)], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    assert kept.kept_ids(tmp_path) == ()
    kept.keep(tmp_path, KNOWN, WEIGHTS, None)
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


def test_removing_frees_all_of_it(tmp_path: Path) -> None:
    kept.keep(tmp_path, KNOWN, WEIGHTS, Head(linear()))
    size = kept.size_of(tmp_path, "mine")
    assert kept.forget(tmp_path, "mine") == size > 0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NetworkError, match="no network 'mine'; there are: efficientnet"):
        kept.forget(tmp_path, "mine")
    with pytest.raises(NetworkError, match="stays as it is"):
        kept.forget(tmp_path, registry.OFF_THE_SHELF)


def test_another_whitening_is_another_network(tmp_path: Path) -> None:
    before = kept.keep(tmp_path, KNOWN, WEIGHTS, Head(linear(), whitening(1, 4)))
    learning = WhiteningFit(4)
    learning.add(np.random.default_rng(8).normal(size=(30, 4)))
    learned = learning.finish(name="own photos", exponent=0.25)
    after = kept.attach_whitening(tmp_path / "mine", learned)
    assert after == kept.kept_manifest(tmp_path, "mine")
    assert network_key(after, FEATURES) != network_key(before, FEATURES)
    head = registry.head_of(after)
    assert head is not None
    assert head.linear is not None
    assert head.whitening is not None
    assert head.whitening.name == "own photos"
    assert after.descriptor_dim == learned.dim_out
    assert {one.name for one in (tmp_path / "mine").iterdir()} == set(kept.files_of(after))
    with pytest.raises(NetworkError, match="the whitening takes 7"):
        kept.attach_whitening(tmp_path / "mine", whitening(1, 7))
    assert kept.kept_manifest(tmp_path, "mine") == after


def test_a_damaged_head_is_noticed(tmp_path: Path) -> None:
    made = kept.keep(tmp_path, KNOWN, WEIGHTS, Head(whitening=whitening(1)))
    assert made.whitening is not None
    path = tmp_path / "mine" / registry.whitening_name(made.whitening)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(NetworkError, match="wrong checksum"):
        registry.head_of(made)
    with pytest.raises(NetworkError, match="wrong checksum"):
        kept.export_to(tmp_path, "mine", tmp_path / "out.zip")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mine"]


def test_a_manifest_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    kept.keep(tmp_path, KNOWN, WEIGHTS, None)
    evil = replace(KNOWN, whitening="/../../../../etc/passwd")
    (tmp_path / "mine" / kept.MANIFEST).write_text(evil.to_json())
    with pytest.raises(NetworkError, match="a checksum is none"):
        kept.kept_manifest(tmp_path, "mine")


def test_an_export_holds_the_folder(tmp_path: Path) -> None:
    made = kept.keep(tmp_path, KNOWN, WEIGHTS, Head(linear(), whitening(1, 4)))
    size = kept.export_to(tmp_path, "mine", tmp_path / "out.zip")
    assert size == (tmp_path / "out.zip").stat().st_size
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert set(archive.namelist()) == {f"mine/{name}" for name in kept.files_of(made)}
    with pytest.raises(NetworkError, match="cannot be written"):
        kept.export_to(tmp_path, "mine", tmp_path / "none" / "out.zip")


def test_a_library_may_be_moved(tmp_path: Path) -> None:
    made = kept.keep(tmp_path / "a", KNOWN, WEIGHTS, None)
    os.rename(tmp_path / "a", tmp_path / "b")  # noqa: PTH104
    found = kept.as_kept_now(tmp_path / "b", made)
    assert Path(found.weights.file) == tmp_path / "b" / "mine" / kept.WEIGHTS
    other = replace(made, linear="0" * 64)
    assert kept.as_kept_now(tmp_path / "b", other) == other


def test_manifests_of_before_are_read() -> None:
    old = KNOWN.to_json()
    for field in ('"linear": null, ', '"length": null, ', '"origin": "", ', '"unit_first": true, '):
        assert field in old
        old = old.replace(field, "")
    assert NetworkManifest.from_json(old) == KNOWN
