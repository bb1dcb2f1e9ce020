"""Files of weights as they occur, and files that are none."""

import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from engine.errors import NetworkError
from engine.network.weights import fill, read

TENSORS = {"a.weight": torch.arange(6.0).reshape(2, 3), "a.bias": torch.ones(2)}


def same(got: dict[str, Tensor], expected: dict[str, Tensor]) -> bool:
    return got.keys() == expected.keys() and all(
        torch.equal(got[key], expected[key]) for key in got
    )


@pytest.mark.parametrize(
    "content",
    [
        TENSORS,
        {"state_dict": TENSORS, "epoch": 3},
        {"model": TENSORS},
        {f"module.{name}": tensor for name, tensor in TENSORS.items()},
        {"state_dict": {f"module.{name}": tensor for name, tensor in TENSORS.items()}},
    ],
)
def test_what_torch_saves_is_read(tmp_path: Path, content: object) -> None:
    torch.save(content, tmp_path / "a.pth")
    torch.save(content, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    assert same(read(tmp_path / "a.pth"), TENSORS)
    assert same(read(tmp_path / "old.pth"), TENSORS)


def test_safetensors_are_read(tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "a.safetensors")
    assert same(read(tmp_path / "a.safetensors"), TENSORS)


class Runs:
    """Writes a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trace,)


def test_code_in_a_file_is_not_run(tmp_path: Path) -> None:
    trace = tmp_path / "was run"
    torch.save({"a": Runs(trace)}, tmp_path / "bad.pth")
    with pytest.raises(NetworkError, match="no weights that can be read"):
        read(tmp_path / "bad.pth")
    assert not trace.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.pth", b""),
        ("text.pth", b"<html>404</html>"),
        ("cut.pth", b"PK\x03\x04 cut off"),
        ("numbers.pth", pickle.dumps([1, 2, 3], protocol=2)),
        ("empty.safetensors", b""),
        ("text.safetensors", b"<html>404</html>"),
    ],
)
def test_what_holds_no_weights_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NetworkError, match=name):
        read(tmp_path / name)


@pytest.mark.parametrize("content", [{}, [TENSORS], {"a": 1}, {"state_dict": {"a": "b"}}])
def test_other_data_is_no_weights(tmp_path: Path, content: object) -> None:
    torch.save(content, tmp_path / "a.pth")
    with pytest.raises(NetworkError, match=r"a.pth holds no weights"):
        read(tmp_path / "a.pth")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("no.pth", "no.safetensors"):
        with pytest.raises(NetworkError, match=rf"cannot be read.*{name}"):
            read(tmp_path / name)


def model() -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4))


def filled(given: dict[str, Tensor], names: set[str] | None = None) -> nn.Sequential:
    empty = model()
    whole = names or set(empty.state_dict())
    fill(empty, given, names=whole, file="f.pth", backbone="tiny")
    return empty


def test_weights_are_taken_and_counters_are_no_matter() -> None:
    given = {k: v for k, v in model().state_dict().items() if "num_batches" not in k}
    halves = {k: v.half() for k, v in given.items()}
    full = filled(halves)
    weight = full.state_dict()["0.weight"]
    assert weight.dtype == torch.float32
    assert torch.equal(weight, halves["0.weight"].float())
    full(torch.zeros(1, 3, 2, 2))


def test_what_the_rest_of_the_network_has_is_passed_over() -> None:
    given = dict(model().state_dict()) | {"fc.weight": torch.zeros(7, 4)}
    filled(given, {*given})
    with pytest.raises(NetworkError, match=r"'fc\.weight', which tiny does not have"):
        filled(given)


def test_weights_that_lack_one_or_have_another_shape_are_refused() -> None:
    given = dict(model().state_dict())
    with pytest.raises(NetworkError, match=r"lacks '1\.bias' of tiny"):
        filled({k: v for k, v in given.items() if k != "1.bias"})
    with pytest.raises(NetworkError, match=r"0\.weight is \(4, 9, 1, 1\), but that of tiny is"):
        filled(given | {"0.weight": torch.zeros(4, 9, 1, 1)})
