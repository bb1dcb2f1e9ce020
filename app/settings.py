"""What the window remembers from one start to the next.

A JSON file with a schema version. A file of an older version is brought up to date by pure
functions on dicts, one for each version; one that cannot be read is kept aside. The library holds
what belongs to photos; nothing here is missed by them.
"""

import base64
import binascii
import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import platformdirs
from PySide6.QtCore import QObject, QTimer, Slot

logger = logging.getLogger(__name__)

Document = dict[str, Any]
Migration = Callable[[Document], Document]

VERSION: Final = 1
THEMES: Final = ("system", "light", "dark")
FOLDERS_KEPT: Final = 8
_SAVE_AFTER_MS: Final = 500

# The function under n makes a document of version n + 1 from one of version n. Add one, and raise
# VERSION, when a key changes its name, place or meaning; a new key with a default needs neither.
MIGRATIONS: Mapping[int, Migration] = {}


class _Wrong(Exception):
    """A value that is not what its key holds."""


def _theme(value: object) -> str:
    if value not in THEMES:
        raise _Wrong
    return str(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Wrong
    return value


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _Wrong
    return float(value)


def _length(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10_000:
        raise _Wrong
    return value


def _folder(value: object) -> Path | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise _Wrong
    return Path(value)


def _folders(value: object) -> tuple[Path, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise _Wrong
    return tuple(Path(one) for one in value[:FOLDERS_KEPT])


def _bytes(value: object) -> bytes:
    if not isinstance(value, str):
        raise _Wrong
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        raise _Wrong from None


@dataclass(frozen=True, slots=True)
class Settings:
    """Immutable; a change is a new one.

    ``theme``: one of `THEMES`. ``focus_shown``, ``box_shown``, ``focus_opacity`` (in [0, 1]): what
    is drawn over hits. ``tile_px``: width of a photo in the grid. ``library``: the library's data
    folder, None for the platform's. ``last_folders``: the folders that were chosen last, newest
    first. ``geometry``: the window's place and size as Qt wrote it, empty before the first start.
    """

    theme: str = field(default="system", metadata={"read": _theme})
    focus_shown: bool = field(default=True, metadata={"read": _flag})
    box_shown: bool = field(default=True, metadata={"read": _flag})
    focus_opacity: float = field(default=0.7, metadata={"read": _share})
    tile_px: int = field(default=176, metadata={"read": _length})
    library: Path | None = field(default=None, metadata={"read": _folder})
    last_folders: tuple[Path, ...] = field(default=(), metadata={"read": _folders})
    geometry: bytes = field(default=b"", metadata={"read": _bytes})

    def with_folder(self, folder: Path) -> "Settings":
        """With this folder as the one chosen last."""
        others = (one for one in self.last_folders if one != folder)
        return replace(self, last_folders=(folder, *others)[:FOLDERS_KEPT])


@dataclass(frozen=True, slots=True)
class Loaded:
    """``aside``: where a file lies now that could not be read, else None."""

    settings: Settings
    aside: Path | None = None


def settings_file() -> Path:
    """Where the settings lie: the platform's folder for configuration."""
    return Path(platformdirs.user_config_dir("refocal", appauthor=False)) / "settings.json"


def load(path: Path) -> Loaded:
    """The settings of a file; the defaults where there is none.

    A file that is damaged, or of a newer Refocal, is renamed and the defaults are taken. A single
    value that does not fit costs that value alone.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return Loaded(Settings())
    except OSError as error:
        logger.warning("the settings cannot be read: %s", error)
        return Loaded(Settings())
    try:
        return Loaded(from_document(migrated(json.loads(text))))
    except ValueError as error:
        logger.warning("the settings in %s are of no use: %s", path, error)
        return Loaded(Settings(), _put_aside(path))


def save(settings: Settings, path: Path) -> None:
    """Write a file anew; a reader finds the old one or the new one, whole.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        new.write_text(json.dumps(to_document(settings), indent=2) + "\n", encoding="utf-8")
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def migrated(
    document: object, *, version: int = VERSION, migrations: Mapping[int, Migration] = MIGRATIONS
) -> Document:
    """A document of any older version as one of ``version``.

    Raises:
        ValueError: it is no document of settings, or of a newer version.
    """
    if not isinstance(document, dict):
        raise ValueError("no document of settings")
    found = document.get("version")
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise ValueError(f"version {found!r}")
    if found > version:
        raise ValueError(f"version {found} is newer than {version}")
    for step in range(found, version):
        document = {**migrations[step](document), "version": step + 1}
    return document


def from_document(document: Document) -> Settings:
    """The settings that a document of this version holds; the default for what does not fit."""
    found = {}
    for key in fields(Settings):
        if key.name not in document:
            continue
        try:
            found[key.name] = key.metadata["read"](document[key.name])
        except _Wrong:
            logger.warning("the setting %s cannot be %r", key.name, document[key.name])
    return Settings(**found)


def to_document(settings: Settings) -> Document:
    """The settings as JSON can hold them."""
    return {"version": VERSION} | {name: _plain(value) for name, value in asdict(settings).items()}


def _plain(value: object) -> object:
    match value:
        case Path():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case tuple():
            return [_plain(one) for one in value]
        case _:
            return value


def _put_aside(path: Path) -> Path | None:
    aside = path.with_name(f"{path.stem}.damaged{path.suffix}")
    try:
        path.replace(aside)
    except OSError as error:
        logger.warning("the damaged settings cannot be kept aside: %s", error)
        return None
    return aside


class SettingsKeeper(QObject):
    """The settings of the running window. Saves a change half a second after the last one."""

    def __init__(self, settings: Settings, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._current = settings
        self._saved = settings
        self._path = path
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SAVE_AFTER_MS)
        self._timer.timeout.connect(self.save_now)

    @property
    def current(self) -> Settings:
        """The settings as they are now."""
        return self._current

    def change(self, settings: Settings) -> None:
        """Take these from now on."""
        self._current = settings
        self._timer.start()

    @Slot()
    def save_now(self) -> None:
        """Save what is not saved yet; a disk that refuses is logged, not told."""
        self._timer.stop()
        if self._current == self._saved:
            return
        try:
            save(self._current, self._path)
        except OSError as error:
            logger.warning("the settings cannot be saved: %s", error)
            return
        self._saved = self._current
