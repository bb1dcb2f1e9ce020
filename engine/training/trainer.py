"""The loop of a training: step, look at held-out classes, keep the best, go on after a kill.

Revaud et al. 2019, section 4.1: Adam, a rate that falls linearly to 0, weight decay, GeM's exponent
at a rate of its own. Imports torch.
"""

import logging
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import torch
from torch import nn

from engine.config import TrainSettings
from engine.errors import TrainingError
from engine.jobs import Cancelled, Ticket
from engine.training.augmentation import Augmentation, AugmentedBatch
from engine.training.checkpoint import Checkpoint, State, Weights, restore, trained
from engine.training.labelled import Labelled
from engine.training.losses.choosing import Loss
from engine.training.model import TrainableNetwork
from engine.training.noise import RandomState
from engine.training.pace import Pace
from engine.training.progress import History, StepRecord
from engine.training.sampling import Drawn, draw, noise_seed
from engine.training.three_stage import StepReport, three_stage
from engine.training.together import Alone, Check, Group, together
from engine.training.validation import Validation

_log = logging.getLogger(__name__)
T = TypeVar("T")

_WINDOW = 10
_GONE_ASTRAY = 1.5
"""A mean loss over ten steps that is this many times the one of the first ten is no learning."""

_LEARNED = 1e-3
"""A loss below it leaves nothing to be learned."""


@dataclass(frozen=True, slots=True)
class Share:
    """Which pictures of each step this process sees: every ``count``-th, from ``first`` on."""

    group: Group | None = None
    first: int = 0
    count: int = 1


class Trainer:
    """One training of one model.

    Args:
        model: on the device that it is to be trained on.
        learning: the photos of the steps.
        validation: held-out classes; None: the last step's weights are the best.
        mean, std: of red, green, blue on the scale 0..255, as the network sees them.
        share: of several processes.
        told: called with the history whenever a checkpoint was kept.
    """

    def __init__(
        self,
        model: TrainableNetwork,
        learning: Labelled,
        loss: Loss,
        settings: TrainSettings,
        *,
        validation: Validation | None,
        checkpoint: Checkpoint,
        mean: Sequence[float],
        std: Sequence[float],
        share: Share | None = None,
        told: Callable[[History], object] | None = None,
    ) -> None:
        self._model = model
        self._learning = learning
        self._members = learning.members
        self._loss = loss
        self._settings = settings
        self._validation = validation
        self._checkpoint = checkpoint
        self._mean, self._std = mean, std
        self._share = share or Share()
        self._group = self._share.group or Alone()
        self._told = told
        self._kept_at = 0.0
        self._augmentation = augmentation_of(settings)
        self._micro_batch = settings.micro_batch
        self._optimiser = torch.optim.Adam(
            model.parameter_groups(
                lr=settings.lr, p_lr=settings.p_lr, weight_decay=settings.weight_decay
            )
        )
        self._rates = [group["lr"] for group in self._optimiser.param_groups]

    def run(self, ticket: Ticket) -> History:
        """Train to the end, from where an earlier run was stopped. The model then has the best
        weights, blended with those of the start as the settings say.

        Raises:
            TrainingError: nothing can be learned from a batch, the training went astray, a photo
                cannot be read, or the disk is full. What the last checkpoint kept stays.
            Cancelled: somebody asked for the end; the same.
        """
        pace = self._pace(ticket)
        begun_with = trained(self._model)
        state = self._together(lambda: self._checkpoint.load(self._model, self._optimiser))
        if state is None:
            start = self._judge(pace.in_look(0))
            state = State(History(start), trained(self._model))
        self._kept_at = time.monotonic()
        for step in range(len(state.history.steps), self._settings.steps):
            try:
                report, seconds = self._learn(step, pace.in_step(step))
            except Cancelled:  # before a weight was moved: the state is that of the model
                self._keep(state)
                raise
            state = self._after(step, state, report, seconds, pace)
            self._together(partial(self._keep_if_due, state))
        restore(self._model, blended(begun_with, state.best, self._settings.blend))
        if self._settings.blend == 1:
            return state.history
        reached = self._judge(pace.in_look(self._settings.steps))
        return replace(state.history, blended=reached)

    def _after(
        self, step: int, state: State, report: StepReport, seconds: float, pace: Pace
    ) -> State:
        """The state after one more step, which took so long."""
        number = step + 1
        due = number % self._settings.validate_every == 0 or number == self._settings.steps
        record = StepRecord(
            step=number,
            loss=report.loss,
            learning_rate=self._rate(step),
            gem_p=float(self._model.gem_p.detach()),
            gradient_norm=report.gradient_norm,
            seconds=seconds,
            map=self._judge(pace.in_look(number)) if due else None,
        )
        history = state.history.with_step(record)
        if self._validation is None:
            history = History(history.start, history.steps, number)
        demand_learning(history)
        _log.info("step %d: loss %.4f, mAP %s", number, record.loss, record.map)
        best: Weights = trained(self._model) if history.best == number else state.best
        return State(history, best)

    def _learn(self, step: int, check: Check) -> tuple[StepReport, float]:
        """One step, and how many seconds it took; what the network draws in it (dropout) follows
        from the seed too.

        Raises:
            Cancelled: no weight has been moved.
        """
        began = time.monotonic()
        drawn = self._drawn(step)
        mine = self._mine(drawn)
        batch = AugmentedBatch(
            [self._learning.photos[drawn.photos[place]] for place in mine],
            [drawn.seeds[place] for place in mine],
            self._augmentation,
            mean=self._mean,
            std=self._std,
        )
        classes = [self._learning.classes[drawn.photos[place]] for place in mine]
        device = self._model.gem_p.device
        self._optimiser.zero_grad(set_to_none=True)
        with RandomState.now(device).again():
            torch.manual_seed(noise_seed(self._settings.seed, step=step, process=self._share.first))
            report = three_stage(
                self._model,
                batch,
                torch.tensor(classes, dtype=torch.int64),
                self._loss,
                micro_batch=self._micro_batch,
                autocast=device.type == "cuda",
                group=self._group,
                check=check,
            )
        self._micro_batch = report.micro_batch
        for group, rate in zip(self._optimiser.param_groups, self._rates, strict=True):
            group["lr"] = rate * self._left(step)
        self._optimiser.step()
        demand_numbers(self._model)
        return report, time.monotonic() - began

    def _drawn(self, step: int) -> Drawn:
        settings = self._settings
        return draw(
            self._members,
            step=step,
            batch=settings.batch,
            per_class=settings.per_class,
            seed=settings.seed,
            balanced=settings.balanced,
        )

    def _mine(self, drawn: Drawn) -> range:
        """The places of the pictures that this process sees."""
        return range(self._share.first, len(drawn.photos), self._share.count)

    def _pace(self, ticket: Ticket) -> Pace:
        judged = 0 if self._validation is None else len(self._validation)
        pictures = len(self._mine(self._drawn(0)))
        return Pace(ticket, self._settings, pictures=pictures, judged=judged)

    def _left(self, step: int) -> float:
        """What is left of the rates, falling linearly to 0 after the last step."""
        return 1 - step / self._settings.steps

    def _rate(self, step: int) -> float:
        first: float = self._rates[0]
        return first * self._left(step)

    def _judge(self, check: Check) -> float | None:
        validation = self._validation
        if validation is None:
            return None
        return self._together(lambda: validation.mean_average_precision(self._model, check))

    def _keep_if_due(self, state: State) -> None:
        last = len(state.history.steps) == self._settings.steps
        if last or time.monotonic() - self._kept_at >= self._settings.keep_every_s:
            self._keep(state)

    def _keep(self, state: State) -> None:
        """Only the first process writes."""
        if self._share.first:
            return
        self._checkpoint.save(self._model, self._optimiser, state)
        if self._told is not None:
            self._told(state.history)
        self._kept_at = time.monotonic()

    def _together(self, work: Callable[[], T]) -> T:
        return together(self._group, work)


