"""What is in something dropped or pasted: a picture, a folder, or nothing that may come in.

Nothing is ever fetched: a link is refused, and the person is told why and what to do instead.
"""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QT_TRANSLATE_NOOP, QBuffer, QIODevice, QMimeData, QUrl
from PySide6.QtGui import QImage

from app.bridge.errors import Words, tr
from engine.types import Picture

_RAW_FORMATS = (
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/tiff",
    "image/gif",
    "image/bmp",
    "image/avif",
    "image/heic",
    "application/octet-stream",
)
_LINK_SCHEMES = frozenset({"http", "https", "ftp", "sftp", "smb"})


@dataclass(frozen=True, slots=True)
class DroppedPicture:
    """A query. ``others``: how many more pictures came with it."""

    picture: Picture
    others: int = 0


@dataclass(frozen=True, slots=True)
class DroppedFolders:
    """Folders to be added."""

    folders: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """Not taken, and why."""

    words: Words


Dropped = DroppedPicture | DroppedFolders | Refused


def read(mime: QMimeData) -> Dropped:
    """What to do with it. Reads no file; encodes an image that has no bytes of its own."""
    paths = [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]
    if paths:
        return _from_paths(paths)
    data = _picture_bytes(mime)
    if data:
        return DroppedPicture(Picture(data=data))
    link = _link(mime)
    if link is not None:
        return Refused(_link_words(link))
    return Refused(_nothing_words())


def offers(mime: QMimeData) -> type[Dropped]:
    """What `read` would say, cheaply: for something that is only held over the window."""
    if any(url.isLocalFile() for url in mime.urls()):
        folders_only = all(Path(url.toLocalFile()).is_dir() for url in mime.urls())
        return DroppedFolders if folders_only else DroppedPicture
    if mime.hasImage() or any(mime.hasFormat(name) for name in _RAW_FORMATS):
        return DroppedPicture
    return Refused


def _from_paths(paths: list[Path]) -> Dropped:
    folders = tuple(path for path in paths if path.is_dir())
    files = [path for path in paths if path not in folders]
    if files:
        return DroppedPicture(Picture(path=files[0]), others=len(files) - 1)
    return DroppedFolders(folders)


def _picture_bytes(mime: QMimeData) -> bytes:
    # The bytes as they are, if there are any: encoding them anew would lose profile and facts.
    for name in _RAW_FORMATS:
        if mime.hasFormat(name):
            data = bytes(mime.data(name).data())
            if data:
                return data
    image = mime.imageData() if mime.hasImage() else None
    return _encoded(image) if isinstance(image, QImage) and not image.isNull() else b""


def _encoded(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _link(mime: QMimeData) -> str | None:
    for url in mime.urls():
        if url.scheme() in _LINK_SCHEMES:
            return url.toString()
    first = (mime.text().strip().splitlines() or [""])[0]
    return first if QUrl(first).scheme() in _LINK_SCHEMES else None


def _link_words(link: str) -> Words:
    return Words(
        tr(_LINK_MESSAGE),
        tr(_LINK_CAUSE).format(host=QUrl(link).host() or link),
        tr(_LINK_WAY),
    )


def _nothing_words() -> Words:
    return Words(tr(_NOTHING_MESSAGE), tr(_NOTHING_CAUSE), tr(_NOTHING_WAY))


_LINK_MESSAGE = str(QT_TRANSLATE_NOOP("Errors", "A link cannot be searched for."))
_LINK_CAUSE = str(
    QT_TRANSLATE_NOOP(
        "Errors",
        "What was dropped is a link to {host}, not a picture. Refocal never fetches anything from "
        "the network: nothing leaves or enters this computer unasked.",
    )
)
_LINK_WAY = str(
    QT_TRANSLATE_NOOP("Errors", "Save the picture first and drop the file, or copy and paste it.")
)
_NOTHING_MESSAGE = str(QT_TRANSLATE_NOOP("Errors", "There is no picture in that."))
_NOTHING_CAUSE = str(
    QT_TRANSLATE_NOOP("Errors", "It holds neither a file nor a picture nor a folder.")
)
_NOTHING_WAY = str(
    QT_TRANSLATE_NOOP("Errors", "Drop a picture from a file manager, or a folder to add it.")
)
