"""Pickles that want to do harm, as data for the tests of whoever reads files of networks.

Each would leave a trace: a file called after it would be there. They are put together operation by
operation, or by objects whose ``__reduce__`` says what to call.
"""

import builtins
import functools
import importlib
import io
import operator
import os
import pickle
import runpy
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch


class Calls:
    """Unpickling it calls what it was made with."""

    def __init__(self, function: Callable[..., Any], *arguments: object) -> None:
        self._call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return self._call


class WithState:
    """Unpickling it hands a state to what a call gave."""

    def __init__(
        self, function: Callable[..., object], arguments: tuple[object, ...], state: object
    ) -> None:
        self._reduced = function, arguments, state

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...], object]:
        return self._reduced


def calls(trace: Path) -> Iterator[tuple[str, object]]:
    """Objects whose pickle calls something, by a name for each."""
    shell, code = f"touch '{trace}'", f"open({str(trace)!r}, 'w').close()"
    yield "os.system", Calls(os.system, shell)
    yield "subprocess", Calls(subprocess.check_output, shell, None)
    yield "eval", Calls(builtins.eval, code)
    yield "exec", Calls(builtins.exec, code)
    yield "open", Calls(builtins.open, str(trace), "w")
    yield "import", Calls(builtins.__import__, "antigravity")
    yield "importlib", Calls(importlib.import_module, "antigravity")
    yield "runpy", Calls(runpy.run_path, str(trace))
    yield "map", Calls(list, Calls(map, os.system, [shell]))
    yield "reduce", Calls(functools.reduce, operator.call, [os.system, shell])
    yield "operator", Calls(operator.methodcaller, "system", shell)
    yield "rmtree", Calls(shutil.rmtree, str(trace))
    yield "torch.load", Calls(torch.load, str(trace))
    yield "touch", Calls(Path.touch, trace)
    yield "nested", [{"a": ({"b": Calls(os.system, shell)},)}]
    yield "as argument", Calls(dict, [(1, Calls(os.system, shell))])
    yield "setstate", WithState(functools.partial, (print,), (os.system, (shell,), {}, {}))


_TOUCH = b"cos\nsystem\n(S'touch %b'\ntR"


def programs(trace: Path) -> Iterator[tuple[str, bytes]]:
    """Pickles in operations, by a name for each."""
    touch = _TOUCH % os.fsencode(trace)
    yield "global", b"\x80\x02" + touch + b"."
    yield "getattr", b"cbuiltins\ngetattr\n(cos\npath\nS'os'\ntR."
    yield "call of a call", b"cfunctools\npartial\n(cos\nsystem\nS'true'\ntR)R."
    yield "method of a value", b"c__builtin__\ngetattr\n(S'x'\nS'format'\ntR)R."
    yield "inst", b"(S'touch %b'\nios\nsystem\n." % os.fsencode(trace)
    yield "obj", b"(cos\nsystem\nS'touch %b'\no." % os.fsencode(trace)
    yield "stack global", b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x01x\x85R."
    yield "dotted", b"\x80\x04\x8c\x08builtins\x8c\x0deval.__call__\x93\x8c\x01x\x85R."
    yield "build on a dictionary", b"\x80\x02ccollections\nOrderedDict\n)R" + touch + b"b."
    yield "class of a tensor", b"\x80\x02ctorch\nFloatStorage\n)R."
    yield (
        "dispatch table",
        b"\x80\x02ccopyreg\n_reconstructor\n(cos\nsystem\nc__builtin__\nobject\nNtR.",
    )
    yield (
        "reconstructor",
        b"ccopy_reg\n_reconstructor\n(c__builtin__\ndict\nc__builtin__\nobject\nNtR.",
    )
    yield "extension", b"\x80\x02\x82\x01."
    yield "persistent text", b"P0\n."
    yield "persistent number", b"\x80\x02K\x01Q."
    yield "persistent call", b"\x80\x02(X\x07\x00\x00\x00storagecos\nsystem\nX\x01\x00\x00\x000tQ."
    yield "buffer", b"\x80\x05\x97."
    yield "endless memo", b"\x80\x02]q\x00h\x00a."
    yield (
        "doubling",
        b"\x80\x02]q\x00" + b"".join(b"(h%b" % b"\x00" * 9 + b"lq\x00" for _ in range(40)) + b".",
    )
    yield "deep", b"\x80\x02" + b"(" * 100_000 + b"."
    yield "deep tuples", b"\x80\x02)" + b"\x85" * 100_000 + b"."
    yield "huge string", b"\x80\x04\x8d" + (2**62).to_bytes(8, "little") + b"x."
    yield "huge bytes", b"\x80\x04\x8e" + (2**62).to_bytes(8, "little") + b"x."
    yield "huge number", b"\x80\x02\x8b" + (2**31 - 1).to_bytes(4, "little") + b"x."
    yield "huge frame", b"\x80\x04\x95" + (2**62).to_bytes(8, "little") + b"."
    yield "negative", b"\x80\x02X" + (2**32 - 1).to_bytes(4, "little") + b"."
    yield "empty stack", b"\x80\x02R."
    yield "no stop", b"\x80\x02}"
    yield "unknown operation", b"\x80\x02\xff."


def of_pickles(content: bytes) -> bytes:
    """A file of torch's old format around a pickle."""
    facts = {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}
    before = [pickle.dumps(one, 2) for one in (0x1950A86A20F9469CFC6C, 1001, facts)]
    return b"".join(before) + content + pickle.dumps([], 2)


def of_archive(content: bytes, **members: bytes) -> bytes:
    """A file of torch's new format around a pickle."""
    return zipped({"archive/data.pkl": content, **members})


def zipped(members: dict[str, bytes], *, packed: bool = False) -> bytes:
    """A zip archive."""
    made = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(made, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()
