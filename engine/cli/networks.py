"""``refocal networks``: its grammar, what it asks of the engine, and what it prints."""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from engine.jobs import Ticket
from engine.network_requests import (
    ExportNetworkRequest,
    ImportNetworkRequest,
    NetworkInfo,
    NetworksRequest,
    RemoveNetworkRequest,
    UseNetworkRequest,
    WhitenNetworkRequest,
)
from engine.networks import listed
from engine.service import Engine, default_library
from engine.store.paths import LibraryPaths, spelled

NAME = "networks"

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
_MB = 1_000_000


def add_networks(commands: _Commands, path: Callable[[str], Path]) -> None:
    """Add the command and its own; ``path`` reads a path."""
    summary = "Import, export, choose, remove and list networks."
    actions = commands.add_parser(NAME, help=summary, description=summary).add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )

    def action(name: str, does: str) -> argparse.ArgumentParser:
        made = actions.add_parser(name, help=does, description=does)
        made.add_argument("--library", type=path, metavar="DIR", help="whose networks")
        made.add_argument("--json", action="store_true", help="one JSON object on standard output")
        return made

    bringing = action("import", "Take a network into the library; runs nothing of the file.")
    bringing.add_argument(
        "file",
        type=path,
        metavar="FILE",
        help="AP-GeM or Radenović checkpoint, weights of torchvision or timm, or an export",
    )
    bringing.add_argument("--as", dest="name", metavar="ID", help="(default: from the file's name)")
    bringing.add_argument(
        "--network",
        metavar="NAME",
        help="what a file that does not say it is of: resnet101, vgg19, timm:NAME, ...",
    )
    bringing.add_argument("--licence", metavar="TEXT", help="of the file, to be kept with it")
    whitening = action("whiten", "Keep a copy of a network with a whitening that photos teach.")
    whitening.add_argument("id", metavar="ID")
    whitening.add_argument("--as", dest="name", required=True, metavar="ID", help="of the copy")
    whitening.add_argument(
        "--from", dest="folder", type=path, metavar="DIR", help="photos (default: the library's)"
    )
    whitening.add_argument("--exponent", type=float, default=0.25, metavar="A", help="0.5, 0.25, 0")
    whitening.add_argument("--dim", type=int, metavar="K", help="axes to keep (default: all)")
    giving = action("export", "Write a network to one file, which 'import' takes.")
    giving.add_argument("id", metavar="ID")
    giving.add_argument("file", type=path, metavar="FILE", help="a zip archive")
    for name, does in (
        ("use", "Index and search with this network from now on."),
        ("remove", "Remove a network that was imported."),
    ):
        action(name, does).add_argument("id", metavar="ID")
    action("list", "List the networks that there are.")


def run_networks(options: argparse.Namespace, ticket: Ticket) -> int:
    """Run the action that ``options`` names; the exit status."""
    action: Callable[[argparse.Namespace, Path, Ticket], None] = {
        "import": _import,
        "whiten": _whiten,
        "export": _export,
        "use": _use,
        "remove": _remove,
        "list": _list,
    }[options.action]
    action(options, options.library or default_library(), ticket)
    return 0


def _import(options: argparse.Namespace, library: Path, ticket: Ticket) -> None:
    request = ImportNetworkRequest(options.file, options.name, options.network, options.licence)
    with Engine.open(library) as engine:
        info = engine.import_network(request, ticket)
    _say_new(info, as_json=options.json)


def _whiten(options: argparse.Namespace, library: Path, ticket: Ticket) -> None:
    request = WhitenNetworkRequest(
        options.id, options.name, options.folder, options.exponent, options.dim
    )
    with Engine.open(library) as engine:
        info = engine.whiten_network(request, ticket)
    _say_new(info, as_json=options.json)


def _say_new(info: NetworkInfo, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(info)))
        return
    print(_line(info))
    print(f"'refocal networks use {info.id}' makes it the library's own")


def _export(options: argparse.Namespace, library: Path, ticket: Ticket) -> None:
    with Engine.open(library, writable=False) as engine:
        report = engine.export_network(ExportNetworkRequest(options.id, options.file), ticket)
    if options.json:
        print(json.dumps(asdict(report), default=str))
        return
    print(f"{report.network} written to {spelled(report.target)}, {_size(report.size_bytes)}")


def _use(options: argparse.Namespace, library: Path, ticket: Ticket) -> None:
    with Engine.open(library) as engine:
        report = engine.use_network(UseNetworkRequest(options.id), ticket)
    if options.json:
        print(json.dumps(asdict(report)))
        return
    print(f"the library is in use with {report.network}")
    if report.seen < report.photos:
        print(
            f"it has seen {report.seen:,} of {report.photos:,} photos: "
            "'refocal index' shows it the others"
        )


def _remove(options: argparse.Namespace, library: Path, ticket: Ticket) -> None:
    with Engine.open(library) as engine:
        report = engine.remove_network(RemoveNetworkRequest(options.id), ticket)
    if options.json:
        print(json.dumps(asdict(report)))
        return
    print(f"{report.network} removed, {_size(report.freed_bytes)} freed")


def _list(options: argparse.Namespace, library: Path, ticket: Ticket) -> None:
    if LibraryPaths(library).database.exists():
        with Engine.open(library, writable=False) as engine:
            found = engine.networks(NetworksRequest(), ticket)
    else:
        found = listed(LibraryPaths(library).networks, None)
    if options.json:
        print(json.dumps(asdict(found)))
        return
    for info in found.networks:
        print(_line(info))


def _line(info: NetworkInfo) -> str:
    """The network in use is marked by a star."""
    head = [name for name, there in (("linear", info.linear), ("whitened", info.whitened)) if there]
    figures = [f"mAP {one.map:.3f} on {one.dataset} ({one.settings})" for one in info.measured]
    facts = [
        "shipped" if info.shipped else "imported",
        f"{info.backbone} {info.layer}",
        ", ".join([f"{info.dim} numbers", *head]),
        _size(info.size_bytes),
        info.licence,
        *(figures or ["mAP not measured"]),
    ]
    return f"{'*' if info.active else ' '} {info.id}: " + " · ".join(facts)


def _size(size_bytes: int) -> str:
    return f"{size_bytes / _MB:,.1f} MB"
