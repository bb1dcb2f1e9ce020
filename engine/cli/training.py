"""``refocal train``: its grammar, what it asks of the engine, and what it prints."""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from engine.config import LossKind, LossSettings, NetworkChoice, TrainSettings
from engine.errors import LibraryError, TrainingError
from engine.jobs import Ticket
from engine.network_requests import TrainReport, TrainRequest
from engine.service import Engine, default_library
from engine.store.paths import spelled
from engine.training.torchrun import is_first

NAME = "train"

_MADE_WITHIN_S, _LOOK_EVERY_S = 60.0, 0.2

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_NUMBERS = {
    "steps": "updates of the weights",
    "batch": "pictures of a step",
    "per_class": "of them of one class",
    "micro_batch": "pictures that pass at once; memory, not the result, depends on it",
    "crop_px": "side of the pictures that the network is shown",
    "lr": "learning rate at the start; falls to 0",
    "p_lr": "that of GeM's exponent",
    "weight_decay": "",
    "frozen": "share of the first layers that stay as they are",
    "blend": "share of the trained weights in those that are kept; the rest is the start's",
    "hold_out": "share of the classes that measure",
    "validate_every": "steps between two measurements",
    "seed": "of all that is random",
}


def add_train(commands: _Commands, path: Callable[[str], Path]) -> argparse.ArgumentParser:
    """Add the command, without the options that name a network; ``path`` reads a path."""
    summary = "Train a network on labelled photos, with average precision as the loss."
    command = commands.add_parser(
        NAME,
        help=summary,
        description=summary,
        epilog="A training that was stopped goes on when the same command is given again.",
    )
    command.add_argument("folder", type=path, metavar="FOLDER", help="each sub-folder is a class")
    command.add_argument("--as", dest="name", required=True, metavar="ID", help="the network's id")
    command.add_argument("--library", type=path, metavar="DIR", help="that keeps the network")
    command.add_argument("--json", action="store_true", help="one JSON object on standard output")
    command.add_argument("--licence", metavar="TEXT", help="of the result, to be kept with it")
    command.add_argument(
        "--each-photo", action="store_true", help="every photo is a class of its own"
    )
    standard = TrainSettings()
    command.add_argument("--loss", choices=[str(kind) for kind in LossKind], default=standard.loss)
    for name, meaning in _NUMBERS.items():
        value = getattr(standard, name)
        command.add_argument(
            f"--{name.replace('_', '-')}",
            type=type(value),
            default=value,
            metavar="N" if isinstance(value, int) else "X",
            help=f"{meaning} (default: {value})".strip(),
        )
    command.add_argument("--bins", type=int, default=LossSettings().bins, metavar="M")
    command.add_argument(
        "--equal-queries",
        action="store_true",
        help="every query weighs the same, not every class of a batch",
    )
    command.add_argument(
        "--any-class", action="store_true", help="draw photos without regard to their classes"
    )
    return command


def run_train(options: argparse.Namespace, network: NetworkChoice | None, ticket: Ticket) -> int:
    """Train as the options say; the exit status."""
    numbers = {name: getattr(options, name) for name in _NUMBERS}
    loss = LossSettings(bins=options.bins, class_weights=not options.equal_queries)
    settings = TrainSettings(
        loss=LossKind(options.loss), loss_settings=loss, balanced=not options.any_class, **numbers
    )
    request = TrainRequest(
        options.folder, options.name, settings, network, options.licence, options.each_photo
    )
    settings.validate()
    if not request.folder.is_dir():  # before a library is made for it
        raise TrainingError(f"there is no folder {spelled(request.folder)}")
    with _opened(options.library or default_library(), ticket) as engine:
        report = engine.train(request, ticket)
    if not is_first():
        return 0
    if options.json:
        print(json.dumps(asdict(report), default=str))
    else:
        _say(report)
    return 0


def _opened(library: Path, ticket: Ticket) -> Engine:
    """The library, to be written by the first of several processes alone; the others wait until
    that one has made it."""
    if is_first():
        return Engine.open(library)
    deadline = time.monotonic() + _MADE_WITHIN_S
    while True:
        try:
            return Engine.open(library, writable=False)
        except LibraryError:
            if time.monotonic() > deadline:
                raise
        ticket.check()
        time.sleep(_LOOK_EVERY_S)


def _say(report: TrainReport) -> None:
    print(
        f"{report.network}: {report.steps} steps on {report.photos:,} photos of "
        f"{report.classes:,} classes, {report.seconds / 60:.1f} minutes on {report.device}"
    )
    if report.map_before is not None and report.map_after is not None:
        print(
            f"mAP of the classes held out: {report.map_before:.3f} before, "
            f"{report.map_after:.3f} after step {report.best_step}"
        )
    if report.failures:
        print(f"{len(report.failures)} photos were left out:")
        for failure in report.failures:
            print(f"  {spelled(failure.path)}: {failure.reason}")
    print(f"its curve lies in {spelled(report.folder)}")
    print(f"'refocal networks use {report.network}' makes it the library's own")
