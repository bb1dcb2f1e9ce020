"""Brings the virtual environment to what the locks say, step by step.

A finished step is stamped with a fingerprint of what it was done from and not done again until
that changes. A step that was begun and not finished is found by the stamp too: then every package
is checked file by file, and what is not whole is brought again.
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from installer import stamp as stamps
from installer import system, torch_build
from installer.distributions import DEBIAN, family
from installer.locks import Lock, cuda_only
from installer.packages import Pip, remove_halves
from installer.places import ROOT, Venv, python_tag
from installer.process import CommandError, LoggedRunner, Runner, SetupError
from installer.progress import Screen
from installer.torch_build import Build, Source

# Gigabytes that a fresh set-up fills.
_NEEDED_GB = {Build.CPU: 2, Build.CUDA: 7}
_TELL_TAG = (
    "import sys, sysconfig; print(f'{sys.implementation.cache_tag}-{sysconfig.get_platform()}')"
)


@dataclass(frozen=True, slots=True)
class Wish:
    """``build`` None: the one that was chosen before, else the one that fits this machine.
    ``dev``: with the tools of the gate. ``indexes``: a mirror of PyTorch's indexes. ``thorough``:
    try again what could be done without."""

    build: Build | None = None
    dev: bool = False
    indexes: str | None = None
    thorough: bool = False


class Environment:
    """One virtual environment and what was done to it."""

    def __init__(
        self, venv: Venv, *, screen: Screen | None = None, run: Runner | None = None
    ) -> None:
        self._venv = venv
        self._screen = screen or Screen()
        temporary = None if os.name == "nt" else venv.temporary  # there: short paths matter more
        self._run = run or LoggedRunner(venv.log, temporary=temporary)
        self._pip = Pip(venv, self._run, self._screen)
        self._stamp = stamps.load(venv.stamp) or stamps.Stamp()

    def ready(self, wish: Wish) -> bool:
        """Whether nothing is left to do for this wish. Takes milliseconds."""
        return self._whole() and not self._steps(wish)

    def bring_up(self, wish: Wish) -> None:
        """Do what is left to do.

        Raises:
            SetupError: it cannot be done; says what to do.
        """
        with stamps.alone(self._venv, self._screen):
            found = stamps.load(self._venv.stamp)
            self._stamp = found or stamps.Stamp()
            # Of a set-up that was killed gigabytes may lie here.
            shutil.rmtree(self._venv.temporary, ignore_errors=True)
            try:
                if not self.ready(wish):
                    self._bring_up(wish)
            finally:
                shutil.rmtree(self._venv.temporary, ignore_errors=True)

    def lack(self) -> system.Missing:
        """What a window still lacks here; asks the linker only if something was missing before."""
        if "system" not in self._stamp.excuses:
            return system.Missing()
        lack = system.missing(self._venv.site, self._run)
        if not lack:
            del self._stamp.excuses["system"]
            self._stamp.save(self._venv.stamp)
        return lack

    # --- the plan -------------------------------------------------------------------------

    def _whole(self) -> bool:
        return self._stamp.busy is None and self._stamp.done.get("venv") == stamps.of_python(
            self._venv
        )

    def _steps(self, wish: Wish) -> list[tuple[str, str, Callable[[], None]]]:
        """Name, fingerprint and deed of every step that is left, in order."""
        build = self._wanted(wish)
        runtime = stamps.of_files(Lock.CPU.path, Lock.CUDA.path)
        steps: list[tuple[str, str, Callable[[], None]]] = [
            ("setup", stamps.of_files(Lock.SETUP.path), lambda: self._pip.install(Lock.SETUP)),
            ("runtime", f"{build} {runtime}", lambda: self._bring_runtime(wish)),
            (
                "refocal",
                f"{ROOT} {stamps.of_files(ROOT / 'pyproject.toml')}",
                lambda: self._pip.install_refocal(ROOT),
            ),
            ("ann", stamps.of_files(Lock.ANN.path), self._bring_ann),
            ("system", stamps.of_files(Lock.CPU.path), self._bring_system),
        ]
        if wish.dev:
            dev = stamps.of_files(Lock.DEV.path)
            steps.insert(3, ("dev", dev, lambda: self._pip.install(Lock.DEV)))
        return [step for step in steps if not self._is_done(*step[:2], thorough=wish.thorough)]

    def _is_done(self, step: str, fingerprint: str, *, thorough: bool) -> bool:
        if self._stamp.done.get(step) != fingerprint:
            return False
        if step == "refocal" and not self._venv.program("refocal").exists():
            return False
        excuse = self._stamp.excuses.get(step)
        if excuse is None or step == "system":
            return True
        # hnswlib was done without: worth another try once there is another compiler.
        return excuse == _compiler() and not thorough

    def _wanted(self, wish: Wish) -> Build:
        if wish.build is not None:
            return wish.build
        if self._stamp.wanted is not None:
            return Build(self._stamp.wanted)
        return Build.CUDA if torch_build.nvidia_driver() else Build.CPU

    # --- the deeds ------------------------------------------------------------------------

    def _bring_up(self, wish: Wish) -> None:
        self._screen.say(f"Setting Refocal up in {self._venv.root}")
        self._make_venv()
        steps = self._steps(wish)
        for number, (step, fingerprint, deed) in enumerate(steps, start=1):
            self._screen.say(f"({number}/{len(steps)}) {_TITLES[step]}")
            self._stamp.busy = step
            self._stamp.excuses.pop(step, None)
            self._stamp.save(self._venv.stamp)
            try:
                deed()
            except CommandError as error:
                raise SetupError(_explained(step, error, self._venv)) from error
            self._stamp.done[step] = fingerprint
            self._stamp.busy = None
            self._stamp.save(self._venv.stamp)

    def _make_venv(self) -> None:
        """Make the environment, or mend the one that is there."""
        fingerprint = stamps.of_python(self._venv)
        if self._stamp.done.get("venv") == fingerprint and self._stamp.busy is None:
            return
        there = self._tag_there()
        if there not in {None, python_tag()}:
            self._screen.say("  It was made for another Python, so it is made anew.")
        if there != python_tag():
            shutil.rmtree(self._venv.root, ignore_errors=True)
            self._stamp = stamps.Stamp(wanted=self._stamp.wanted)
        elif halves := remove_halves(self._venv.site):
            self._screen.say(f"  Half there, and brought again: {', '.join(halves)}")
        if there != python_tag() or self._stamp.done.get("venv") != fingerprint:
            self._run_venv()
            self._stamp.done.pop("refocal", None)  # its command names the interpreter by path
        if not self._works("-m", "pip", "--version"):
            self._lines("-m", "ensurepip", "--default-pip")
        # What was whole is checked by pip in moments; what was not comes again.
        self._stamp.done = {"venv": stamps.of_python(self._venv)}
        self._stamp.busy = None
        self._stamp.save(self._venv.stamp)

    def _run_venv(self) -> None:
        base = getattr(sys, "_base_executable", None) or sys.executable
        command = [base, "-m", "venv", str(self._venv.root)]
        try:
            _exhaust(self._run, command)
        except CommandError as error:
            package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
            if family() is not DEBIAN or "ensurepip" not in " ".join(error.tail):
                raise SetupError(_explained("venv", error, self._venv)) from error
            if os.geteuid() != 0 or not system.install([package], self._run, self._screen):
                raise SetupError(
                    f"This Python cannot make virtual environments. Bring what it lacks with:"
                    f"\n  {DEBIAN.command([package])}\nand start this again."
                ) from error
            shutil.rmtree(self._venv.root, ignore_errors=True)
            _exhaust(self._run, command)

    def _tag_there(self) -> str | None:
        """Which Python the environment that is there was made for, or None."""
        if not self._venv.python.exists():
            return None
        try:
            lines = list(self._run([str(self._venv.python), "-c", _TELL_TAG]))
        except (CommandError, OSError):
            return None
        return next((line for line in lines if line), None)

    def _bring_runtime(self, wish: Wish) -> None:
        wanted = self._wanted(wish)
        self._stamp.wanted = wanted.value
        chosen = self._choose(
            torch_build.source(wanted, indexes=wish.indexes), asked=wish.build is not None
        )
        self._make_room(chosen)
        self._pip.install(chosen.lock)
        self._stamp.build = chosen.build.value

    def _choose(self, source: Source, *, asked: bool) -> Source:
        """Bring torch from PyTorch's index if it is to come from there, or fall back to PyPI's."""
        if source.index is None or source.fallback is None:
            return source
        pins = source.pins()
        if all((self._venv.site / f"{pin.replace('==', '-')}.dist-info").exists() for pin in pins):
            return source
        there = torch_build.installed(self._venv.site)
        if there is not None and there.build is source.fallback.build and not asked:
            return source.fallback
        self._screen.say(f"  Asking {source.index} for the {source.build.upper()} build of torch")
        try:
            if not self._pip.offers(pins[0], index=source.index):
                raise LookupError
            self._make_room(source)
            self._pip.install_pins(pins, index=source.index)
        except (CommandError, LookupError):
            heavy = source.fallback.build is Build.CUDA
            size = " It brings 3 GB of CUDA libraries, and runs on any CPU too." if heavy else ""
            self._screen.say(f"  It has none for this machine just now: taking PyPI's torch.{size}")
            return source.fallback
        return source

    def _make_room(self, source: Source) -> None:
        """Remove a torch of the other build, whose version would look right to pip."""
        there = torch_build.installed(self._venv.site)
        if there is not None and there.build is not source.build:
            self._screen.say(f"  Removing the {there.build.upper()} build of torch")
            self._pip.uninstall(["torch", "torchvision", *cuda_only()])
        if there is None:
            free_gb = shutil.disk_usage(self._venv.root).free / 1e9
            if free_gb < _NEEDED_GB[source.build]:
                raise SetupError(
                    f"The disk of {self._venv.root} has {free_gb:.1f} GB free;"
                    f" this needs {_NEEDED_GB[source.build]} GB."
                )

    def _bring_ann(self) -> None:
        pins = [f"{name}=={version}" for name, version in Lock.ANN.pins().items()]
        try:
            self._pip.install_pins(pins, built_here=True)
        except CommandError:
            self._stamp.excuses["ann"] = _compiler()
            self._screen.say(
                f"  {pins[0]} comes as source, and it could not be built here"
                f" ({'details in ' + str(self._venv.log) if _compiler() else 'no C++ compiler'}).\n"
                "  Refocal works without it: search is exact, and slower from about 5,000 photos"
                " on.\n  It is tried again when a compiler appears, and by --setup-only."
            )

    def _bring_system(self) -> None:
        lack = system.missing(self._venv.site, self._run)
        if lack and system.bring(lack, family(), self._run, self._screen):
            lack = system.missing(self._venv.site, self._run)
        if lack:
            self._stamp.excuses["system"] = str(lack)

    def _works(self, *arguments: str) -> bool:
        try:
            self._lines(*arguments)
        except CommandError:
            return False
        return True

    def _lines(self, *arguments: str) -> None:
        _exhaust(self._run, [str(self._venv.python), *arguments])


_TITLES = {
    "setup": "pip and build tools",
    "runtime": "The packages that Refocal uses",
    "refocal": "The command `refocal`",
    "dev": "The tools of the gate",
    "ann": "hnswlib, for fast search in large libraries",
    "system": "What Qt needs from the system",
}


def _exhaust(run: Runner, command: list[str]) -> None:
    for _line in run(command):
        pass


def _compiler() -> str:
    """The C++ compiler that would build hnswlib; empty if it or Python's headers are missing."""
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return ""
    if sys.platform == "win32":
        programs = Path(os.environ.get("ProgramFiles(x86)", "C:\\"))  # noqa: SIM112 - its name
        finder = programs / "Microsoft Visual Studio" / "Installer" / "vswhere.exe"
        return str(finder) if finder.exists() else ""
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    return ""


def _explained(step: str, error: CommandError, venv: Venv) -> str:
    """What went wrong, for a person."""
    said = "\n".join(f"  | {line}" for line in error.tail if line)
    text = "\n".join(error.tail)
    if "No space left" in text or "not enough space" in text:
        advice = f"The disk of {venv.root} is full: make room and start this again."
    elif "No matching distribution" in text or "not a supported wheel" in text:
        advice = "A package has no build for this Python or system: the README names those it has."
    elif any(word in text for word in ("Connection", "timed out", "Temporary failure", "SSL")):
        advice = "The package index could not be reached: look at the network and start this again."
    else:
        advice = "Start this again to go on from here."
    return f"{said}\nThe set-up stopped at: {_TITLES.get(step, step)}.\n{advice}\nLog: {venv.log}"
