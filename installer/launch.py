"""``installer/run.py``: set up what is missing, then become Refocal."""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from installer.distributions import family
from installer.environment import Environment, Wish
from installer.places import ROOT, Venv
from installer.process import SetupError
from installer.progress import Screen
from installer.torch_build import Build

_EPILOG = """\
Everything else is passed to refocal: `installer/run.py index FOLDER` is `refocal index FOLDER`,
and `installer/run.py --help` stands alone; `installer/run.py -- --help` is refocal's.
"""


def main(arguments: Sequence[str]) -> int:
    """Exit status: refocal's, or 1 with a reason if the set-up fails, or 2 for wrong usage."""
    own, passed = split(arguments)
    options = _parser().parse_args(own)
    screen = Screen()
    venv = Venv()
    try:
        build = chosen_build(options.torch)
        wish = Wish(build=build, indexes=options.torch_index, thorough=options.setup_only)
        environment = Environment(venv, screen=screen)
        if not environment.ready(wish):
            environment.bring_up(wish)
        if options.setup_only:
            screen.say(f"Refocal is set up. Start it with {venv.program('refocal')}")
            return 0
        return _start(environment, venv, passed, screen)
    except SetupError as error:
        screen.say(str(error))
        return 1
    except OSError as error:
        screen.say(f"The set-up stopped: {error}")
        return 1
    except KeyboardInterrupt:
        screen.say("Stopped. Start this again to go on from here.")
        return 130


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part the options of run.py, which come first, from the arguments of refocal."""
    own: list[str] = []
    rest = list(arguments)
    while rest:
        name = rest[0].partition("=")[0]
        if name == "--":
            rest.pop(0)
            break
        if name not in {"-h", "--help", "--setup-only", "--torch", "--torch-index"}:
            break
        own.append(rest.pop(0))
        if name in {"--torch", "--torch-index"} and "=" not in own[-1] and rest:
            own.append(rest.pop(0))
    return own, rest


def chosen_build(name: str | None) -> Build | None:
    """The build that ``--torch`` names.

    Raises:
        SetupError: this system has no such build.
    """
    if name == Build.CUDA and sys.platform == "darwin":
        raise SetupError("There is no CUDA on macOS: leave --torch away, or say --torch cpu.")
    return Build(name) if name is not None else None


def has_display(environment: Mapping[str, str]) -> bool:
    """Whether a window can be seen. ``environment``: the environment variables."""
    if sys.platform != "linux" or environment.get("QT_QPA_PLATFORM"):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def opens_window(passed: Sequence[str]) -> bool:
    """Whether refocal opens a window for these arguments: they name no command, only places."""
    if {"-h", "--help", "--version"} & set(passed):
        return False
    words = [word for word in passed if not word.startswith("-")]
    return all(Path(word).exists() for word in words)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="installer/run.py",
        description="Set Refocal up in .venv, if that is still to do, and start it.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--torch",
        choices=[build.value for build in Build],
        help="which build of torch: by default CUDA if there is an NVIDIA driver, else CPU;"
        " a choice is remembered",
    )
    parser.add_argument(
        "--torch-index",
        metavar="URL",
        help="a mirror of https://download.pytorch.org/whl",
    )
    parser.add_argument("--setup-only", action="store_true", help="set up and start nothing")
    return parser


def _start(environment: Environment, venv: Venv, passed: list[str], screen: Screen) -> int:
    refocal = str(venv.program("refocal"))
    if not opens_window(passed):
        return _become([refocal, *passed])
    if not has_display(os.environ):
        return demonstrate([refocal, *passed], screen)
    lack = environment.lack()
    if lack.stops(os.environ):
        here = family()
        packages = here.packages(lack.libraries, font=lack.font) if here else []
        hint = f"\n  {here.command(packages)}" if here and packages else ""
        raise SetupError(f"A window cannot open here: Qt lacks {lack}.{hint}")
    return _become([refocal, *passed])


def demonstrate(command: list[str], screen: Screen) -> int:
    """Without a display: drive the same window offscreen, and say where its picture lies."""
    picture = ROOT / "build" / "refocal-window.png"
    picture.parent.mkdir(exist_ok=True)
    picture.unlink(missing_ok=True)
    screen.say("There is no display here, so the window is driven unseen through a sample search.")
    status = subprocess.call(
        [*command, "--demo-picture", str(picture)],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
    )
    if status == 0 and picture.exists():
        screen.say(f"Its picture: {picture}")
    else:
        screen.say("The window could not be driven; what it said stands above.")
    return status if status or picture.exists() else 1


def _become(command: list[str]) -> int:
    """Turn into another program, so that signals and the exit status are its own."""
    if os.name == "nt":
        return subprocess.call(command)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)
