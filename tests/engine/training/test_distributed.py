"""Several processes give the gradients that one gives.

Two processes start once for all tests of the file, since importing torch is what takes the time;
they work through the parts and leave in a file what came of each.
"""

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor, nn

from engine.errors import TrainingError
from engine.training.distributed import Ranks, same_weights, under_torchrun
from engine.training.three_stage import three_stage
from tests.engine.training.small import (
    Noisy,
    assert_equal,
    classes_of,
    dense_loss,
    gradients_of,
    small_network,
)
from tests.engine.training.test_three_stage import with_dropout

RANKS = 2
CPU = torch.device("cpu")
Found = dict[str, Any]


def share(counts: tuple[int, ...], rank: int) -> tuple[Noisy, Tensor]:
    """A process's part of a batch, and its classes."""
    first, count = sum(counts[:rank]), counts[rank]
    return Noisy(count, first=first), classes_of(sum(counts))[first : first + count]


# --- what each process does -----------------------------------------------------------------


def _step(group: Ranks, rank: int, counts: tuple[int, int]) -> Found:
    model = small_network(train_norms=True)
    batch, classes = share(counts, rank)
    report = three_stage(model, batch, classes, dense_loss, micro_batch=2, group=group)
    return {"gradients": gradients_of(model), "loss": report.loss, "pictures": report.pictures}


class Own(Exception):
    """What stops the second process."""


def _one_stops(group: Ranks, rank: int) -> Found:
    model, raised = small_network(), []
    batch, classes = share((4, 4), rank)
    for stops_in in ("describing", "learning", "never"):

        def check(stage: str, done: int, _total: int, stops_in: str = stops_in) -> None:
            if rank == 1 and (stage, done) == (stops_in, 2):
                raise Own

        try:
            three_stage(model, batch, classes, dense_loss, micro_batch=2, group=group, check=check)
        except (Own, TrainingError) as error:
            raised.append(type(error).__name__)
            assert all(one is None for one in gradients_of(model).values())
    return {"gradients": gradients_of(model), "raised": raised}


class Lacks(nn.Module):
    """Runs out of memory for more than two pictures."""

    def forward(self, maps: Tensor) -> Tensor:
        if len(maps) > 2 and maps.requires_grad:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return maps


def _one_lacks_memory(group: Ranks, rank: int) -> Found:
    model, dropout = with_dropout()
    torch.manual_seed(rank)
    if rank == 1:
        model.features = nn.Sequential(*model.features.children(), Lacks())
    batch, classes = share((4, 4), rank)
    report = three_stage(model, batch, classes, dense_loss, micro_batch=4, group=group)
    masks = torch.cat(dropout.masks[-2:])
    return {"gradients": gradients_of(model), "masks": masks, "micro_batch": report.micro_batch}


def _other_weights(rank: int) -> Found:
    model = small_network()
    model.features.to(memory_format=torch.channels_last)
    with torch.no_grad():
        for value in (*model.parameters(), *model.buffers()):
            value.add_(rank)
    same_weights(model)
    return dict(model.state_dict())


def _work(rank: int, port: int, folder: str) -> None:
    torch.set_num_threads(1)
    os.environ |= {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "RANK": str(rank),
        "WORLD_SIZE": str(RANKS),
        "TORCHELASTIC_RUN_ID": "test",
    }
    with under_torchrun(CPU) as group:
        assert group is not None
        found = {
            "uneven": _step(group, rank, (7, 4)),
            "one has none": _step(group, rank, (0, 11)),
            "one stops": _one_stops(group, rank),
            "one lacks memory": _one_lacks_memory(group, rank),
            "other weights": _other_weights(rank),
        }
    assert not dist.is_initialized()
    torch.save(found, Path(folder) / f"{rank}.pt")


# --- what came of it ------------------------------------------------------------------------


@dataclass(frozen=True)
class Results:
    """Of both processes, by the part."""

    of_ranks: list[dict[str, Found]]

    def of(self, part: str) -> list[Found]:
        return [one[part] for one in self.of_ranks]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("ranks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(_work, (port, str(folder)), nprocs=RANKS)  # type: ignore[attr-defined, no-untyped-call]
    return Results([torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(RANKS)])


@pytest.mark.parametrize("part", ["uneven", "one has none"])
def test_two_processes_give_the_gradient_of_one(results: Results, part: str) -> None:
    model = small_network(train_norms=True)
    report = three_stage(model, Noisy(11), classes_of(11), dense_loss, micro_batch=3)
    for found in results.of(part):
        assert_equal(found["gradients"], gradients_of(model))
        assert found["loss"] == pytest.approx(report.loss)
        assert found["pictures"] == 11


def test_one_process_that_stops_does_not_leave_the_other_waiting(results: Results) -> None:
    model = small_network()
    three_stage(model, Noisy(8), classes_of(8), dense_loss, micro_batch=8)
    first, second = results.of("one stops")
    assert first["raised"] == ["TrainingError"] * 2
    assert second["raised"] == ["Own"] * 2
    for found in (first, second):  # and then they were in step with each other
        assert_equal(found["gradients"], gradients_of(model))


def test_with_dropout_all_begin_again_where_one_lacks_memory(results: Results) -> None:
    model, dropout = with_dropout()
    both = results.of("one lacks memory")
    assert [one["micro_batch"] for one in both] == [2, 2]
    dropout.fixed = torch.cat([one["masks"] for one in both])
    three_stage(model, Noisy(8), classes_of(8), dense_loss, micro_batch=8)
    for found in both:
        assert_equal(found["gradients"], gradients_of(model))


def test_all_begin_with_the_weights_of_the_first(results: Results) -> None:
    for found in results.of("other weights"):
        for name, value in small_network().state_dict().items():
            assert torch.equal(found[name], value), name


def test_without_torchrun_there_is_no_group() -> None:
    with under_torchrun(CPU) as group:
        assert group is None