def blended(start: Weights, best: Weights, share: float) -> Weights:
    """The mean of two sets of weights, ``share`` of it the second."""
    return {name: start[name].lerp(value, share) for name, value in best.items()}


def augmentation_of(settings: TrainSettings) -> Augmentation:
    """How the pictures of a training are changed."""
    return Augmentation(crop_px=settings.crop_px, smallest=settings.smallest_crop)


def demand_numbers(model: nn.Module) -> None:
    """Whether all trained weights are numbers still.

    Raises:
        TrainingError: some are not.
    """
    for name, value in model.named_parameters():
        if value.requires_grad and not value.isfinite().all():
            raise TrainingError(
                f"the training went astray: {name} is no number; a smaller learning rate may help"
            )


def demand_learning(history: History) -> None:
    """Whether a training still learns.

    Raises:
        TrainingError: the loss has risen far above where it began, or no weight is moved any more.
    """
    latest = history.steps[-_WINDOW:]
    if len(latest) == _WINDOW and all(
        one.gradient_norm == 0 and one.loss > _LEARNED for one in latest
    ):
        raise TrainingError(
            f"the training went astray: its gradient has been 0 for {_WINDOW} steps at a loss of "
            f"{latest[-1].loss:.3f}; a smaller learning rate may help"
        )
    losses = [one.loss for one in history.steps]
    if len(losses) < 2 * _WINDOW:
        return
    first, last = statistics.fmean(losses[:_WINDOW]), statistics.fmean(losses[-_WINDOW:])
    if not math.isfinite(last) or last > _GONE_ASTRAY * first + 0.01:
        raise TrainingError(
            f"the training went astray: the loss rose from {first:.3f} to {last:.3f}; "
            "a smaller learning rate may help"
        )
