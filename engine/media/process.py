"""One decoding process, seen from the program: started, asked, and ended by force.

A process belongs to one thread; only `kill` may be called from any.
"""

import multiprocessing
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from types import ModuleType

import numpy as np

from engine.errors import DecodeKilledError, PhotoError
from engine.media.child import READY, Answer, Order, serve
from engine.media.decode import DecodedPhoto

_START_S = 60.0
_SLICE_S = 0.1
_JOIN_S = 2.0
_SILENCE_S = 10.0
"""A process that stops for longer in the middle of a message is given up."""

_spawn = multiprocessing.get_context("spawn")
_starting = threading.Lock()


class Interrupted(Exception):
    """Nobody waits for this task any more; its process was ended."""


class DecodeProcess:
    """Starts at once; the first task waits until it is ready.

    ``memory_bytes``: what it may allocate beyond its start, where the system can limit that.

    Raises:
        OSError: the system has no room for another process.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._ready = False
        self._ended = False
        self._ending = threading.Lock()
        self._connection, theirs = _spawn.Pipe()
        limit_silence(self._connection, _SILENCE_S)
        self._process = _spawn.Process(
            target=serve, args=(theirs, memory_bytes), name="Refocal decoder", daemon=True
        )
        try:
            with _plain_start():
                self._process.start()
        except OSError:
            self._connection.close()
            raise
        finally:
            theirs.close()

    def decode(self, order: Order, wanted: Callable[[], bool]) -> DecodedPhoto:
        """Have one picture decoded.

        ``wanted`` is asked about ten times a second; once it says no, the process is ended.

        Raises:
            PhotoError: as `engine.media.decode.decode`.
            DecodeKilledError: the process died or was ended; it is of no more use.
            Interrupted: the same, because the task was no longer wanted.
        """
        try:
            if not self._ready:
                self._await(_START_S, wanted, late="the decoder could not be started in time")
                self._ready = self._connection.recv() == READY
            self._connection.send(order)
            late = f"decoding took longer than {order.timeout_s:g} s and was stopped"
            self._await(order.timeout_s, wanted, late=late)
            answer: Answer | PhotoError = self._connection.recv()
            if isinstance(answer, PhotoError):
                raise answer
            pixels = np.empty(answer.shape, np.uint8)
            late = "the decoder stopped in the middle of its answer"
            self._await(_SILENCE_S, wanted, late=late)
            self._connection.recv_bytes_into(pixels.data.cast("B"))
        except (EOFError, OSError) as error:
            self.end()
            raise DecodeKilledError(self._epitaph()) from error
        return DecodedPhoto(pixels, answer.facts, answer.thumbnail, answer.identity)

    def kill(self) -> None:
        """End the process at once, from any thread; who waits for its answer gets an error."""
        with self._ending:
            if not self._ended:
                self._process.kill()

    def end(self) -> None:
        """Kill the process and leave nothing of it behind."""
        self.kill()
        # A process that waits for a dead network drive cannot even be killed: it is left to the
        # system, and collected whenever another one is started.
        self._process.join(_JOIN_S)
        with self._ending:
            self._ended = True
        self._connection.close()

    def _await(self, seconds: float, wanted: Callable[[], bool], *, late: str) -> None:
        deadline = time.monotonic() + seconds
        while not self._connection.poll(_SLICE_S):
            if not wanted():
                self.end()
                raise Interrupted
            if time.monotonic() > deadline:
                self.end()
                raise DecodeKilledError(late)

    def _epitaph(self) -> str:
        code = self._process.exitcode
        if code is None or code >= 0:
            return "the decoder ended without an answer on this file"
        if code == -signal.SIGKILL:
            return "the decoder was ended by the system on this file, perhaps for want of memory"
        return f"the decoder crashed on this file ({signal.Signals(-code).name})"


def limit_silence(connection: Connection, seconds: float) -> None:
    """Let a read or write that began raise `OSError` when nothing moves for so long.

    Reading waits for whole messages, but a process may be stopped in the middle of one.
    """
    if sys.platform == "win32":
        return
    limit = struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))  # struct timeval
    with socket.socket(fileno=os.dup(connection.fileno())) as pipe:
        pipe.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        pipe.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


@contextmanager
def _plain_start() -> Iterator[None]:
    """What a new process must not take over from this one.

    The main module: `multiprocessing` runs it again in the child for the sake of functions that
    live there. Ours do not, and it would start a script without a guard a second time, or import
    all that the script imports. And Ctrl-C, which is held back until the child ignores it itself.
    """
    with _starting:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            with _held_back_interrupts():
                yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _held_back_interrupts() -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # it would lift the mask when started later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
