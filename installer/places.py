"""Where the set-up finds and puts things."""

import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "installer"


@dataclass(frozen=True, slots=True)
class Venv:
    """A virtual environment and the places inside it. ``root`` need not exist yet."""

    root: Path = ROOT / ".venv"

    @property
    def scripts(self) -> Path:
        """The folder of its programs."""
        return self.root / ("Scripts" if os.name == "nt" else "bin")

    def program(self, name: str) -> Path:
        """A program in it, by its plain name."""
        return self.scripts / (f"{name}.exe" if os.name == "nt" else name)

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.program("python")

    @property
    def site(self) -> Path:
        """Where its packages lie, for the Python that runs now."""
        scheme = "nt" if os.name == "nt" else "posix_prefix"
        base = str(self.root)
        found = sysconfig.get_path("purelib", scheme, {"base": base, "platbase": base})
        return Path(found)

    @property
    def stamp(self) -> Path:
        """What was set up."""
        return self.root / "refocal-setup.json"

    @property
    def log(self) -> Path:
        """Everything that the set-up's commands said."""
        return self.root / "refocal-setup.log"

    @property
    def temporary(self) -> Path:
        """Where pip unpacks: beside its goal, for /tmp may be a small memory disk."""
        return self.root / "tmp"


def python_tag() -> str:
    """Which Python runs now, as far as packages care."""
    return f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
