"""What runs in a decoding process.

It is started by `engine.media.process`, takes one task at a time from a pipe, and is ended from
outside whenever it crashes, hangs or eats too much. It imports as little as it can: it starts
often.
"""

import os
import signal
import sys
import threading
from multiprocessing.connection import Connection, wait
from multiprocessing.process import parent_process
from typing import Final, NamedTuple

from engine.errors import PhotoError, PhotoTooLargeError
from engine.media.decode import DecodedPhoto, decode
from engine.media.facts import MediaFacts
from engine.types import Picture

READY: Final = "ready"

_ALARM_LATER_S = 10.0
"""How much later than the parent would the process ends itself."""


class Order(NamedTuple):
    """One task on its way to the process; see `engine.media.decode.decode`."""

    picture: Picture
    max_side_px: int | None
    thumbnail_px: int | None
    max_pixels: int
    timeout_s: float


class Answer(NamedTuple):
    """A decoded photo on its way back. The pixels follow as raw bytes, (H, W, 3) uint8."""

    shape: tuple[int, ...]
    facts: MediaFacts
    thumbnail: bytes | None
    identity: str | None


def serve(connection: Connection, memory_bytes: int) -> None:
    """Decode what comes through the pipe until it is closed.

    ``memory_bytes``: how much more than at the start the process may allocate, where the system
    can limit that.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _mute()
    _end_with_parent()
    _limit_memory(memory_bytes)
    connection.send(READY)
    while True:
        try:
            order: Order = connection.recv()
        except (EOFError, OSError):
            return
        _answer(connection, order)


def _answer(connection: Connection, order: Order) -> None:
    _alarm(order.timeout_s + _ALARM_LATER_S)
    try:
        photo = decode(
            order.picture,
            max_side_px=order.max_side_px,
            thumbnail_px=order.thumbnail_px,
            max_pixels=order.max_pixels,
        )
        _send(connection, photo)
    except PhotoError as error:
        connection.send(error)
    except MemoryError:
        path = order.picture.path
        connection.send(
            PhotoTooLargeError("the picture needs more memory than there is", path=path)
        )
    finally:
        _alarm(0)


def _send(connection: Connection, photo: DecodedPhoto) -> None:
    connection.send(Answer(photo.pixels.shape, photo.facts, photo.thumbnail, photo.identity))
    connection.send_bytes(photo.pixels.data.cast("B"))


# --- guards -----------------------------------------------------------------------------------


def _mute() -> None:
    """Decoders write their complaints straight to the terminal."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is None:  # called in the program's own process, by a test
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="parent watch", daemon=True).start()


def _alarm(seconds: float) -> None:
    """The kernel ends the process when the time is up: a guard for the case that the parent died
    while a decoder hangs and holds the interpreter."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(more_bytes: int) -> None:
    if sys.platform != "linux":  # macOS accepts the limit and ignores it, Windows has none
        return
    import resource

    with open("/proc/self/statm") as counts:  # noqa: PTH123  (a kernel file, not the user's)
        pages = int(counts.read().split()[0])
    limit = pages * resource.getpagesize() + more_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
