"""Checkpoints of others, made in their formats: what each part of them becomes."""

import io
import pickle
import sys
import zipfile
from collections import OrderedDict, defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.errors import NetworkError
from engine.network.checkpoint import Checkpoint, read_checkpoint
from engine.pickled.reading import load
from engine.pickled.tensors import CHECKPOINT, PcaRecord
from tests.engine.network.checkpoints import DIM, fitted_pca, linear, old_scikit_learn, save_ap_gem

SMALL = OrderedDict({"conv1.weight": torch.arange(6.0).reshape(1, 2, 3), "bn1.bias": torch.ones(2)})


def read(path: Path) -> Checkpoint:
    with path.open("rb") as stream:
        return read_checkpoint(stream, path.stat().st_size)


def state(prefix: str = "module.", *, fc: bool = True, counters: bool = True) -> dict[str, Tensor]:
    """A small state dictionary with the names of AP-GeM's."""
    weight, bias = linear(dim_in=5)
    found = SMALL | {"adpool.p": torch.tensor([2.5])}
    if fc:
        found |= {"fc.weight": weight, "fc.bias": bias}
    if counters:
        found |= {"bn1.num_batches_tracked": torch.tensor(7)}
    return {prefix + name: value for name, value in found.items()}


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("prefix", ["", "module."])
@pytest.mark.parametrize("counters", [True, False])
def test_an_ap_gem_checkpoint(legacy: bool, prefix: str, counters: bool, tmp_path: Path) -> None:
    path = tmp_path / "Resnet-50-AP-GeM.pt"
    save_ap_gem(path, state=state(prefix, counters=counters), legacy=legacy)
    found = read(path)
    assert found.architecture == "resnet50"
    assert found.gem_p == 2.5
    assert found.mean is None
    assert list(found.weights) == list(SMALL)
    for name, value in SMALL.items():
        assert np.array_equal(found.weights[name], value.numpy())
    assert found.licence is not None
    assert "BSD-3-Clause" in found.licence
    head = found.head
    assert head is not None
    assert head.linear is not None
    assert head.whitening is not None
    assert not head.unit_first
    weight, bias = linear(dim_in=5)
    assert np.array_equal(head.linear.weight, weight.numpy())
    assert np.array_equal(head.linear.bias, bias.numpy())
    assert head.whitening.exponent == 0.25
    assert head.whitening.floor == 0
    assert (head.dim_in, head.dim_out) == (5, DIM - 4)


def test_the_file_needs_no_scikit_learn_of_then(tmp_path: Path) -> None:
    save_ap_gem(tmp_path / "a.pt", state=state())
    assert b"sklearn.decomposition.pca" in (tmp_path / "a.pt").read_bytes()
    assert "sklearn.decomposition.pca" not in sys.modules
    assert read(tmp_path / "a.pt").head is not None
    assert "sklearn.decomposition.pca" not in sys.modules


def test_options_of_the_head(tmp_path: Path) -> None:
    def head_of(**options: object) -> object:
        save_ap_gem(tmp_path / "a.pt", state=state(), options=options, pca=False)
        return read(tmp_path / "a.pt").head

    normed = head_of(norm_features=True)
    assert getattr(normed, "unit_first") is True  # noqa: B009
    assert head_of(without_fc=True) is None


def test_what_may_be_missing_and_what_may_be_there(tmp_path: Path) -> None:
    moments = {"exp_avg": torch.zeros(3), "step": 5}
    save_ap_gem(
        tmp_path / "a.pt",
        state=state(fc=False),
        pca=False,
        preprocess={"mean": [0.5, 0.4, 0.3], "std": (0.1, 0.2, 0.3), "input_size": (3, 800, 800)},
        epoch=3,
        iter=200,
        current_iter=7,
        optimizer={"state": defaultdict(dict, {0: moments}), "param_groups": [{"lr": 1e-4}]},
    )
    found = read(tmp_path / "a.pt")
    assert found.head is None
    assert found.mean == (0.5, 0.4, 0.3)
    assert found.std == (0.1, 0.2, 0.3)


def test_a_set_exponent_counts_where_none_was_learned(tmp_path: Path) -> None:
    bare = {name: value for name, value in state().items() if not name.endswith("adpool.p")}
    save_ap_gem(tmp_path / "a.pt", state=bare, options={"gemp": 4})
    assert read(tmp_path / "a.pt").gem_p == 4


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("legacy", [True, False])
def test_a_zip_archive_round_it(packed: int, legacy: bool, tmp_path: Path) -> None:
    save_ap_gem(tmp_path / "Resnet.pt", state=state(), legacy=legacy)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", packed) as archive:
        archive.write(tmp_path / "Resnet.pt", "Resnet.pt")
        archive.writestr("__MACOSX/._Resnet.pt", b"\0\5\x16\7")
        archive.writestr("readme.txt", b"hello")
    found, plain = read(tmp_path / "a.zip"), read(tmp_path / "Resnet.pt")
    assert found.gem_p == plain.gem_p
    assert list(found.weights) == list(plain.weights)


@pytest.mark.parametrize("protocol", [0, 1, 2])
def test_python_2_wrote_other_names(protocol: int) -> None:
    """Of modules, and all strings as bytes; protocols 0 and 1 make an object by copy_reg."""
    with old_scikit_learn() as made:
        content = {"pca": {"Landmarks_clean": fitted_pca(made, 4, 3)}, "names": {"a", "b"}}
        written = pickle.dumps(content, protocol, fix_imports=True)
    assert b"builtins\n" not in written
    assert b"__builtin__" in written
    found = load(io.BytesIO(written), len(written), CHECKPOINT)
    assert isinstance(found, dict)
    pca = found["pca"]["Landmarks_clean"]
    assert isinstance(pca, PcaRecord)
    assert pca.components.shape == (3, 4)
    assert sorted(found["names"]) == ["a", "b"]


