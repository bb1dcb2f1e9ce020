"""The locked requirements: every package that Refocal uses, pinned to one version.

installer/lock.py makes these files from pyproject.toml.
"""

import re
from enum import StrEnum
from pathlib import Path

from installer.places import LOCKS

_PIN = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^\s;#]+)")


class Lock(StrEnum):
    """A file of pins."""

    SETUP = "setup"
    """pip, and what builds Refocal itself and hnswlib."""
    CPU = "cpu"
    """Everything for a Refocal without CUDA."""
    CUDA = "cuda"
    """The same with the CUDA libraries that PyPI's torch for Linux needs."""
    ANN = "ann"
    """hnswlib, which comes as source only."""
    DEV = "dev"
    """What the gate needs beside."""

    @property
    def path(self) -> Path:
        """The file."""
        return LOCKS / f"requirements-{self.value}.txt"

    def pins(self) -> dict[str, str]:
        """Version by normalised name, of all platforms."""
        found = {}
        for line in self.path.read_text(encoding="utf-8").splitlines():
            if pin := _PIN.match(line):
                found[normalised(pin["name"])] = pin["version"]
        return found


def cuda_only() -> list[str]:
    """The packages that only a torch with CUDA needs."""
    return sorted(Lock.CUDA.pins().keys() - Lock.CPU.pins().keys())


def normalised(name: str) -> str:
    """A package's name in the one spelling that may be compared."""
    return re.sub(r"[-_.]+", "-", name).lower()
