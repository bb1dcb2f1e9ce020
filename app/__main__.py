"""``refocal``: with a sub-command the command line, without one the window.

Spawned decoders import this module again, so it imports nothing heavy before it is called.
"""

import multiprocessing
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

_WITH_VALUE = frozenset({"--library", "--demo-picture"})


def main() -> int:
    """Run what the arguments of this process ask for; the exit status."""
    multiprocessing.freeze_support()
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"refocal {version('refocal')}\n")
        return 0
    if opens_window(arguments):
        from app.main import run

        return run(arguments)
    from engine.cli.main import main as command_line

    return command_line(arguments)


def opens_window(arguments: Sequence[str]) -> bool:
    """Whether the arguments ask for the window: they name no command, at most a photo.

    A word that is neither a command nor looks like a file is taken for a mistyped command.
    """
    if {"-h", "--help"} & set(arguments):
        return False
    word = _first_word(arguments)
    if word is None:
        return True
    from engine.cli.arguments import SUBCOMMANDS

    looks_like_file = len(Path(word).parts) > 1 or bool(Path(word).suffix) or Path(word).exists()
    return word not in SUBCOMMANDS and looks_like_file


def _first_word(arguments: Sequence[str]) -> str | None:
    rest = iter(arguments)
    for argument in rest:
        if argument in _WITH_VALUE:
            next(rest, None)
        elif not argument.startswith("-"):
            return argument
    return None


if __name__ == "__main__":
    sys.exit(main())
