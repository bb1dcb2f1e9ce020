"""What the operating system must bring for Qt: libraries and a font (Linux only).

PySide6's wheels carry Qt but not the system libraries below it, and Qt's own message blames one
library whichever is missing. Here the linker itself is asked.
"""

import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from installer.distributions import DEBIAN, Family
from installer.process import CommandError, Runner
from installer.progress import Screen

_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
_WITHOUT_QUESTIONS = {"DEBIAN_FRONTEND": "noninteractive"}


@dataclass(frozen=True, slots=True)
class Missing:
    """``window``: libraries without which Qt cannot even draw offscreen; ``screen``: those that
    a window on an X11 screen needs beside; ``font``: there is no font at all."""

    window: frozenset[str] = frozenset()
    screen: frozenset[str] = frozenset()
    font: bool = False

    def __bool__(self) -> bool:
        return bool(self.window or self.screen or self.font)

    @property
    def libraries(self) -> frozenset[str]:
        """All libraries, as the linker names them."""
        return self.window | self.screen

    def __str__(self) -> str:
        return ", ".join([*sorted(self.libraries), *(["a font"] if self.font else [])])

    def stops(self, environment: "os._Environ[str] | dict[str, str]") -> bool:
        """Whether a window cannot open in this environment."""
        on_x11 = environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY")
        offscreen = environment.get("QT_QPA_PLATFORM") == "offscreen"
        return bool(self.window or (self.screen and on_x11 and not offscreen))


def missing(site: Path, run: Runner) -> Missing:
    """What Qt, lying in ``site``, lacks here."""
    qt = site / "PySide6"
    if sys.platform != "linux" or shutil.which("ldd") is None or not qt.is_dir():
        return Missing()
    plugins = qt / "Qt" / "plugins" / "platforms"
    window = _unresolved(
        [*qt.glob("QtWidgets.*.so"), *qt.glob("QtNetwork.*.so"), plugins / "libqoffscreen.so"], run
    )
    screen = _unresolved([plugins / "libqxcb.so"], run)
    return Missing(window, screen - window, font=not _any_font())


def bring(lack: Missing, family: Family | None, run: Runner, screen: Screen) -> bool:
    """Install what is missing where that may be done without asking: as root, on Debian's kin.

    Returns whether it was done; elsewhere the command is said.
    """
    screen.say(f"Qt needs from this system: {lack}")
    packages = family.packages(lack.libraries, font=lack.font) if family else []
    if family is DEBIAN and packages and os.name == "posix" and os.geteuid() == 0:
        return install(packages, run, screen)
    if family and packages:
        screen.say(f"  It comes with: {family.command(packages)}")
    else:
        screen.say("  Find the packages that bring these files with your system's installer.")
    return False


def install(packages: Iterable[str], run: Runner, screen: Screen) -> bool:
    """Install packages of Debian's kin, as root. Returns whether it worked."""
    command = [*DEBIAN.install, "--yes", "--no-install-recommends", *packages]
    screen.say(f"  {' '.join(command)}")
    # A fresh machine has no lists, and old lists name packages that are gone.
    for attempt in ([command], [["apt-get", "update"], command]):
        try:
            for step in attempt:
                for _line in run(step, extra=_WITHOUT_QUESTIONS):
                    pass
        except (CommandError, OSError) as error:
            failure = error
        else:
            return True
    screen.say(f"  That did not work: {failure}")
    return False


def _unresolved(files: Iterable[Path], run: Runner) -> frozenset[str]:
    """The libraries that the linker does not find for these files."""
    found = set()
    for file in files:
        try:
            for line in run(["ldd", str(file)]):
                name, arrow, place = (line or "").strip().partition(" => ")
                if arrow and place == "not found":
                    found.add(name)
        except CommandError:
            continue  # not a file that ldd can read: nothing can be said of it
    return frozenset(found)


def _any_font() -> bool:
    return any(
        next(Path(folder).expanduser().rglob(pattern), None)
        for folder in _FONT_FOLDERS
        for pattern in ("*.[to]tf", "*.ttc", "*.pf[ab]")
    )
