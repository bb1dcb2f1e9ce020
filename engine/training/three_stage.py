"""The exact gradient of a loss on a whole batch, in the memory of a few pictures.

Revaud et al. 2019, section 3.3 ("three-stage" back-propagation):
  1. all descriptors D of the batch, without a graph;
  2. D is a leaf: the loss, and G = ∂L/∂D;
  3. micro-batch by micro-batch the descriptors once more, with a graph, and G_i back through it.
By the chain rule the sum over micro-batches is the gradient of the whole, if both passes see the
same pixels, frozen batch norms and the same dropout. Imports torch.
"""

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol, TypeVar, cast

import torch
from torch import Tensor, nn

from engine.errors import TrainingError
from engine.network.backbone import lack_of_memory
from engine.training.model import BatchNorm
from engine.training.noise import RandomState
from engine.training.pace import DESCRIBING, LEARNING
from engine.training.together import Alone, Check, Group, StepTooLarge, together

_log = logging.getLogger(__name__)
T = TypeVar("T")

# How far apart the two descriptors of a picture, rows of unit length, may lie. Kernels choose
# their order of summation by the size of a micro-batch: 1e-6 in float32, a hundredth in bfloat16.
_SAME: Final = 1e-4
_SAME_AUTOCAST: Final = 5e-2

Loss = Callable[[Tensor, Tensor], Tensor]
"""Descriptors (B, C), rows of unit length, and classes (B,) int64 in; a scalar out."""


class Batch(Protocol):
    """Pictures as the network sees them, made anew, and equal, each time that they are asked for.
    It keeps the random state of its augmentation and no pictures."""

    def __len__(self) -> int: ...

    def pixels(self, start: int, stop: int) -> Tensor:
        """(stop - start, 3, H, W), of one size."""
        ...


@dataclass(frozen=True, slots=True)
class StepReport:
    """How a step went.

    ``pictures``: of all processes. ``micro_batch``: what fitted into memory; a next step does
    well to begin with it. ``gradient_norm``: L2, over all parameters.
    """

    loss: float
    pictures: int
    micro_batch: int
    gradient_norm: float


def three_stage(
    model: nn.Module,
    batch: Batch | Sequence[Batch],
    classes: Tensor,
    loss: Loss,
    *,
    micro_batch: int,
    autocast: bool = False,
    group: Group | None = None,
    check: Check | None = None,
) -> StepReport:
    """Add the gradient of the loss on a whole batch to ``.grad``, for ONE step of an optimiser.

    If anything is raised, ``.grad`` is as it was before. When memory runs out the micro-batch is
    halved and the step goes on; where a model drew random numbers it begins again, because
    smaller micro-batches draw others.

    Args:
        model: pixels (n, 3, H, W) → descriptors (n, C), in the mode that it is in.
        batch: B pictures; those of several sizes as several batches, each of one size.
        classes: (B,) int64, in the order of the batches.
        loss: of all descriptors; with a group it sees those of all processes, in their order.
        micro_batch: pictures that pass at once, at least 1.
        autocast: convolutions in bfloat16; meant for CUDA.
        group: the processes that share the step, each with a batch of its own
            (engine.training.distributed.Ranks); None: there is this one alone.
        check: called between micro-batches.

    Raises:
        TrainingError: descriptors, the loss or gradients are not finite; a batch or the model
            gave something else in the second pass; batch norm is not frozen; one picture does not
            fit into memory; or another process of the group could not go on.
        ValueError: there is not one class for each picture, or no room for a picture.
    """
    batches = list(batch) if isinstance(batch, Sequence) else [batch]
    pictures = sum(len(one) for one in batches)
    if len(classes) != pictures or micro_batch < 1:
        raise ValueError(f"{pictures} pictures, {len(classes)} classes, {micro_batch} at once")
    step = _Step(model, batches, group or Alone(), autocast=autocast, check=check)
    while True:
        try:
            return step.run(classes, loss, micro_batch)
        except StepTooLarge as too_large:
            micro_batch = too_large.micro_batch


