"""The grammar of the command line."""

import argparse
import math
from pathlib import Path
from typing import TypeAlias

from engine.cli.networks import NAME as NETWORKS
from engine.cli.networks import add_networks
from engine.cli.training import NAME as TRAIN
from engine.cli.training import add_train
from engine.config import (
    Aggregation,
    Clustering,
    Codec,
    Expansion,
    FeatureSettings,
    Method,
    NetworkChoice,
    Pooling,
    RegionScheme,
    SearchSettings,
    Solver,
)
from engine.errors import ExportError, SettingsError
from engine.exporting import ExportForm, form_of
from engine.network.kept import kept_ids
from engine.network.registry import DEFAULT
from engine.types import Box

FETCH = "fetch"


_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

SWEEPS = ("k", "layer", "size", "query-scale")
SUBCOMMANDS = ("index", "search", "evaluate", "doctor", NETWORKS, TRAIN)


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
    add_networks(commands, path)
    _add_network(add_train(commands, path))
    return root


def box(text: str) -> Box:
    """``X,Y,W,H`` in pixels of the upright photo."""
    parts = text.split(",")
    try:
        x, y, w, h = (float(part) for part in parts)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a box is X,Y,W,H in pixels, not {text!r}") from None
    return Box(x, y, w, h)


def path(text: str) -> Path:
    """A path; an empty one would silently be the working directory."""
    if not text:
        raise argparse.ArgumentTypeError("a path cannot be empty")
    return Path(text)


def search_settings(options: argparse.Namespace) -> SearchSettings:
    """The settings that the options name."""
    return SearchSettings(
        method=Method(options.method),
        solver=Solver(options.solver),
        shortlist=options.shortlist,
        query_scales=options.query_scale,
        expand=Expansion(options.expand),
    )


def network_choice(
    options: argparse.Namespace, weights: Path | None, folder: Path
) -> NetworkChoice | None:
    """The network that the options name, with this file of weights or out of the folder of those
    that the library keeps; None: they name none.

    Raises:
        SettingsError: a kept network has its own weights and its own layer.
    """
    if options.network is None and weights is None and options.layer is None:
        return None
    name = options.network or DEFAULT
    if name not in kept_ids(folder):
        return NetworkChoice(name, weights, options.layer)
    if weights is not None or options.layer is not None:
        raise SettingsError(f"{name} has its own weights and its own layer")
    return NetworkChoice(name, folder=folder / name)


def _command(commands: _Commands, name: str, summary: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=summary, description=summary)
    command.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return command


def _add_library(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--library", type=path, metavar="DIR", help="the library (default: your data folder)"
    )


def _add_index(commands: _Commands) -> None:
    command = _command(commands, "index", "Add folders and index what is new.")
    command.add_argument("folders", nargs="*", type=path, metavar="FOLDER")
    _add_library(command)
    _add_features(command)
    _add_network(command)
    command.add_argument(
        "--retry-failed", action="store_true", help="try again the photos that failed before"
    )


def _add_search(commands: _Commands) -> None:
    command = _command(commands, "search", "Find every photo that has the thing in the box.")
    command.add_argument("photo", type=path, metavar="PHOTO")
    command.add_argument("--box", type=box, metavar="X,Y,W,H", help="pixels of the upright photo")
    command.add_argument("--top", type=_positive, default=20, metavar="N", help="how many hits")
    command.add_argument(
        "--min-score", type=_cosine, metavar="X", help="leave out hits that score less than X"
    )
    command.add_argument(
        "--like",
        type=path,
        action="append",
        default=[],
        metavar="PHOTO",
        help="more like this photo of the library; may be given again",
    )
    command.add_argument(
        "--unlike",
        type=path,
        action="append",
        default=[],
        metavar="PHOTO",
        help="not this photo of the library; may be given again",
    )
    command.add_argument(
        "--focus", type=path, metavar="DIR", help="write a focus map for each hit, as PNG"
    )
    command.add_argument(
        "--export",
        type=_export_target,
        metavar="FILE",
        help=f"write the hits to a file that ends in {', '.join(ExportForm)}",
    )
    _add_library(command)
    _add_ranking(command)
    _add_network(command)


