"""``installer/test.py``: the one way to check Refocal, the same here and in CI."""

import argparse
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from installer.environment import Environment, Wish
from installer.launch import chosen_build
from installer.places import ROOT, Venv
from installer.process import SetupError
from installer.progress import Screen
from installer.torch_build import Build

_CONTRACTS = "from importlinter.cli import lint_imports_command as run; run()"


@dataclass(frozen=True, slots=True)
class Check:
    """``arguments``: of the environment's Python."""

    name: str
    what: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one check ended."""

    check: Check
    status: int
    seconds: float

    def __str__(self) -> str:
        said = "ok" if self.status == 0 else f"FAILED ({self.status})"
        return f"{self.check.name:<10} {said:<12} {self.seconds:7.1f} s   {self.check.what}"


CHECKS = (
    Check("format", "ruff format --check", ("-m", "ruff", "format", "--check", ".")),
    Check("lint", "ruff check", ("-m", "ruff", "check", ".")),
    Check("types", "mypy --strict", ("-m", "mypy")),
    Check("contracts", "import-linter", ("-c", _CONTRACTS)),
    Check("tests", "pytest", ("-m", "pytest")),
)


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 if every check passes, else 1; 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    screen = Screen()
    venv = Venv()
    try:
        wish = Wish(build=chosen_build(options.torch), dev=True, indexes=options.torch_index)
        environment = Environment(venv, screen=screen)
        if not environment.ready(wish):
            environment.bring_up(wish)
        outcomes = [
            _run(check, venv, options.pytest if check.name == "tests" else [])
            for check in CHECKS
            if not options.only or check.name in options.only
        ]
    except SetupError as error:
        screen.say(str(error))
        return 1
    except KeyboardInterrupt:
        screen.say("Stopped.")
        return 130
    print("\n" + "\n".join(str(outcome) for outcome in outcomes), flush=True)
    return 1 if any(outcome.status for outcome in outcomes) else 0


def environment_for_checks(given: dict[str, str], *, cores: int) -> dict[str, str]:
    """The environment variables of the checks: no screen, and one core left for the rest.

    What the person set stays.
    """
    threads = str(max(1, cores - 1))
    ours = {"QT_QPA_PLATFORM": "offscreen"}
    ours |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
    return ours | given


def _run(check: Check, venv: Venv, extra: Sequence[str]) -> Outcome:
    print(f"\n=== {check.name}: {check.what}", flush=True)
    began = time.monotonic()
    status = subprocess.call(
        [str(venv.python), *check.arguments, *extra],
        cwd=ROOT,
        env=environment_for_checks(dict(os.environ), cores=os.cpu_count() or 1),
    )
    return Outcome(check, status, time.monotonic() - began)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="installer/test.py", description="Check Refocal.", allow_abbrev=False
    )
    parser.add_argument(
        "--only",
        type=_names,
        metavar="NAME,...",
        help=f"some of: {', '.join(check.name for check in CHECKS)}",
    )
    parser.add_argument("--torch", choices=[build.value for build in Build])
    parser.add_argument("--torch-index", metavar="URL")
    parser.add_argument("pytest", nargs="*", help="arguments of pytest, after --")
    return parser


def _names(text: str) -> set[str]:
    names = set(text.split(","))
    unknown = names - {check.name for check in CHECKS}
    if unknown:
        raise argparse.ArgumentTypeError(f"no such check: {', '.join(sorted(unknown))}")
    return names
