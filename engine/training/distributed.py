"""One step of training by several processes, with the result that one would have.

Each process describes pictures of its own; descriptors and classes are gathered, every process
computes the loss on all of them and takes its own rows of the gradient back through its own
pictures, and the gradients are summed: the three stages of Revaud et al. 2019, section 3.3, hold
for any share of the pictures. Imports torch.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import Tensor, nn

from engine.training.together import Gathered, Outcome
from engine.training.torchrun import local_rank, started_by_torchrun


class Ranks:
    """The processes of a torch process group; all have the same weights, see `same_weights`.

    Args:
        device: where the backend exchanges tensors: a CUDA device for nccl, the CPU for gloo.
        group: None: the default group.
    """

    def __init__(self, device: torch.device, group: dist.ProcessGroup | None = None) -> None:
        self._device = device
        self._group = group
        self._rank = dist.get_rank(group)
        self._count = dist.get_world_size(group)

    def gather(self, descriptors: Tensor, classes: Tensor) -> Gathered:
        """Rows of all processes in their order; each may have another number of them, or none."""
        own = torch.tensor([len(descriptors), descriptors.shape[1]], device=self._device)
        sizes = torch.stack(self._exchanged(own)).tolist()
        counts = [count for count, _ in sizes]
        width = max(columns for _, columns in sizes)
        rows = descriptors.new_zeros(max(counts), width)
        rows[: len(descriptors), : descriptors.shape[1]] = descriptors
        labels = classes.new_zeros(max(counts))
        labels[: len(classes)] = classes
        return Gathered(
            self._joined(rows, counts), self._joined(labels, counts), sum(counts[: self._rank])
        )

    def total(
        self, parameters: Sequence[Tensor], gradients: list[Tensor | None]
    ) -> list[Tensor | None]:
        """Sums over processes; one without a gradient, because it has no picture, adds nothing."""
        has = torch.tensor([one is not None for one in gradients], dtype=torch.uint8)
        has = has.to(self._device)
        dist.all_reduce(has, op=dist.ReduceOp.MAX, group=self._group)
        summed: list[Tensor | None] = []
        for parameter, own, anywhere in zip(parameters, gradients, has.tolist(), strict=True):
            if not anywhere:
                summed.append(None)
                continue
            value = torch.zeros_like(parameter) if own is None else own
            value = value.contiguous()
            dist.all_reduce(value, group=self._group)
            summed.append(value)
        return summed

    def agree(self, outcome: Outcome, micro_batch: int) -> tuple[Outcome, int]:
        """The worst outcome, and the smallest micro-batch."""
        said = torch.tensor([int(outcome), -micro_batch], device=self._device)
        dist.all_reduce(said, op=dist.ReduceOp.MAX, group=self._group)
        worst, negative = said.tolist()
        return Outcome(worst), -negative

    def _exchanged(self, own: Tensor) -> list[Tensor]:
        got = [torch.empty_like(own) for _ in range(self._count)]
        dist.all_gather(got, own, group=self._group)
        return got

    def _joined(self, padded: Tensor, counts: list[int]) -> Tensor:
        parts = self._exchanged(padded)
        return torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)])


def same_weights(model: nn.Module, group: dist.ProcessGroup | None = None) -> None:
    """Give every process the weights and buffers of the first one."""
    first = dist.get_global_rank(group, 0) if group is not None else 0
    with torch.no_grad():
        for value in (*model.parameters(), *model.buffers()):
            sent = value.contiguous()
            dist.broadcast(sent, src=first, group=group)
            value.copy_(sent)


@contextmanager
def under_torchrun(device: torch.device) -> Iterator[Ranks | None]:
    """The processes that torchrun started, joined for the block; None where it started none.

    nccl for CUDA devices, of which each process of a machine gets its own, else gloo.
    """
    if not started_by_torchrun():
        yield None
        return
    if device.type == "cuda":
        torch.cuda.set_device(local_rank())
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Ranks(device)
    finally:
        dist.destroy_process_group()
