"""Two processes that train together come to the weights of one; the first alone writes.

They start once for all tests of the file and leave what came of each part in a file.
"""

import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from engine.errors import RefocalError
from engine.jobs import Cancelled, Ticket
from engine.training import checkpoint
from engine.training.checkpoint import STATE
from engine.training.distributed import Ranks, under_torchrun
from engine.training.torchrun import is_first, local_rank, started_by_torchrun
from engine.training.trainer import Share
from tests.engine.training.hues import SETTINGS, paint_hues, tiny_network, trainer_of

RANKS = 2
CPU = torch.device("cpu")
UNEVEN = replace(SETTINGS, batch=9, per_class=3, micro_batch=2)
Found = dict[str, Any]


def _trained(folder: Path, work: Path, share: Share, ticket: Ticket) -> Found:
    """What comes of a training; the second process's model begins like the first's."""
    model = tiny_network()
    trainer = trainer_of(model, folder / "photos", work, UNEVEN, share=share)
    try:
        history = trainer.run(ticket)
    except (RefocalError, Cancelled) as error:
        return {"raised": f"{type(error).__name__}: {error}"}
    weights = {name: value.detach() for name, value in model.named_parameters()}
    maps = [one.map for one in history.steps if one.map is not None]
    return {"weights": weights, "maps": maps, "losses": [one.loss for one in history.steps]}


class CancelledWhileJudging(Ticket):
    """Somebody asks the second process alone to stop, when it has begun to look."""

    def update(self, stage: str, done: int, total: int) -> None:
        if dist.get_rank() == 1 and done:
            self.cancel()
        super().update(stage, done, total)


def _full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def _parts(group: Ranks, rank: int, folder: Path) -> Found:
    share = Share(group, rank, RANKS)
    found = {"whole": _trained(folder, folder / f"work-{rank}", share, Ticket())}
    found["one is cancelled"] = _trained(
        folder, folder / "cancelled", share, CancelledWhileJudging()
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "save_file", _full)
        found["full disk"] = _trained(folder, folder / "full", share, Ticket())
    found["said"] = {"started": started_by_torchrun(), "first": is_first(), "gpu": local_rank()}
    return found


def _work(rank: int, port: int, folder: str) -> None:
    torch.set_num_threads(1)
    os.environ |= {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(RANKS),
        "TORCHELASTIC_RUN_ID": "test",
    }
    with under_torchrun(CPU) as group:
        assert group is not None
        found = _parts(group, rank, Path(folder))
    torch.save(found, Path(folder) / f"{rank}.pt")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ranks")
    paint_hues(made / "photos", [3, 1, 4, 2, 3, 3])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(_work, (port, str(made)), nprocs=RANKS)  # type: ignore[attr-defined, no-untyped-call]
    return made


def of_ranks(folder: Path, part: str) -> list[Found]:
    return [torch.load(folder / f"{rank}.pt", weights_only=True)[part] for rank in range(RANKS)]


def test_two_processes_come_to_the_weights_of_one(folder: Path) -> None:
    alone = _trained(folder, folder / "alone", Share(), Ticket())
    for found in of_ranks(folder, "whole"):
        assert found["losses"] == pytest.approx(alone["losses"], abs=1e-4)
        assert found["maps"] == pytest.approx(alone["maps"], abs=1e-3)
        for name, value in alone["weights"].items():
            torch.testing.assert_close(found["weights"][name], value, rtol=0, atol=1e-4)
    first, second = of_ranks(folder, "whole")
    for name, value in first["weights"].items():
        assert torch.equal(second["weights"][name], value)


def test_the_first_process_alone_writes(folder: Path) -> None:
    assert [one.name for one in (folder / "work-0").iterdir()] == [STATE]
    assert not (folder / "work-1").exists()


def test_when_one_is_cancelled_the_other_is_not_left_waiting(folder: Path) -> None:
    first, second = of_ranks(folder, "one is cancelled")
    assert first["raised"] == "TrainingError: another process of the training stopped"
    assert second["raised"].startswith("Cancelled")


def test_when_the_disk_is_full_the_other_is_not_left_waiting(folder: Path) -> None:
    first, second = of_ranks(folder, "full disk")
    assert "no space left" in first["raised"]
    assert second["raised"] == "TrainingError: another process of the training stopped"


def test_a_process_knows_which_it_is(folder: Path) -> None:
    first, second = of_ranks(folder, "said")
    assert first == {"started": True, "first": True, "gpu": 0}
    assert second == {"started": True, "first": False, "gpu": 1}
    assert not started_by_torchrun()
    assert is_first()
