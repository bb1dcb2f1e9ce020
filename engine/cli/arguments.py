"""The grammar of the command line."""

import argparse
from pathlib import Path
from typing import TypeAlias

from engine.config import Expansion, FeatureSettings, Method, RegionScheme, SearchSettings, Solver
from engine.types import Box

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

SWEEPS = ("k", "layer", "size", "query-scale")
SUBCOMMANDS = ("index", "search", "evaluate", "doctor")


def parser() -> argparse.ArgumentParser:
    """The parser of ``refocal SUBCOMMAND``; the namespace carries ``command``."""
    root = argparse.ArgumentParser(
        prog="refocal",
        description="Finds the same thing again in your own photos.",
        epilog="Without a sub-command the window opens: refocal [PHOTO]",
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_index(commands)
    _add_search(commands)
    _add_evaluate(commands)
    _add_doctor(commands)
    return root


def box(text: str) -> Box:
    """``X,Y,W,H`` in pixels of the upright photo."""
    parts = text.split(",")
    try:
        x, y, w, h = (float(part) for part in parts)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a box is X,Y,W,H in pixels, not {text!r}") from None
    return Box(x, y, w, h)


def search_settings(options: argparse.Namespace) -> SearchSettings:
    """The settings that the options name."""
    return SearchSettings(
        method=Method(options.method),
        solver=Solver(options.solver),
        shortlist=options.shortlist,
        query_scale=options.query_scale,
        expand=Expansion(options.expand),
    )


def _command(commands: _Commands, name: str, summary: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=summary, description=summary)
    command.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return command


def _add_library(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--library", type=Path, metavar="DIR", help="the library (default: your data folder)"
    )


def _add_index(commands: _Commands) -> None:
    command = _command(commands, "index", "Add folders and index what is new.")
    command.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    _add_library(command)
    _add_size(command)
    command.add_argument(
        "--retry-failed", action="store_true", help="try again the photos that failed before"
    )


def _add_search(commands: _Commands) -> None:
    command = _command(commands, "search", "Find every photo that has the thing in the box.")
    command.add_argument("photo", type=Path, metavar="PHOTO")
    command.add_argument("--box", type=box, metavar="X,Y,W,H", help="pixels of the upright photo")
    command.add_argument("--top", type=_positive, default=20, metavar="N", help="how many hits")
    command.add_argument(
        "--focus", type=Path, metavar="DIR", help="write a focus map for each hit, as PNG"
    )
    _add_library(command)
    _add_ranking(command)


def _add_evaluate(commands: _Commands) -> None:
    command = _command(commands, "evaluate", "Measure retrieval on a folder with a ground truth.")
    command.add_argument(
        "folder",
        type=Path,
        metavar="FOLDER",
        help="photos and a gt.json, or a download of (R)Oxford5k or (R)Paris6k",
    )
    command.add_argument(
        "--distractors",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="rank the photos of these folders too; they are right for no query",
    )
    command.add_argument(
        "--exact-focus",
        action="store_true",
        help="judge the exact focus maps, not the stored regions' footprints",
    )
    _add_comparing(command)
    _add_ranking(command)


def _add_comparing(command: argparse.ArgumentParser) -> None:
    several = command.add_mutually_exclusive_group()
    several.add_argument(
        "--table",
        action="store_true",
        help="compare every method of the papers; of the options below, size and query scale count",
    )
    several.add_argument(
        "--sweep",
        choices=SWEEPS,
        help="compare the values of one setting",
    )
    command.add_argument(
        "--whitening-from",
        type=Path,
        metavar="DIR",
        help="with --table: other photos to learn whitenings from",
    )
    command.add_argument(
        "--whitening-exponent",
        type=float,
        default=0.5,
        metavar="A",
        help="0.5 whitens, 0.25 is the square-root PCA, 0 rotates only",
    )


def _add_doctor(commands: _Commands) -> None:
    command = _command(commands, "doctor", "Look the library over; changes nothing.")
    _add_library(command)


def _add_ranking(command: argparse.ArgumentParser) -> None:
    standard = SearchSettings()
    command.add_argument(
        "--method",
        choices=[str(m) for m in Method],
        default=str(standard.method),
        help="auto: qam for a box, global for a whole photo",
    )
    command.add_argument("--solver", choices=[str(s) for s in Solver], default=str(standard.solver))
    command.add_argument(
        "--regions", choices=[str(r) for r in RegionScheme], default=str(RegionScheme.OSPP)
    )
    command.add_argument(
        "--expand", choices=[str(e) for e in Expansion], default=str(standard.expand)
    )
    command.add_argument(
        "--shortlist",
        type=_positive,
        default=standard.shortlist,
        metavar="N",
        help="how many candidates are re-ranked",
    )
    command.add_argument(
        "--query-scale",
        type=float,
        default=standard.query_scale,
        metavar="S",
        help="size of the box crop relative to its photo's own",
    )
    _add_size(command)


def _add_size(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--size",
        type=_positive,
        metavar="PIXELS",
        help=(
            "longest side of photos before the network, never enlarged "
            f"(default: the library's own; {FeatureSettings().size_px} for a new one)"
        ),
    )


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on, not {text!r}")
    return number
