"""Where a library lies, and what lies where inside it."""

import re
from dataclasses import dataclass
from pathlib import Path

import platformdirs

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class LibraryPaths:
    """The places inside one library. ``root`` need not exist yet."""

    root: Path

    @property
    def database(self) -> Path:
        """The SQLite file, the truth."""
        return self.root / "library.sqlite3"

    @property
    def lock(self) -> Path:
        """The file whose lock says who writes."""
        return self.root / "writer.lock"

    @property
    def thumbnails(self) -> Path:
        """The folder of the thumbnail cache."""
        return self.root / "thumbnails"

    @property
    def networks(self) -> Path:
        """The folder of networks that were imported or trained."""
        return self.root / "networks"

    def training(self, network_id: str) -> Path:
        """The folder of a training that is under way."""
        return self.root / "training" / _checked(network_id)

    def vectors(self, network_key: str) -> Path:
        """The folder of one network's vector files."""
        return self.root / "vectors" / _checked(network_key)

    def index(self, network_key: str) -> Path:
        """Where one network's index for fast search is cached."""
        return self.root / "indexes" / _checked(network_key)


def default_library() -> Path:
    """The library of somebody who names none: the platform's data folder."""
    return Path(platformdirs.user_data_dir("refocal", appauthor=False)) / "library"


def evaluation_cache() -> Path:
    """Where evaluations keep libraries of their own: the platform's cache folder."""
    return Path(platformdirs.user_cache_dir("refocal", appauthor=False)) / "evaluation"


def weights_cache() -> Path:
    """Where fetched weights of networks are kept: the platform's cache folder."""
    return Path(platformdirs.user_cache_dir("refocal", appauthor=False)) / "weights"


def spelled(path: Path) -> str:
    """A path as one printable line, whatever bytes its name is made of."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in str(path)
    )


def _checked(network_key: str) -> str:
    if not _FILE_NAME.fullmatch(network_key):
        raise ValueError(f"this network key cannot name a file: {network_key!r}")
    return network_key
