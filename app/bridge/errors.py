"""Errors in words: what happened, why, and what to do about it."""

from dataclasses import dataclass

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from app.logs import log_file
from engine import errors

_CONTEXT = "Errors"


@dataclass(frozen=True, slots=True)
class Words:
    """An error or a notice as a person reads it.

    ``message``: what happened, one short sentence. ``cause``: why, one line (may be empty).
    ``what_to_do``: the way on (may be empty).
    """

    message: str
    cause: str
    what_to_do: str


def tr(text: str) -> str:
    """``text``, which stands in the tables of this module, in the language of the window."""
    return QCoreApplication.translate(_CONTEXT, text)


# From the special to the general: the first that fits is taken.
_TABLE: tuple[tuple[type[BaseException], str, str], ...] = (
    (
        errors.PhotoMissingError,
        str(QT_TRANSLATE_NOOP("Errors", "The photo is not there.")),
        str(
            QT_TRANSLATE_NOOP(
                "Errors",
                "If it lies on a drive or network share, connect it and try again. If it was "
                "moved, index its folder again.",
            )
        ),
    ),
    (
        errors.PhotoTooLargeError,
        str(QT_TRANSLATE_NOOP("Errors", "The photo is too large to be opened.")),
        str(QT_TRANSLATE_NOOP("Errors", "Save a smaller version of it and use that one.")),
    ),
    (
        errors.PhotoError,
        str(QT_TRANSLATE_NOOP("Errors", "The photo could not be read.")),
        str(
            QT_TRANSLATE_NOOP(
                "Errors",
                "See whether another program opens it. If so, save it there as JPEG or PNG.",
            )
        ),
    ),
    (
        errors.FolderError,
        str(QT_TRANSLATE_NOOP("Errors", "The folder could not be used.")),
        str(
            QT_TRANSLATE_NOOP(
                "Errors", "See that it exists and that you may read it, or choose another one."
            )
        ),
    ),
    (
        errors.LibraryInUseError,
        str(QT_TRANSLATE_NOOP("Errors", "Another Refocal is writing this library.")),
        str(
            QT_TRANSLATE_NOOP(
                "Errors",
                "You can look and search here. To add or index photos, wait until the other one "
                "is done or close it, then try again.",
            )
        ),
    ),
    (
        errors.NothingIndexedError,
        str(QT_TRANSLATE_NOOP("Errors", "There is nothing to search in yet.")),
        str(QT_TRANSLATE_NOOP("Errors", "Add a folder of photos and let it be indexed.")),
    ),
    (
        errors.LibraryError,
        str(QT_TRANSLATE_NOOP("Errors", "The library could not be used.")),
        str(
            QT_TRANSLATE_NOOP(
                "Errors",
                "Your photos are untouched. Run “refocal doctor” to see what is wrong, or start "
                "with another library by --library.",
            )
        ),
    ),
    (
        errors.BoxError,
        str(QT_TRANSLATE_NOOP("Errors", "The box cannot be searched for.")),
        str(QT_TRANSLATE_NOOP("Errors", "Draw a box round the thing, inside the photo.")),
    ),
    (
        errors.GroundTruthError,
        str(QT_TRANSLATE_NOOP("Errors", "The ground truth of this folder could not be used.")),
        str(QT_TRANSLATE_NOOP("Errors", "Compare its gt.json with what the README says of it.")),
    ),
    (
        errors.ExportError,
        str(QT_TRANSLATE_NOOP("Errors", "The hits could not be exported.")),
        str(QT_TRANSLATE_NOOP("Errors", "Choose another place or name for the file.")),
    ),
    (
        errors.SettingsError,
        str(QT_TRANSLATE_NOOP("Errors", "A setting does not fit.")),
        str(QT_TRANSLATE_NOOP("Errors", "Change it and try again.")),
    ),
    (
        errors.NetworkError,
        str(QT_TRANSLATE_NOOP("Errors", "The network could not be loaded.")),
        str(
            QT_TRANSLATE_NOOP(
                "Errors", "Run the set-up again: it puts the network's weights back in place."
            )
        ),
    ),
    (
        errors.DeviceError,
        str(QT_TRANSLATE_NOOP("Errors", "The network cannot run on this computer.")),
        str(QT_TRANSLATE_NOOP("Errors", "Run “refocal doctor” and see what it says.")),
    ),
    (
        errors.TrainingError,
        str(QT_TRANSLATE_NOOP("Errors", "The training cannot go on.")),
        str(
            QT_TRANSLATE_NOOP("Errors", "What it had learned before is kept: see to it and go on.")
        ),
    ),
    (
        errors.RefocalError,
        str(QT_TRANSLATE_NOOP("Errors", "That did not work.")),
        "",
    ),
    (
        MemoryError,
        str(QT_TRANSLATE_NOOP("Errors", "There is not enough memory.")),
        str(QT_TRANSLATE_NOOP("Errors", "Close other programs and try again.")),
    ),
)
_INTERNAL = (
    str(QT_TRANSLATE_NOOP("Errors", "Refocal made a mistake.")),
    str(
        QT_TRANSLATE_NOOP(
            "Errors",
            "Your photos and the library are untouched, and you can go on. If it happens again, "
            "please report it together with {log}.",
        )
    ),
)


def words(error: BaseException) -> Words:
    """What to tell a person about ``error``. Any thread."""
    for kind, message, what_to_do in _TABLE:
        if isinstance(error, kind):
            return Words(tr(message), _cause(error), tr(what_to_do) if what_to_do else "")
    message, what_to_do = _INTERNAL
    cause = f"{type(error).__name__}: {_cause(error)}".strip(": ")
    return Words(tr(message), cause, tr(what_to_do).format(log=log_file()))


def is_expected(error: BaseException) -> bool:
    """Whether the engine raised it on purpose; all others are faults of Refocal's own."""
    return isinstance(error, errors.RefocalError)


def _cause(error: BaseException) -> str:
    if isinstance(error, errors.RefocalError):
        return error.reason
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")
