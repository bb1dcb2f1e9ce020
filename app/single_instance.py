"""One window for each library: a second start hands its photo to the first and is done.

The window that was there first listens on a local socket whose name is made from the library's
path. Beside the socket lies a lock file, which the system releases when its holder ends, however
it ends: it tells a live first window from the socket that a killed one left behind.
"""

import contextlib
import hashlib
import json
import logging
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import filelock
import platformdirs
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

logger = logging.getLogger(__name__)

_DONE: Final = b"done\n"
_LONGEST_BYTES: Final = 1 << 16
_CONNECT_MS: Final = 500
_PATIENCE_S: Final = 5.0
_AGAIN_S: Final = 0.05
# The address of a socket on Linux and macOS has room for some hundred bytes.
_LONGEST_ADDRESS: Final = 100


class FirstInstance(QObject):
    """This process has the library's window. Lives on the window's thread."""

    started_again = Signal(object)
    """Somebody started Refocal once more: the `Path` of a photo to show, or None."""

    def __init__(self, lock: filelock.FileLock | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = lock
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connected)

    def listen(self, address: str) -> None:
        """Be there for later starts. Failing costs only that they open windows of their own."""
        QLocalServer.removeServer(address)  # what a killed one left; the lock says it is dead
        if not self._server.listen(address):
            logger.warning("later starts will not find this window: %s", self._server.errorString())

    def close(self) -> None:
        """Listen no more, and let another process be the first."""
        self._server.close()
        if self._lock is not None:
            self._lock.release()

    @Slot()
    def _on_connected(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.disconnected.connect(socket.deleteLater)
            socket.readyRead.connect(self._on_ready)
            self._read(socket)  # what came before the connection was made

    @Slot()
    def _on_ready(self) -> None:
        socket = self.sender()
        if isinstance(socket, QLocalSocket):
            self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > _LONGEST_BYTES:
                socket.abort()
            return
        try:
            photo = _understood(bytes(socket.readLine(_LONGEST_BYTES).data()))
        except ValueError:
            logger.warning("somebody else knocked at the window's socket")
            socket.abort()
            return
        socket.write(_DONE)
        socket.disconnectFromServer()
        self.started_again.emit(photo)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the window of one library can be found."""

    address: str
    lock: Path


def claim(library: Path, photo: Path | None) -> FirstInstance | None:
    """Become the window of a library, or hand ``photo`` to the one that is there.

    Needs a QCoreApplication. Waits up to some seconds for a window that is just starting or
    ending; one that does not answer is left alone, and this process opens its own.

    Returns:
        None if the window that is there has taken the photo: nothing is left to do here.
    """
    try:
        found = place(library)
    except OSError as error:
        logger.warning("other windows cannot be found: %s", error)
        return FirstInstance(None)
    lock = filelock.FileLock(found.lock, thread_local=False)
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            lock.acquire(timeout=0)
        except (filelock.Timeout, OSError, NotImplementedError):
            if _hand_over(found.address, photo):
                return None
        else:
            first = FirstInstance(lock)
            first.listen(found.address)
            return first
        if time.monotonic() > deadline:
            logger.warning("the window that is open does not answer")
            return FirstInstance(None)
        time.sleep(_AGAIN_S)


def place(library: Path) -> Place:
    """Where the window of a library listens, and the lock that says it lives.

    Raises:
        OSError: there is no folder for it.
    """
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = hashlib.blake2b(str(library.resolve()).encode("utf-8", "surrogateescape"), digest_size=8)
    name = f"refocal-{key.hexdigest()}"
    address = str(folder / name)
    if len(address.encode("utf-8", "surrogateescape")) > _LONGEST_ADDRESS:
        address = name  # Qt then takes the folder for temporary files
    return Place(address, folder / f"{name}.lock")


def _folder() -> Path:
    if sys.platform != "linux":
        return Path(platformdirs.user_runtime_dir("refocal", appauthor=False))
    session = os.environ.get("XDG_RUNTIME_DIR")
    if session and Path(session).is_dir():
        return Path(session) / "refocal"
    # What stands in for it lies in /tmp, where anybody could have been there first.
    return Path(platformdirs.user_cache_dir("refocal", appauthor=False)) / "run"


def _hand_over(address: str, photo: Path | None) -> bool:
    """Whether the window behind ``address`` has taken the photo."""
    socket = QLocalSocket()
    socket.connectToServer(address)
    if not socket.waitForConnected(_CONNECT_MS):
        return False
    message = json.dumps({"photo": str(photo) if photo is not None else None})
    socket.write(message.encode("ascii") + b"\n")
    deadline = time.monotonic() + _PATIENCE_S
    while not socket.canReadLine():
        left_ms = round((deadline - time.monotonic()) * 1000)
        if left_ms <= 0 or not socket.waitForReadyRead(left_ms):
            break
    return bytes(socket.readLine().data()) == _DONE


def _understood(line: bytes) -> Path | None:
    """The photo that a later start sent.

    Raises:
        ValueError: it is no such message.
    """
    message = json.loads(line)
    with contextlib.suppress(TypeError, KeyError):
        match message["photo"]:
            case None:
                return None
            case str(path) if path:
                return Path(path)
    raise ValueError("no photo")
