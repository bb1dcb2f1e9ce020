"""Runs one command: parses, calls the engine, prints, and turns errors into exit codes."""

import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType

from engine.cli import commands
from engine.cli.arguments import parser
from engine.errors import PhotoError, RefocalError
from engine.jobs import Cancelled, Progress, Ticket
from engine.store.paths import spelled
from engine.training.torchrun import is_first

_POLL_S = 0.25
_LINE_EVERY_S = 10.0

DONE, FAILED, STOPPED = 0, 1, 130


def main(arguments: Sequence[str]) -> int:
    """Run ``refocal ARGUMENTS`` and return its exit status.

    Raises:
        SystemExit: with 2, wrong usage (argparse prints why).
    """
    _survive_odd_names()
    logging.basicConfig(level=logging.WARNING, format="refocal: %(message)s")
    options = parser().parse_args(arguments)
    ticket = Ticket()
    try:
        with _interruptible(ticket), _progress_shown(ticket):
            return commands.run(options, ticket)
    except Cancelled:
        print("refocal: stopped; what was finished is kept", file=sys.stderr)
        return STOPPED
    except PhotoError as error:
        where = f"{spelled(error.path)}: " if error.path else ""
        print(f"refocal: {where}{error.reason}", file=sys.stderr)
        return FAILED
    except RefocalError as error:
        print(f"refocal: {error.reason}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # whoever read our output went away
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
        return FAILED
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        print(f"refocal: {error.strerror or error}{where}", file=sys.stderr)
        return FAILED


def _survive_odd_names() -> None:
    """File names need not be valid text in this locale; showing them must not fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def _interruptible(ticket: Ticket) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM asks the job to stop, a second one ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, _frame: FrameType | None) -> None:
        if ticket.cancelled:
            raise KeyboardInterrupt
        ticket.cancel()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _progress_shown(ticket: Ticket) -> Iterator[None]:
    """Tell on standard error how far the job is: one moving line, or a line now and then. Of
    several processes that train together one tells it."""
    if not is_first():
        yield
        return
    finished = threading.Event()
    watcher = threading.Thread(target=_watch, args=(ticket, finished), name="progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()


def _watch(ticket: Ticket, finished: threading.Event) -> None:
    moving = sys.stderr.isatty()
    shown = ""
    while not finished.wait(_POLL_S if moving else _LINE_EVERY_S):
        line = describe(ticket.progress)
        if line != shown:
            shown = line
            sys.stderr.write(f"\r\033[K{line}" if moving else f"{line}\n")
            sys.stderr.flush()
    if moving and shown:
        sys.stderr.write("\r\033[K")


def describe(progress: Progress) -> str:
    """One line for people: stage, N of M, photos a second, time left."""
    line = progress.stage
    if progress.total:
        line += f" {progress.done:,} of {progress.total:,}"
    if progress.per_second:
        line += f" · {progress.per_second:.1f}/s"
    if progress.seconds_left is not None:
        line += f" · {_as_clock(round(progress.seconds_left))} left"
    return line


def _as_clock(seconds: int) -> str:
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
