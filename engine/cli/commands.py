"""What each command asks of the engine, and what it prints."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from engine.catalogue.roots import check_new
from engine.cli import output, tables
from engine.cli.arguments import FETCH, feature_settings, network_choice, search_settings
from engine.cli.networks import NAME, run_networks
from engine.cli.training import run_train
from engine.config import NetworkChoice
from engine.errors import FolderError, LibraryError, PhotoError, PhotoMissingError, SettingsError
from engine.exporting import reaching, write_hits
from engine.jobs import Ticket
from engine.network.fetch import fetch_weights
from engine.requests import (
    DoctorRequest,
    EvaluateRequest,
    FocusRequest,
    IndexRequest,
    SearchAnswer,
    SearchRequest,
)
from engine.service import Engine, default_library
from engine.store.paths import LibraryPaths, spelled, weights_cache
from engine.types import Box, FocusMap, Hit, Picture


def run(options: argparse.Namespace, ticket: Ticket) -> int:
    """Run the command that ``options`` names; the exit status."""
    command: Callable[[argparse.Namespace, Ticket], int] = {
        "index": _index,
        "search": _search,
        "evaluate": _evaluate,
        "doctor": _doctor,
        "train": _train,
        NAME: run_networks,
    }[options.command]
    return command(options, ticket)


def _library(options: argparse.Namespace) -> Path:
    return options.library or default_library()


def _network(options: argparse.Namespace, ticket: Ticket) -> NetworkChoice | None:
    weights = Path(options.weights) if options.weights else None
    if options.weights == FETCH:
        weights = fetch_weights(options.network or "", weights_cache(), ticket)
    return network_choice(options, weights, LibraryPaths(_library(options)).networks)


def _index(options: argparse.Namespace, ticket: Ticket) -> int:
    request = IndexRequest(tuple(options.folders), feature_settings(options), options.retry_failed)
    network = _network(options, ticket)
    library = _library(options)
    if not LibraryPaths(library).database.exists():
        _check_first(request, library)
    with Engine.open(library, network=network) as engine:
        report = engine.index(request, ticket)
    output.index_report(report, as_json=options.json)
    if options.folders and not report.found:
        where = options.folders[0]
        raise FolderError(f"no photo was found in {where}", path=where)
    return 0


def _check_first(request: IndexRequest, library: Path) -> None:
    """What would be refused is refused before a library is made for it."""
    if not request.folders:
        raise LibraryError(
            f"there is no library at {spelled(library)} yet: name a folder of photos"
        )
    for folder in request.folders:
        check_new(folder, library)


def _search(options: argparse.Namespace, ticket: Ticket) -> int:
    network = _network(options, ticket)
    with Engine.open(_library(options), writable=False, network=network) as engine:
        request = SearchRequest(
            Picture(options.photo),
            options.box,
            options.top,
            search_settings(options),
            feature_settings(options),
            liked=_photo_ids(engine, options.like),
            disliked=_photo_ids(engine, options.unlike),
        )
        answer = engine.search(request, ticket)
        answer = replace(answer, hits=tuple(reaching(answer.hits, options.min_score)))
        maps = _write_focus(engine, answer, options.focus, ticket) if options.focus else {}
    if options.export:
        write_hits(answer.hits, options.export)
    output.search_answer(answer, maps, as_json=options.json, exported=options.export)
    return 0


def _photo_ids(engine: Engine, paths: Sequence[Path]) -> tuple[int, ...]:
    """The photos of the library that lie at these places."""
    ids = []
    for path in paths:
        photo_id = engine.photo_id(path)
        if photo_id is None:
            raise PhotoMissingError("this library has no photo at this place", path=path)
        ids.append(photo_id)
    return tuple(ids)


def _write_focus(
    engine: Engine, answer: SearchAnswer, folder: Path, ticket: Ticket
) -> dict[int, output.FocusFile]:
    """A focus map for each hit, exact where the photo can be read."""
    written = {}
    for place, hit in enumerate(answer.hits, start=1):
        ticket.update("focusing", place - 1, len(answer.hits))
        focus, box = _best_focus(engine, answer, hit, ticket)
        if focus is not None and hit.photo.size is not None:
            target = folder / f"{place:03d}_{hit.photo.path.stem[:80]}.png"
            output.write_focus(focus, hit.photo.size, target)
            written[hit.photo.id] = output.FocusFile(target, box)
    return written


def _best_focus(
    engine: Engine, answer: SearchAnswer, hit: Hit, ticket: Ticket
) -> tuple[FocusMap | None, Box | None]:
    try:
        exact = engine.focus(FocusRequest(answer.token, hit.photo.id), ticket)
    except PhotoError:  # offline: the footprint of the stored regions still tells
        return hit.focus, hit.box
    return exact.focus, exact.box


def _evaluate(options: argparse.Namespace, ticket: Ticket) -> int:
    if options.table or options.sweep:
        return _compare(options, ticket)
    if options.whitening_from:
        raise SettingsError("--whitening-from goes with --table")
    from engine.measuring import evaluate  # loads scipy, which no other command waits for

    request = EvaluateRequest(
        options.folder,
        search_settings(options),
        feature_settings(options),
        exact_focus=not options.footprints,
        distractors=tuple(options.distractors),
        network=_network(options, ticket),
    )
    output.evaluate_report(evaluate(request, ticket), as_json=options.json)
    return 0


def _compare(options: argparse.Namespace, ticket: Ticket) -> int:
    from engine.comparing.job import CompareRequest, Sweep, compare  # as heavy

    scale, *others = options.query_scale or (1.0,)
    if others:
        raise SettingsError("--table and --sweep ask at one query scale")
    request = CompareRequest(
        options.folder,
        Sweep(options.sweep) if options.sweep else None,
        options.size,
        scale,
        options.whitening_from,
        options.whitening_exponent,
        tuple(options.distractors),
        options.layers,
        _network(options, ticket),
    )
    tables.comparison(compare(request, ticket), as_json=options.json)
    return 0


def _train(options: argparse.Namespace, ticket: Ticket) -> int:
    return run_train(options, _network(options, ticket), ticket)


def _doctor(options: argparse.Namespace, ticket: Ticket) -> int:
    with Engine.open(_library(options), writable=False) as engine:
        report = engine.doctor(DoctorRequest(), ticket)
    output.doctor_report(report, as_json=options.json)
    return 1 if report.problems else 0
