"""The job that trains a network on labelled photos: read, split, train, keep. Imports torch."""

import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import nn

from engine.errors import TrainingError
from engine.features.head import Head, Linear
from engine.jobs import Ticket
from engine.media.pool import DecodeOutcome, DecodeTask
from engine.network.backbone import use_threads
from engine.network.device import DeviceChoice
from engine.network.kept import demand_free, keep
from engine.network.manifest import Measurement, NetworkManifest
from engine.network.registry import head_of, weights_file
from engine.network_requests import TrainReport, TrainRequest
from engine.store.paths import LibraryPaths
from engine.training.checkpoint import Checkpoint
from engine.training.curve import drawn
from engine.training.distributed import same_weights, under_torchrun
from engine.training.labelled import Labelled, split
from engine.training.losses.choosing import loss_of
from engine.training.model import TrainableNetwork, trainable
from engine.training.progress import History, as_csv
from engine.training.trainer import Share, Trainer, augmentation_of
from engine.training.validation import Validation
from engine.types import Failure, Picture

READING = "reading photos"
CURVE, STEPS, RECORD = "curve.png", "steps.csv", "training.json"


class Decoder(Protocol):
    """Decodes files elsewhere; engine.media.pool.DecodePool is one."""

    def run(
        self, tasks: Iterable[DecodeTask], ticket: Ticket
    ) -> Generator[DecodeOutcome, None, None]: ...


@dataclass(frozen=True, slots=True)
class TrainParts:
    """``start``: the network to begin with. ``paths``: of the library that keeps the result and,
    until then, the checkpoints."""

    start: NetworkManifest
    device: DeviceChoice
    pool: Decoder
    paths: LibraryPaths


def train(
    request: TrainRequest, labelled: Labelled, ticket: Ticket, *, parts: TrainParts
) -> TrainReport:
    """Train on labelled photos, and keep the best weights as a network of the library.

    Photos that cannot be read are left out and reported. A training that was stopped, by
    whatever, goes on when it is asked for again. Under torchrun the processes share each step, and
    the first one keeps.

    Raises:
        NetworkError: the name is taken, or the network to begin with is damaged.
        TrainingError: there is too little to learn from, the training went astray, or the disk is
            full; the last checkpoint stays.
        Cancelled: somebody asked for the end; the same.
    """
    started = time.monotonic()
    request.settings.validate()
    networks = parts.paths.networks
    demand_free(networks, request.name)
    readable, failures = _readable(labelled, ticket, parts)
    learning, held_out = split(readable, request.settings.hold_out, seed=request.settings.seed)
    _demand_enough(learning)
    device = torch.device(parts.device.kind)
    use_threads(None)
    with under_torchrun(device) as ranks:
        model = _model(parts.start).to(device)
        share = Share()
        if ranks is not None:
            same_weights(model)
            share = Share(ranks, torch.distributed.get_rank(), torch.distributed.get_world_size())
        run = _Run(request, parts, model, learning, held_out, share)
        history = run.to_the_end(ticket)
    known = run.manifest_of(history)
    if share.first == 0:
        trained = model.trained_weights()
        weights = {name: value.numpy() for name, value in trained.backbone.items()}
        known = keep(networks, known, weights, _head(trained.linear, trained.bias))
        run.leave_record(history, networks / request.name)
    return TrainReport(
        network=request.name,
        photos=len(learning.photos),
        classes=len(learning.names),
        held_out=len(held_out.photos),
        steps=len(history.steps),
        best_step=history.best,
        map_before=history.start,
        map_after=history.kept_map,
        device=parts.device.reason,
        seconds=time.monotonic() - started,
        failures=failures,
        folder=networks / request.name,
    )


