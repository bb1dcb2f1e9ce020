"""Loads what the network needs without making other threads wait. Imports nothing heavy itself.

A plain ``import torch`` on a worker holds the interpreter's lock for a quarter of a second while
the linker maps a gigabyte of libraries, and the two million objects that torch and timm create
set off full garbage collections of 80-150 ms, which stop every thread; a window stands still for
as long. Here the libraries are mapped by a foreign call, which lets the lock go, and the collector
rests until the objects of the imports, which live as long as the process, are set aside for good.
"""

import ctypes
import gc
import importlib
import importlib.util
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from engine.errors import NetworkError
from engine.jobs import Ticket

logger = logging.getLogger(__name__)

STAGE: Final = "loading"

# What the linker shall map beforehand, as patterns relative to a package, in this order; what a
# platform or build lacks is passed over. Mapping runs the libraries' initialisers without the
# interpreter's lock, so none may call Python: watched in a debugger with a breakpoint on each of
# the interpreter's functions, those of torch 2.14.1, triton and OpenBLAS call none.
_LIBRARIES: Final = (
    ("torch", "lib/libtorch_global_deps.*"),
    ("torch", "lib/libtorch_cpu.*"),
    ("torch", "lib/libtorch_cuda.*"),
    ("torch", "lib/libtorch_python.*"),
    ("triton", "_C/libtriton.so"),
    ("scipy", "../scipy.libs/libscipy_openblas*.so"),
    ("scipy", ".dylibs/libscipy_openblas*.dylib"),
)
# In this order: each finds the ones before it loaded.
_MODULES: Final = ("numpy", "torch", "torchvision", "timm", "scipy.optimize", "scipy.sparse")

_lock = threading.Lock()
_loaded = False


def preload(ticket: Ticket | None = None) -> None:
    """Load torch, timm, torchvision and scipy. Takes seconds the first time, nothing later.

    Meant for a worker thread, before anything else there imports torch. Any thread; callers at
    the same time wait for the first.

    Raises:
        NetworkError: a library is missing or cannot be loaded.
        Cancelled: the ticket was cancelled; the next call goes on where this one stopped.
    """
    global _loaded
    with _lock:
        if _loaded:
            return
        ticket = ticket or Ticket()
        begun = time.monotonic()
        total = len(_MODULES) + 1
        with _collector_resting():
            ticket.update(STAGE, 0, total)
            _map_libraries()
            for done, name in enumerate(_MODULES, start=1):
                ticket.update(STAGE, done, total)
                _import(name)
            ticket.update(STAGE, total, total)
        _loaded = True
        logger.info("loaded torch and timm in %.1f s", time.monotonic() - begun)


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except (ImportError, OSError) as error:
        raise NetworkError(f"{name} cannot be loaded: {error}") from error


@contextmanager
def _collector_resting() -> Iterator[None]:
    """No garbage collection inside; afterwards what exists is never looked at again.

    What happens to be garbage at that moment is kept too; it is little, and a full collection
    is what must not happen: with torch loaded each one takes 150 ms or more, now and ever after.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def _map_libraries() -> None:
    """Have the linker map the large libraries while other threads run.

    On Windows torch itself does it that way. Where it fails, the import says why.
    """
    if sys.platform == "win32":
        return
    try:
        # Not ctypes.CDLL, which keeps the lock; a foreign *function* is called without it.
        dlopen = ctypes.CDLL(None).dlopen
    except (AttributeError, OSError):
        return
    dlopen.restype = ctypes.c_void_p
    dlopen.argtypes = [ctypes.c_char_p, ctypes.c_int]
    for package, pattern in _LIBRARIES:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            continue
        for library in sorted(Path(spec.origin).parent.glob(pattern)):
            # torch wants its outer dependencies visible to all, as it opens them itself.
            scope = os.RTLD_GLOBAL if "global_deps" in library.name else os.RTLD_LOCAL
            dlopen(os.fsencode(library), os.RTLD_NOW | scope)
