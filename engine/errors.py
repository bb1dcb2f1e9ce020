"""Typed errors of the engine.

Every error carries one readable line, ``reason``, fit to be shown to a person; the window adds
what to do (app.bridge.errors) and the command line prints it and exits with 1.
"""

from pathlib import Path


class RefocalError(Exception):
    """Base of everything that the engine raises on purpose."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


# --- one photo ------------------------------------------------------------------------------


class PhotoError(RefocalError):
    """A file that cannot become a photo. ``path`` is None for pictures without a file."""

    def __init__(self, reason: str, *, path: Path | None = None) -> None:
        super().__init__(reason)
        self.path = path


class PhotoMissingError(PhotoError):
    """The file is not there (any more), or its folder is offline."""


class PhotoUnreadableError(PhotoError):
    """Damaged, empty, not a picture, or no permission."""


class PhotoTooLargeError(PhotoError):
    """More pixels than the limit that free memory allows."""


class DecodeKilledError(PhotoError):
    """The decoder crashed, hung or ate too much memory, and its process was ended."""


# --- folders and the library ----------------------------------------------------------------


class FolderError(RefocalError):
    """A folder that is missing, is no folder, or may not be read."""

    def __init__(self, reason: str, *, path: Path) -> None:
        super().__init__(reason)
        self.path = path


class LibraryError(RefocalError):
    """The library as a whole: damaged, of a newer version, on a full or read-only disk."""


class LibraryInUseError(LibraryError):
    """Another Refocal writes this library."""


class NothingIndexedError(LibraryError):
    """A search in a library that holds no photo for this network."""


# --- query ----------------------------------------------------------------------------------


class BoxError(RefocalError):
    """A box of no area, or outside the photo."""


class GroundTruthError(RefocalError):
    """gt.json is missing or does not say what an evaluation needs."""


class ExportError(RefocalError):
    """Hits cannot be written: the folder is missing, the disk full, the file's kind unknown."""


class SettingsError(RefocalError):
    """A parameter that is out of its range, or does not fit the others."""


# --- network --------------------------------------------------------------------------------


class NetworkError(RefocalError):
    """A network is unknown, or its weights are missing or fail their checksum."""


class FetchError(NetworkError):
    """Weights could not be fetched."""


class FetchOfflineError(FetchError):
    """There was no connection, or it broke; trying again goes on where it broke."""


class FetchRefusedError(FetchError):
    """The server has no such file, or one that may not be taken."""


class FetchDamagedError(FetchError):
    """What came has the wrong checksum."""


class FetchDiskError(FetchError):
    """There is no room for the file, or no permission to write it."""


class DeviceError(RefocalError):
    """No device can run the network, not even the CPU."""


# --- training -------------------------------------------------------------------------------


class TrainingError(RefocalError):
    """A training, or a step of it, that has no result: a batch that nothing can be learned from,
    numbers that are none, pixels that change between two passes, or too little memory."""