@dataclass(frozen=True, slots=True)
class _Span:
    """Pictures ``start``..``stop`` of one batch, whose descriptors begin at row ``row``.

    ``noise``: the random state before their first pass. ``drawn``: whether that pass used it.
    """

    batch: Batch
    start: int
    stop: int
    row: int
    noise: RandomState
    drawn: bool

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def rows(self) -> slice:
        return slice(self.row, self.row + len(self))

    def cut(self, at_most: int) -> "list[_Span]":
        return [
            replace(
                self,
                start=start,
                stop=min(start + at_most, self.stop),
                row=self.row + start - self.start,
            )
            for start in range(self.start, self.stop, at_most)
        ]


class _Step:
    """One step of one process."""

    def __init__(
        self,
        model: nn.Module,
        batches: list[Batch],
        group: Group,
        *,
        autocast: bool,
        check: Check | None,
    ) -> None:
        _demand_frozen_norms(model)
        trained = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
        if not trained:
            raise TrainingError("nothing of the network is trained: all of it is frozen")
        self._model = model
        self._batches = batches
        self._group = group
        self._names = [name for name, _ in trained]
        self._trained = [one for _, one in trained]
        self._device = self._trained[0].device
        self._autocast = autocast
        self._check = check
        self._pictures = sum(len(one) for one in batches)
        self._limit = 1

    def run(self, classes: Tensor, loss: Loss, micro_batch: int) -> StepReport:
        """One try. Raises StepTooLarge if another one with smaller micro-batches may do."""
        self._limit = micro_batch
        spans, own = together(self._group, self._described)
        gathered = self._group.gather(own, classes.to(self._device))
        if not len(gathered.classes):
            raise ValueError("a batch without a picture")

        def learn() -> tuple[float, list[Tensor | None]]:
            value, gradient = _of_the_loss(loss, gathered.descriptors, gathered.classes)
            mine = gradient[gathered.first : gathered.first + len(own)]
            return value, self._back(spans, own, mine)

        value, gradients = together(self._group, learn)
        gradients = self._group.total(self._trained, gradients)
        norm = self._norm(gradients)
        for parameter, one in zip(self._trained, gradients, strict=True):
            if one is not None:
                parameter.grad = one if parameter.grad is None else parameter.grad.add_(one)
        return StepReport(value, len(gathered.classes), self._limit, norm)

    def _described(self) -> tuple[list[_Span], Tensor]:
        """Stage 1: what passed together, and (n, C) the descriptors."""
        spans: list[_Span] = []
        parts: list[Tensor] = []
        row = 0
        for batch in self._batches:
            start = 0
            while start < len(batch):
                self._tell(DESCRIBING, row)
                stop = min(start + self._limit, len(batch))
                before = RandomState.now(self._device)
                with torch.no_grad():
                    part = self._tried(partial(self._pass, batch, start, stop))
                if part is None:
                    self._halve(stop - start)
                    continue
                if not part.isfinite().all():
                    raise TrainingError(
                        f"the network gives descriptors that are no numbers "
                        f"for pictures {row} to {row + stop - start - 1}"
                    )
                spans.append(_Span(batch, start, stop, row, before, before.moved))
                parts.append(part)
                row += stop - start
                start = stop
        return spans, torch.cat(parts) if parts else self._trained[0].new_empty(0, 0)

    def _back(
        self, spans: list[_Span], descriptors: Tensor, gradient: Tensor
    ) -> list[Tensor | None]:
        """Stage 3: the gradient of each trained parameter; None where it has no part.

        Not by `backward`, which would leave half a micro-batch in ``.grad`` if memory ran out.
        """
        sums: list[Tensor | None] = [None] * len(self._trained)
        waiting = spans[::-1]
        while waiting:
            span = waiting.pop()
            if len(span) > self._limit and not span.drawn:
                waiting.extend(span.cut(self._limit)[::-1])
                continue
            self._tell(LEARNING, span.row)
            expected, back = descriptors[span.rows], gradient[span.rows]
            parts = self._tried(partial(self._through, span, expected, back))
            if parts is None:
                self._halve(len(span))
                if span.drawn:
                    raise StepTooLarge(self._limit)
                waiting.append(span)
                continue
            for index, part in enumerate(parts):
                if part is not None:
                    held = sums[index]
                    # Cloned: two parameters that are added have one gradient between them.
                    sums[index] = part.clone() if held is None else held.add_(part)
        self._tell(LEARNING, self._pictures)
        return sums

    def _through(
        self, span: _Span, expected: Tensor, gradient: Tensor
    ) -> tuple[Tensor | None, ...]:
        with span.noise.again() if span.drawn else nullcontext():
            again = self._pass(span.batch, span.start, span.stop)
        self._demand_same(span, again.detach(), expected)
        return torch.autograd.grad(again, self._trained, gradient, allow_unused=True)

    def _pass(self, batch: Batch, start: int, stop: int) -> Tensor:
        pixels = batch.pixels(start, stop).to(self._device)
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._autocast):
            return cast(Tensor, self._model(pixels))

    def _demand_same(self, span: _Span, again: Tensor, expected: Tensor) -> None:
        apart = float((again - expected).norm(dim=-1).max())
        if apart <= (_SAME_AUTOCAST if self._autocast else _SAME):
            return
        first = span.batch.pixels(span.start, span.stop)
        stable = torch.equal(first, span.batch.pixels(span.start, span.stop))
        why = (
            "the network is another in its second pass (its weights, or noise not torch's own)"
            if stable
            else "their pixels are not the same each time"
        )
        last = span.row + len(span) - 1
        raise TrainingError(
            f"pictures {span.row} to {last} have other descriptors in the second pass, "
            f"{apart:.1g} apart: {why}"
        )

    def _tried(self, work: Callable[[], T]) -> T | None:
        """What the work gives; None if memory ran out, and then what it held is free again."""
        try:
            return work()
        except (RuntimeError, MemoryError) as error:
            reason = lack_of_memory(error)
            if reason is None:
                raise
        _log.info("out of memory: %s", reason)
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _halve(self, count: int) -> None:
        if count <= 1:
            raise TrainingError("too little memory for one picture of the batch")
        self._limit = min(self._limit, count // 2)

    def _tell(self, stage: str, done: int) -> None:
        if self._check is not None:
            self._check(stage, done, self._pictures)

    def _norm(self, gradients: list[Tensor | None]) -> float:
        norm = float(torch.nn.utils.get_total_norm([one for one in gradients if one is not None]))
        if math.isfinite(norm):
            return norm
        for name, one in zip(self._names, gradients, strict=True):
            if one is not None and not one.isfinite().all():
                raise TrainingError(f"the gradient of {name} is no number")
        raise TrainingError("the gradient is too large to be measured")


def _of_the_loss(loss: Loss, descriptors: Tensor, classes: Tensor) -> tuple[float, Tensor]:
    """Stage 2: the loss and (B, C) its gradient."""
    leaf = descriptors.detach().requires_grad_()
    try:
        value = loss(leaf, classes)
        number = float(value.detach())
        if not value.isfinite():
            raise TrainingError(f"the loss is no number: {number}")
        if not value.requires_grad:
            raise TrainingError("the loss does not depend on the descriptors")
        (gradient,) = torch.autograd.grad(value, leaf)
    except (RuntimeError, MemoryError) as error:
        reason = lack_of_memory(error)
        if reason is None:
            raise
        raise TrainingError(f"too little memory for the loss of {len(leaf)} pictures") from error
    if not gradient.isfinite().all():
        raise TrainingError("the gradient of the loss is no number")
    return number, gradient


def _demand_frozen_norms(model: nn.Module) -> None:
    for name, module in model.named_modules():
        if isinstance(module, BatchNorm) and (module.training or module.running_mean is None):
            raise TrainingError(f"batch norm {name} is not frozen: it would mix a micro-batch")
