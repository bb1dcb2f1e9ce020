"""Where a training stands, kept whole or not at all."""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from engine.errors import TrainingError
from engine.training.checkpoint import STATE, Checkpoint, State, restore, trained
from engine.training.model import TrainableNetwork
from engine.training.progress import History, StepRecord
from tests.engine.training.hues import tiny_network

HISTORY = History(0.25, (StepRecord(1, 0.5, 1e-4, 3.01, 2.5, 1.25, 0.75),), 1)


def optimiser_of(model: TrainableNetwork) -> torch.optim.Adam:
    return torch.optim.Adam(model.parameter_groups(lr=0.01, p_lr=0.1, weight_decay=0.0))


def stepped(model: TrainableNetwork, optimiser: torch.optim.Adam, steps: int = 1) -> None:
    random = torch.Generator().manual_seed(4)
    for _ in range(steps):
        optimiser.zero_grad()
        rows = model(torch.randn(3, 3, 24, 24, generator=random))
        torch.autograd.backward((rows[0] * rows[1]).sum() - (rows[1] * rows[2]).sum())
        optimiser.step()


def kept(folder: Path, setup: str = "one") -> tuple[TrainableNetwork, torch.optim.Adam, State]:
    model = tiny_network()
    optimiser = optimiser_of(model)
    stepped(model, optimiser)
    state = State(HISTORY, trained(model))
    stepped(model, optimiser)
    Checkpoint(folder, setup).save(model, optimiser, state)
    return model, optimiser, state


def test_what_was_kept_comes_back_to_the_bit(tmp_path: Path) -> None:
    model, optimiser, state = kept(tmp_path / "work")
    again = tiny_network(seed=1)
    remembered = optimiser_of(again)
    found = Checkpoint(tmp_path / "work", "one").load(again, remembered)
    assert found is not None
    assert found.history == HISTORY
    assert found.best.keys() == state.best.keys()
    assert all(torch.equal(found.best[name], value) for name, value in state.best.items())
    assert any(not torch.equal(found.best[name], v) for name, v in trained(model).items())
    for name, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)
    stepped(model, optimiser, 3)
    stepped(again, remembered, 3)
    for name, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)


def test_nothing_kept_is_none(tmp_path: Path) -> None:
    model = tiny_network()
    assert Checkpoint(tmp_path / "work", "one").load(model, optimiser_of(model)) is None


def test_frozen_weights_are_not_kept(tmp_path: Path) -> None:
    model = tiny_network()
    model.train_from("3")
    optimiser = optimiser_of(model)
    stepped(model, optimiser)
    Checkpoint(tmp_path, "one").save(model, optimiser, State(History(), trained(model)))
    with safe_open(tmp_path / STATE, "pt") as file:
        names = {name for name in file.keys() if name.startswith("now/")}  # noqa: SIM118
    assert names == {"now/gem_p", "now/features.3.weight", "now/features.3.bias"}
    again = tiny_network()
    again.train_from("3")
    assert Checkpoint(tmp_path, "one").load(again, optimiser_of(again)) is not None
    assert torch.equal(again.gem_p, model.gem_p)


def test_another_training_is_not_gone_on_with(tmp_path: Path) -> None:
    kept(tmp_path, "one")
    model = tiny_network(seed=1)
    with pytest.raises(TrainingError, match=r"another training.*remove it"):
        Checkpoint(tmp_path, "other").load(model, optimiser_of(model))
    for name, value in tiny_network(seed=1).state_dict().items():
        assert torch.equal(model.state_dict()[name], value)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _no_checkpoint(file: Path) -> None:
    file.write_bytes(b"a text that somebody put here" * 40)


def _a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _without(left_out: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with safe_open(file, "pt") as old:
            metadata = dict(old.metadata())
            tensors = {n: old.get_tensor(n) for n in old.keys()}  # noqa: SIM118
        metadata.pop(left_out, None)
        save_file({n: v for n, v in tensors.items() if not n.startswith(left_out)}, file, metadata)

    return change


def _history_of_another_kind(file: Path) -> None:
    with safe_open(file, "pt") as old:
        tensors = {n: old.get_tensor(n) for n in old.keys()}  # noqa: SIM118
        setup = old.metadata()["setup"]
    save_file(tensors, file, {"setup": setup, "history": '{"start": 0, "steps": [{"odd": 1}]}'})


def _other_shape(file: Path) -> None:
    with safe_open(file, "pt") as old:
        tensors = {n: old.get_tensor(n) for n in old.keys()}  # noqa: SIM118
        metadata = old.metadata()
    save_file(tensors | {"now/gem_p": torch.ones(2)}, file, metadata)


@pytest.mark.parametrize(
    "spoil",
    [
        _cut,
        _empty,
        _no_checkpoint,
        _a_folder,
        _without("history"),
        _without("setup"),
        _without("now/features.0.weight"),
        _without("best/gem_p"),
        _history_of_another_kind,
        _other_shape,
    ],
)
def test_a_damaged_file_is_said_to_be(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    kept(tmp_path)
    spoil(tmp_path / STATE)
    model = tiny_network()
    with pytest.raises(TrainingError, match=f"{STATE} is damaged; remove it"):
        Checkpoint(tmp_path, "one").load(model, optimiser_of(model))


def test_weights_of_another_shape_are_refused() -> None:
    model = tiny_network()
    weights = trained(model)
    with pytest.raises(ValueError, match="gem_p"):
        restore(model, weights | {"gem_p": torch.ones(2)})
    del weights["gem_p"]
    with pytest.raises(KeyError):
        restore(model, weights)


_ON_A_FULL_DISK = """
import resource, sys
from pathlib import Path
from engine.errors import TrainingError
from engine.training.checkpoint import Checkpoint
from tests.engine.training.test_checkpoint import HISTORY, kept, optimiser_of
from engine.training.checkpoint import State, trained
from tests.engine.training.hues import tiny_network

folder = Path(sys.argv[1])
model = tiny_network(seed=3)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    Checkpoint(folder, "one").save(model, optimiser_of(model), State(HISTORY, trained(model)))
except TrainingError as error:
    print(error.reason)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits a process as POSIX systems can")
def test_on_a_full_disk_the_state_before_stays(tmp_path: Path) -> None:
    model, _, _ = kept(tmp_path)
    before = (tmp_path / STATE).read_bytes()
    assert len(before) > 2000
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    ended = subprocess.run(
        [sys.executable, "-c", _ON_A_FULL_DISK, str(tmp_path)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(ended.stdout.splitlines()) == 1, ended.stderr
    assert f"cannot be kept in {tmp_path}: " in ended.stdout
    assert "too large" in ended.stdout
    assert [one.name for one in tmp_path.iterdir()] == [STATE]
    assert (tmp_path / STATE).read_bytes() == before
    again = tiny_network(seed=1)
    assert Checkpoint(tmp_path, "one").load(again, optimiser_of(again)) is not None
    assert torch.equal(again.gem_p, model.gem_p)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(TrainingError, match="cannot be kept"):
        kept(tmp_path / "file")


def test_what_is_forgotten_is_gone(tmp_path: Path) -> None:
    kept(tmp_path / "work")
    Checkpoint(tmp_path / "work", "one").forget()
    assert not (tmp_path / "work").exists()