@pytest.mark.parametrize("whiten", [True, False])
def test_a_pca_that_does_not_whiten_turns_only(whiten: bool, tmp_path: Path) -> None:
    with old_scikit_learn() as made:
        pca = fitted_pca(made, DIM, 3, whiten=whiten)
        save_ap_gem(tmp_path / "a.pt", state=state(), pca={"other": pca})
    head = read(tmp_path / "a.pt").head
    assert head is not None
    assert head.whitening is not None
    assert head.whitening.exponent == (0.25 if whiten else 0)
    assert head.whitening.name == "other"


# --- Radenović ------------------------------------------------------------------------------


def radenovic(path: Path, *, whiten: bool, meta: dict[str, object] | None = None) -> None:
    random = np.random.default_rng(3)
    facts: dict[str, object] = {
        "architecture": "resnet101",
        "local_whitening": False,
        "pooling": "gem",
        "regional": False,
        "whitening": whiten,
        "mean": [0.485, 0.456, 0.406],
        "std": [0.229, 0.224, 0.225],
        "outputdim": 5,
        "Lw": {
            name: {
                kind: {"m": random.normal(size=(5, 1)), "P": random.normal(size=(4, 5))}
                for kind in ("ms", "ss")
            }
            for name in ("retrieval-SfM-30k", "retrieval-SfM-120k")
        },
    }
    tensors = {
        "features.0.weight": torch.ones(1),
        "features.1.running_mean": torch.ones(2),
        "features.4.0.conv1.weight": torch.ones(3),
        "features.7.2.bn3.bias": torch.ones(4),
        "pool.p": torch.tensor([2.9]),
    }
    if whiten:
        tensors |= {"whiten.weight": torch.ones(3, 5), "whiten.bias": torch.ones(3)}
    torch.save({"meta": facts | (meta or {}), "state_dict": tensors}, path)


def test_names_of_radenovic(tmp_path: Path) -> None:
    radenovic(tmp_path / "a.pth", whiten=False)
    found = read(tmp_path / "a.pth")
    assert list(found.weights) == [
        "conv1.weight",
        "bn1.running_mean",
        "layer1.0.conv1.weight",
        "layer4.2.bn3.bias",
    ]
    assert found.architecture == "resnet101"
    assert found.gem_p == pytest.approx(2.9)
    assert found.mean == (0.485, 0.456, 0.406)


def test_a_learned_whitening_is_its_equation(tmp_path: Path) -> None:
    radenovic(tmp_path / "a.pth", whiten=False)
    head = read(tmp_path / "a.pth").head
    assert head is not None
    random = np.random.default_rng(3)
    drawn = [(random.normal(size=(5, 1)), random.normal(size=(4, 5))) for _ in range(4)]
    m, p = drawn[3]  # of the larger set and a single scale
    x = np.abs(np.random.default_rng(9).normal(size=5))
    x /= np.linalg.norm(x)
    expected = p @ (x[:, None] - m)
    expected = (expected / np.linalg.norm(expected)).ravel()
    assert head.apply(x[None])[0] == pytest.approx(expected, abs=1e-5)


def test_a_whitening_layer_comes_first(tmp_path: Path) -> None:
    radenovic(tmp_path / "a.pth", whiten=True)
    head = read(tmp_path / "a.pth").head
    assert head is not None
    assert head.linear is not None
    assert head.whitening is None
    assert head.unit_first


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        ({"pooling": "mac"}, "'mac'"),
        ({"regional": True}, "before pooling"),
        ({"local_whitening": True}, "before pooling"),
        ({"std": [0, 1, 1]}, "divides by 0"),
        ({"mean": [1, 2]}, "three colours"),
        ({"Lw": {"x": {"ms": {}}}}, "single-scale"),
        ({"Lw": {"x": {"ss": {"m": 1}}}}, "no m or no P"),
        ({"Lw": {"x": {"ss": {"m": np.ones(3), "P": np.ones((2, 2))}}}}, "P (2, 2)"),
    ],
)
def test_what_is_not_known_is_said(meta: dict[str, object], reason: str, tmp_path: Path) -> None:
    radenovic(tmp_path / "a.pth", whiten=False, meta=meta)
    with pytest.raises(NetworkError) as caught:
        read(tmp_path / "a.pth")
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    "options", [{"pooling": "max"}, {"arch": "vgg16"}, {"center_bias": 1}, {"gemp": "three"}]
)
def test_options_that_are_not_known(options: dict[str, object], tmp_path: Path) -> None:
    bare = {name: value for name, value in state().items() if not name.endswith("adpool.p")}
    save_ap_gem(tmp_path / "a.pt", state=bare, options=options)
    with pytest.raises(NetworkError, match="no network that can be read"):
        read(tmp_path / "a.pt")


def test_a_pca_without_its_parts(tmp_path: Path) -> None:
    with old_scikit_learn() as made:
        for broken in ({}, {"mean_": np.ones(3)}, {"components_": np.ones((2, 2))}):
            pca = fitted_pca(made, DIM, 3)
            vars(pca).update(broken)
            if not broken:
                vars(pca).clear()
                vars(pca)["whiten"] = True
            save_ap_gem(tmp_path / "a.pt", state=state(), pca={"x": pca})
            with pytest.raises(NetworkError, match="PCA"):
                read(tmp_path / "a.pt")