class _Run:
    """One training with its files."""

    def __init__(
        self,
        request: TrainRequest,
        parts: TrainParts,
        model: TrainableNetwork,
        learning: Labelled,
        held_out: Labelled,
        share: Share,
    ) -> None:
        settings = request.settings
        self._request = request
        self._parts = parts
        self._learning, self._held_out = learning, held_out
        if settings.frozen:
            model.train_from(settings.frozen)
        start = parts.start
        validation = Validation(
            held_out,
            augmentation_of(settings),
            side_px=settings.validate_px,
            mean=start.mean,
            std=start.std,
        )
        self._work = parts.paths.training(request.name)
        self._checkpoint = Checkpoint(self._work, _setup(request, start, learning, held_out))
        self._trainer = Trainer(
            model,
            learning,
            loss_of(settings.loss, settings.loss_settings),
            settings,
            validation=validation if len(validation) else None,
            checkpoint=self._checkpoint,
            mean=start.mean,
            std=start.std,
            share=share,
            told=self._show if share.first == 0 else None,
        )
        self._model = model

    def to_the_end(self, ticket: Ticket) -> History:
        return self._trainer.run(ticket)

    def manifest_of(self, history: History) -> NetworkManifest:
        """What is to be said of the trained network."""
        settings, start = self._request.settings, self._parts.start
        measured: tuple[Measurement, ...] = ()
        if history.kept_map is not None:
            how = (
                f"{len(self._held_out.names)} held-out classes, {settings.validate_px} px, "
                f"global descriptor; {history.start:.3f} before training"
            )
            measured = (Measurement(self._request.folder.name, how, history.kept_map),)
        return dataclasses.replace(
            start,
            name=self._request.name,
            gem_p=float(self._model.gem_p.detach()),
            licence=self._request.licence or f"{start.licence}; photos: not said",
            origin=(
                f"{start.name} trained with the {settings.loss} loss, {history.best} steps, on "
                f"{len(self._learning.photos)} photos of {len(self._learning.names)} classes"
            ),
            known_output=(),
            measured=measured,
        )

    def leave_record(self, history: History, place: Path) -> None:
        """Put the curve and the recipe beside the network; the checkpoint has done its work."""
        record = {
            "folder": self._request.folder.name,
            "each_photo": self._request.each_photo,
            "licence": self._request.licence,
            "start": {"name": self._parts.start.name, "sha256": self._parts.start.weights.sha256},
            "settings": asdict(self._request.settings),
            "photos": len(self._learning.photos),
            "classes": len(self._learning.names),
            "held_out_classes": len(self._held_out.names),
            "map_before": history.start,
            "map_after": history.kept_map,
            "best_step": history.best,
            "torch": torch.__version__,
        }
        with _written(place):
            (place / RECORD).write_text(json.dumps(record, indent=2), encoding="utf-8")
            _show_at(place, history, self._request.settings.steps)
        self._checkpoint.forget()

    def _show(self, history: History) -> None:
        with _written(self._work):
            _show_at(self._work, history, self._request.settings.steps)


def _show_at(place: Path, history: History, steps: int) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / STEPS).write_text(as_csv(history.steps), encoding="utf-8")
    drawn(history, steps=steps).save(place / CURVE)


@contextmanager
def _written(place: Path) -> Iterator[None]:
    """Names the folder in what goes wrong while it is written."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TrainingError(f"{place} cannot be written: {reason}") from error


def _readable(
    labelled: Labelled, ticket: Ticket, parts: TrainParts
) -> tuple[Labelled, tuple[Failure, ...]]:
    """The photos that can be decoded, and why the others cannot: found out by processes that a
    damaged file may take down."""
    tasks = (
        DecodeTask(place, Picture(photo), max_side_px=64, thumbnail_px=None)
        for place, photo in enumerate(labelled.photos)
    )
    failures: list[Failure] = []
    with closing(parts.pool.run(tasks, ticket)) as outcomes:
        for done, outcome in enumerate(outcomes):
            ticket.update(READING, done, len(labelled.photos))
            if outcome.error is not None:
                photo = labelled.photos[outcome.task.key]
                failures.append(Failure(photo, outcome.error.reason))
    if not failures:
        return labelled, ()
    return labelled.without(failure.path for failure in failures), tuple(failures)


def _demand_enough(learning: Labelled) -> None:
    if len(learning.names) < 2:
        raise TrainingError("a training needs photos of at least two classes")


def _model(start: NetworkManifest) -> TrainableNetwork:
    """The network to begin with; a whitening is left out, for it was learned from what the
    network was."""
    head = head_of(start)
    linear = None
    if head is not None and head.linear is not None:
        if head.unit_first:
            raise TrainingError(f"{start.name} cannot be trained: its linear layer follows an L2")
        rows, columns = head.linear.weight.shape
        linear = nn.Linear(columns, rows)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(head.linear.weight))
            linear.bias.copy_(torch.from_numpy(head.linear.bias))
    return trainable(start, weights_file(start.weights), linear=linear)


def _head(weight: torch.Tensor | None, bias: torch.Tensor | None) -> Head | None:
    if weight is None:
        return None
    offset = torch.zeros(len(weight)) if bias is None else bias
    return Head(Linear(weight.numpy(), offset.numpy()), unit_first=False)


def _setup(request: TrainRequest, start: NetworkManifest, *parts: Labelled) -> str:
    """Names everything that the result of a training depends on.

    Raises:
        TrainingError: a photo has gone.
    """
    settings = asdict(request.settings)
    for harmless in ("keep_every_s", "micro_batch"):
        del settings[harmless]
    photos = [(os.fspath(one), _size(one)) for part in parts for one in part.photos]
    classes = [part.classes for part in parts]
    facts = (settings, start.weights.sha256, start.linear, start.gem_p, photos, classes)
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


def _size(photo: Path) -> int:
    try:
        return photo.stat().st_size
    except OSError as error:
        raise TrainingError(
            f"{photo} cannot be read: {(error.strerror or str(error)).lower()}"
        ) from error