def _add_evaluate(commands: _Commands) -> None:
    command = _command(commands, "evaluate", "Measure retrieval on a folder with a ground truth.")
    command.add_argument(
        "folder",
        type=path,
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
        "--footprints",
        action="store_true",
        help="judge the stored regions' footprints, not the exact focus maps",
    )
    _add_comparing(command)
    command.add_argument("--library", type=path, metavar="DIR", help="whose networks there are")
    _add_ranking(command)
    _add_network(command)


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
        "--layers",
        type=lambda text: tuple(text.split(",")),
        default=(),
        metavar="NAME[,NAME...]",
        help="of --sweep layer; needed for other networks than the shipped one",
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
        help="qam: the paper's free merge; best: the best region; sparse: the standard",
    )
    command.add_argument("--solver", choices=[str(s) for s in Solver], default=str(standard.solver))
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
        type=_floats,
        metavar="S[,S...]",
        help=(
            "sizes at which the query is seen, relative to its photo's own (default: for a box "
            "0.5,0.85, for a photo 1 and, if it is small, 1.41)"
        ),
    )
    _add_features(command)


def _add_features(command: argparse.ArgumentParser) -> None:
    standard = FeatureSettings()
    command.add_argument(
        "--size",
        type=_positive,
        metavar="PIXELS",
        help=(
            "longest side of photos before the network, never enlarged "
            f"(default: the library's own; {standard.size_px} for a new one)"
        ),
    )
    command.add_argument("--regions", choices=[str(r) for r in RegionScheme])
    command.add_argument(
        "--levels",
        type=_whole_numbers,
        metavar="L[,L...]",
        help=f"of the pyramid of squares (default: {','.join(map(str, standard.levels))})",
    )
    command.add_argument("--clusters", type=int, metavar="K", help="of fmp; 0 for none")
    command.add_argument("--clustering", choices=[str(c) for c in Clustering])
    command.add_argument("--pooling", choices=[str(p) for p in Pooling], help="of regions")
    command.add_argument(
        "--aggregation", choices=[str(a) for a in Aggregation], help="of whole photos and queries"
    )
    command.add_argument(
        "--photo-scales",
        type=_floats,
        metavar="S[,S...]",
        help="sizes of a photo of which its descriptor is the mean (default: 1)",
    )
    command.add_argument("--codec", choices=[str(c) for c in Codec], help="how regions are stored")


def _add_network(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--network",
        metavar="NAME",
        help=(
            f"{DEFAULT}, vgg19, googlenet, resnet152, resnet101, resnet50, timm:NAME, or one that "
            "'refocal networks' lists "
            f"(default: the library's own; {DEFAULT} for a new one)"
        ),
    )
    command.add_argument(
        "--weights",
        metavar="FILE",
        help=(
            "the network's weights, .pth or .safetensors; "
            f"'{FETCH}': get torchvision's from the internet, once"
        ),
    )
    command.add_argument(
        "--layer", metavar="NAME", help="whose output is the feature map (default: the paper's)"
    )


def feature_settings(options: argparse.Namespace) -> FeatureSettings | None:
    """What the options say of the numbers stored for photos; None: nothing, the library's own."""
    given = {
        "size_px": options.size,
        "regions": options.regions and RegionScheme(options.regions),
        "levels": options.levels,
        "clusters": options.clusters,
        "clustering": options.clustering and Clustering(options.clustering),
        "pooling": options.pooling and Pooling(options.pooling),
        "aggregation": options.aggregation and Aggregation(options.aggregation),
        "photo_scales": options.photo_scales,
        "codec": options.codec and Codec(options.codec),
    }
    asked = {name: value for name, value in given.items() if value is not None}
    return FeatureSettings(**asked) if asked else None


def _floats(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"numbers and commas, not {text!r}") from None


def _whole_numbers(text: str) -> tuple[int, ...]:
    return tuple(_positive(part) for part in text.split(","))


def _cosine(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not -1 <= number <= 1:
        raise argparse.ArgumentTypeError(f"a score is a number from -1 to 1, not {text!r}")
    return number


def _export_target(text: str) -> Path:
    target = path(text)
    try:
        form_of(target)
    except ExportError as error:
        raise argparse.ArgumentTypeError(error.reason) from None
    return target


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on, not {text!r}")
    return number
