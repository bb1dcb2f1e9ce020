"""Packages: pip and what it says on the way, and what of an earlier set-up is whole."""

import csv
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from installer.locks import Lock, normalised
from installer.places import Venv
from installer.process import Runner
from installer.progress import Screen

_MEGABYTE = 1_000_000
_WORTH_A_PERCENTAGE = 20 * _MEGABYTE
_PATIENCE_S = 2.0
_INDEX_PATIENCE_S = 15.0
_TELL_PROGRESS = ["--progress-bar", "raw"]


class Pip:
    """pip of one virtual environment."""

    def __init__(self, venv: Venv, run: Runner, screen: Screen) -> None:
        self._venv = venv
        self._run = run
        self._screen = screen

    def install(self, lock: Lock) -> None:
        """Bring every pin of a lock that this platform needs.

        A lock is complete, so pip need not look for what its packages need.
        """
        options = ["--no-deps", "--requirement", str(lock.path)]
        if lock is not Lock.SETUP:  # which brings the pip that knows this
            options += _TELL_PROGRESS
        self._install(options, total=len(lock.pins()), what=lock.value)

    def install_pins(
        self, pins: Sequence[str], *, index: str | None = None, built_here: bool = False
    ) -> None:
        """Bring some pins without what they need. ``index``: from there and nowhere else.
        ``built_here``: build from source with what the environment holds."""
        options = ["--no-deps", *_TELL_PROGRESS]
        if index is not None:
            options += ["--index-url", index]
        if built_here:
            options.append("--no-build-isolation")
        self._install([*options, *pins], total=len(pins), what=pins[0].partition("=")[0])

    def install_refocal(self, root: Path) -> None:
        """Make `refocal` a command that runs the files of this folder. Touches no network."""
        offline = ["--no-deps", "--no-build-isolation", "--no-index"]
        self._install([*offline, "--editable", str(root)], total=1, what="refocal")

    def uninstall(self, names: Sequence[str]) -> None:
        """Remove packages; those that are not there are passed over."""
        for _line in self._run(self._command("uninstall", "--yes", *names)):
            pass

    def offers(self, pin: str, *, index: str) -> bool:
        """Whether an index answers within seconds and has this very version for us."""
        name, _, version = pin.partition("==")
        quick = ["--retries", "0", "--timeout", "4", "--index-url", index]
        deadline = time.monotonic() + _INDEX_PATIENCE_S
        for line in self._run(self._command("index", "versions", *quick, name)):
            if line and line.startswith("Available versions:"):
                return version in re.split(r"[:,\s]+", line)
            if time.monotonic() > deadline:  # a name server that is silent is beyond pip's limit
                return False
        return False

    def _install(self, options: Sequence[str], *, total: int, what: str) -> None:
        progress = _InstallProgress(self._screen, self._venv.site, total=total, what=what)
        for line in self._run(self._command("install", *options)):
            progress.see(line)
        progress.finish()

    def _command(self, verb: str, *options: str) -> list[str]:
        return [str(self._venv.python), "-m", "pip", verb, *options]


class _InstallProgress:
    """Reads the lines of ``pip install`` and draws where it stands."""

    def __init__(self, screen: Screen, site: Path, *, total: int, what: str) -> None:
        self._screen = screen
        self._site = site
        self._total = total
        self._package = what
        self._seen = 0
        self._percent = 0
        self._coming: set[str] = set()
        self._arrived = 0
        self._text = f"  {what}"
        self._since = time.monotonic()

    def see(self, line: str | None) -> None:
        """One line, or None for a beat without one."""
        if line is None:
            self._beat()
        elif line.startswith("Ignoring "):
            self._total -= 1
        elif found := re.match(r"(Collecting|Requirement already satisfied:) ([\w.+-]+)", line):
            self._next(found[2], quiet=not found[1].startswith("C"))
        elif found := re.match(r"Processing (?:.*[/\\])?([\w.+]+?)-\d[^/\\]*\.whl", line):
            self._next(found[1], quiet=False)
        elif found := re.match(r"Progress (\d+) of (\d+)", line):
            self._load(int(found[1]), int(found[2]))
        elif line.lstrip().startswith("Building ") and line.endswith("started"):
            self._draw(f"  building {self._package}")
        elif line.startswith("Installing collected packages: "):
            self._coming = {normalised(name) for name in line.partition(": ")[2].split(", ")}
            self._draw("  unpacking")

    def finish(self) -> None:
        """pip has ended well."""
        if len(self._coming) > 1:
            self._draw(f"  unpacked: {len(self._coming)} packages")

    def _next(self, package: str, *, quiet: bool) -> None:
        self._seen += 1
        self._package = normalised(package)
        self._percent = 0
        if not quiet:
            self._draw(f"  [{self._seen}/{self._total}] {self._package}")

    def _load(self, done: int, size: int) -> None:
        percent = 100 * done // max(size, 1)
        if size >= _WORTH_A_PERCENTAGE and percent >= self._percent + self._step(100):
            self._percent = percent
            megabytes = f"{done // _MEGABYTE} of {size // _MEGABYTE} MB"
            place = f"[{self._seen}/{self._total}] {self._package}"
            self._draw(f"  {place}: {megabytes} ({percent} %)")

    def _count(self) -> None:
        """What has arrived: pip itself says nothing while it unpacks."""
        arrived = len(self._coming & _installed(self._site))
        if arrived >= self._arrived + self._step(len(self._coming)):
            self._arrived = arrived
            self._draw(f"  unpacking: {arrived} of {len(self._coming)} packages")

    def _step(self, total: int) -> int:
        """How much must have happened for a new line."""
        return 1 if self._screen.terminal else max(1, total // 10)

    def _beat(self) -> None:
        if len(self._coming) > 1:
            self._count()
        waited_s = time.monotonic() - self._since
        if self._screen.terminal and waited_s > _PATIENCE_S:
            self._screen.draw(f"{self._text} … {waited_s:.0f} s")

    def _draw(self, text: str) -> None:
        self._text = text
        self._since = time.monotonic()
        self._screen.draw(text)


def remove_halves(site: Path) -> list[str]:
    """Forget every package that is not wholly there, so that pip brings it again.

    pip writes a package's list of files last; one without that list, or with a listed file
    missing or of another size, was cut off. Returns the names.
    """
    found = []
    for leftover in site.glob("~*"):
        shutil.rmtree(leftover, ignore_errors=True)
    for facts in sorted(site.glob("*.dist-info")):
        if not _whole(facts):
            found.append(facts.name.partition("-")[0])
            shutil.rmtree(facts)
    return found


def _whole(facts: Path) -> bool:
    try:
        with (facts / "RECORD").open(encoding="utf-8", newline="") as record:
            return all(
                _has_size(facts.parent / name, size)
                for name, _hash, size in csv.reader(record)
                if not name.endswith(".pyc")
            )
    except (OSError, ValueError):
        return False


def _has_size(path: Path, size: str) -> bool:
    return path.exists() if not size else path.stat().st_size == int(size)


def _installed(site: Path) -> set[str]:
    return {normalised(facts.name.partition("-")[0]) for facts in site.glob("*.dist-info")}
