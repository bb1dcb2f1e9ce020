"""Which build of torch, and from where.

PyPI has one torch for each platform: for Linux it brings 3 GB of CUDA libraries, for Windows and
macOS it runs on the CPU. PyTorch's own indexes have the others. A person may be cut off from
those, so PyPI's build is what Refocal falls back to; it runs on any CPU too.
"""

import ctypes
import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from installer.locks import Lock

PYTORCH_INDEXES = "https://download.pytorch.org/whl"
# The CUDA that torch 2.14 is built for; the CUDA lock pins its libraries.
CUDA_SUFFIX = "cu130"
_SHARED_PINS = ("torch", "torchvision")


class Build(StrEnum):
    """What torch can compute on."""

    CPU = "cpu"
    CUDA = "cuda"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a build comes from. ``index`` None: everything lies on PyPI. ``suffix``: what the
    versions in that index end with. ``fallback``: for when that index does not answer."""

    build: Build
    lock: Lock
    index: str | None = None
    suffix: str = ""
    fallback: "Source | None" = None

    def pins(self) -> list[str]:
        """The packages that come from ``index``."""
        pins = self.lock.pins()
        return [f"{name}=={pins[name]}+{self.suffix}" for name in _SHARED_PINS]


@dataclass(frozen=True, slots=True)
class Installed:
    """A torch that is there. ``cuda``: of which version, or None."""

    version: str
    cuda: str | None

    @property
    def build(self) -> Build:
        """What it can compute on."""
        return Build.CPU if self.cuda is None else Build.CUDA


def source(build: Build, *, platform: str = sys.platform, indexes: str | None = None) -> Source:
    """Where a build comes from on a platform (as `sys.platform` names it).

    ``indexes``: a mirror of PyTorch's indexes.
    """
    base = (indexes or PYTORCH_INDEXES).rstrip("/")
    plain = Source(Build.CPU, Lock.CPU)
    whole = Source(Build.CUDA, Lock.CUDA)
    match build, platform:
        case Build.CPU, "linux":
            return Source(Build.CPU, Lock.CPU, f"{base}/cpu", "cpu", fallback=whole)
        case Build.CUDA, "linux":
            return whole
        case Build.CUDA, "win32":
            suffix = CUDA_SUFFIX
            return Source(Build.CUDA, Lock.CPU, f"{base}/{suffix}", suffix, fallback=plain)
        case _:
            return plain


def nvidia_driver() -> bool:
    """Whether an NVIDIA driver is loaded here."""
    if sys.platform == "darwin":
        return False
    if Path("/proc/driver/nvidia/version").exists():
        return True
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def installed(site: Path) -> Installed | None:
    """The torch among the packages in ``site``, read without importing it."""
    try:
        text = (site / "torch" / "version.py").read_text(encoding="utf-8")
    except OSError:
        return None
    version = re.search(r"^__version__ = '([^']+)'", text, re.MULTILINE)
    cuda = re.search(r"^cuda\b[^=]*= '([^']+)'", text, re.MULTILINE)
    return Installed(version[1], cuda[1] if cuda else None) if version else None
