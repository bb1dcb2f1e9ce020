"""Where a training stands, on disk: safetensors, written whole or not at all. Imports torch.

``state.safetensors`` holds the weights that are trained, those of the best step so far, what the
optimiser remembers and, as metadata, the history. Random numbers need no place: they follow from
the seed and the number of the step (`engine.training.sampling`).
"""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from engine.errors import TrainingError
from engine.training.progress import History

STATE: Final = "state.safetensors"
_HISTORY, _SETUP = "history", "setup"
_NOW, _BEST, _OPTIMISER = "now/", "best/", "optimiser/"

Weights = dict[str, Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """``best``: the trained weights after the best step. ``history``: of all steps so far."""

    history: History
    best: Weights


class Checkpoint:
    """The checkpoint in a folder of its own.

    Args:
        setup: names everything that the result depends on: a checkpoint of another setup is not
            gone on with.
    """

    def __init__(self, folder: Path, setup: str) -> None:
        self._file = folder / STATE
        self._setup = setup

    def save(self, model: nn.Module, optimiser: torch.optim.Optimizer, state: State) -> None:
        """Keep the state; what was kept before stays until this one is whole.

        Raises:
            TrainingError: the disk is full or may not be written.
        """
        tensors = {_NOW + name: value for name, value in trained(model).items()}
        tensors |= {_BEST + name: value for name, value in state.best.items()}
        tensors |= _remembered(optimiser)
        tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
        partial = self._file.with_name(f"{STATE}.partial")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            save_file(tensors, partial, {_HISTORY: state.history.to_json(), _SETUP: self._setup})
            with partial.open("r+b") as file:  # Windows syncs only what may be written
                os.fsync(file.fileno())
            partial.replace(self._file)
        except (OSError, SafetensorError) as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            reason = getattr(error, "strerror", None) or str(error)
            raise TrainingError(
                f"the training cannot be kept in {self._file.parent}: {reason.lower()}; "
                "the state before is"
            ) from error

    def load(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> State | None:
        """Bring model and optimiser to where they stood; None if nothing was kept.

        Raises:
            TrainingError: what was kept is damaged, or of another training.
        """
        if not self._file.exists():
            return None
        try:
            with safe_open(self._file, "pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if metadata[_SETUP] != self._setup:
                raise TrainingError(
                    f"{self._file.parent} holds another training: its photos or settings differ; "
                    "remove it to begin anew, or choose another name"
                )
            history = History.from_json(metadata[_HISTORY])
            for prefix in (_BEST, _NOW):  # the best ones too, to see that they fit
                restore(model, _under(prefix, tensors))
            _recall(optimiser, _under(_OPTIMISER, tensors))
        except (OSError, SafetensorError, KeyError, ValueError, TypeError) as error:
            raise TrainingError(f"{self._file} is damaged; remove it to begin anew") from error
        return State(history, _under(_BEST, tensors))

    def forget(self) -> None:
        """Remove the folder with everything in it."""
        shutil.rmtree(self._file.parent, ignore_errors=True)


def trained(model: nn.Module) -> Weights:
    """Copies of the weights that a training changes."""
    return {
        name: value.detach().cpu().clone()
        for name, value in model.named_parameters()
        if value.requires_grad
    }


def restore(model: nn.Module, weights: Weights) -> None:
    """Put trained weights back.

    Raises:
        KeyError: some are missing. ValueError: of another shape.
    """
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.requires_grad:
                kept = weights[name]
                if kept.shape != value.shape:
                    raise ValueError(f"{name} has another shape")
                value.copy_(kept)


def _under(prefix: str, tensors: Weights) -> Weights:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _remembered(optimiser: torch.optim.Optimizer) -> Weights:
    """What the optimiser keeps of each parameter, by its number."""
    return {
        f"{_OPTIMISER}{number}/{name}": value
        for number, kept in optimiser.state_dict()["state"].items()
        for name, value in kept.items()
    }


def _recall(optimiser: torch.optim.Optimizer, tensors: Weights) -> None:
    state: dict[int, Weights] = {}
    for name, value in tensors.items():
        number, _, what = name.partition("/")
        state.setdefault(int(number), {})[what] = value
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})
