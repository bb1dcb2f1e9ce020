"""What a step of training asks of the processes that share it; alone there is nothing to ask."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, TypeVar

from torch import Tensor

from engine.errors import TrainingError

T = TypeVar("T")

Check = Callable[[str, int, int], object]
"""Told the stage and how many of all pictures are done, between micro-batches; it may wait, or
raise to end the step. `engine.jobs.Ticket.update` is one."""


class Outcome(IntEnum):
    """How a process came through a part of the step, the worst last."""

    DONE = 0
    TOO_LARGE = 1
    STOPPED = 2


class StepTooLarge(Exception):
    """Memory ran out where only a new beginning with smaller micro-batches is exact."""

    def __init__(self, micro_batch: int) -> None:
        super().__init__()
        self.micro_batch = micro_batch


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """Of all processes, in their order: ``descriptors`` (B, C) and ``classes`` (B,). The own ones
    begin at row ``first``."""

    descriptors: Tensor
    classes: Tensor
    first: int


class Group(Protocol):
    """The processes that share a step. Each method is called by all of them at the same point."""

    def gather(self, descriptors: Tensor, classes: Tensor) -> Gathered:
        """Each gives (n, C) and (n,) and gets all; n may differ, and be 0."""
        ...

    def total(
        self, parameters: Sequence[Tensor], gradients: list[Tensor | None]
    ) -> list[Tensor | None]:
        """The sums over processes; None where no process has a gradient."""
        ...

    def agree(self, outcome: Outcome, micro_batch: int) -> tuple[Outcome, int]:
        """The worst outcome of all, and the smallest micro-batch."""
        ...


class Alone:
    """A group of this process only."""

    def gather(self, descriptors: Tensor, classes: Tensor) -> Gathered:
        """What is given."""
        return Gathered(descriptors, classes, 0)

    def total(
        self, parameters: Sequence[Tensor], gradients: list[Tensor | None]
    ) -> list[Tensor | None]:
        """What is given."""
        return gradients

    def agree(self, outcome: Outcome, micro_batch: int) -> tuple[Outcome, int]:
        """What is given."""
        return outcome, micro_batch


_NO_LIMIT = 2**31 - 1


def together(group: Group, work: Callable[[], T]) -> T:
    """What the work gives, once all processes have done theirs: none is left waiting for one that
    stopped.

    Raises:
        StepTooLarge: some process had too little memory.
        TrainingError: another process stopped. What stops this one goes on as it is.
    """
    try:
        result = work()
    except StepTooLarge as too_large:
        mine, limit = Outcome.TOO_LARGE, too_large.micro_batch
        worst, limit = group.agree(mine, limit)
    except BaseException:
        group.agree(Outcome.STOPPED, _NO_LIMIT)
        raise
    else:
        worst, limit = group.agree(Outcome.DONE, _NO_LIMIT)
    if worst is Outcome.STOPPED:
        raise TrainingError("another process of the training stopped")
    if worst is Outcome.TOO_LARGE:
        raise StepTooLarge(limit)
    return result
