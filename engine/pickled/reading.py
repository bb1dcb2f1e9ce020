"""A pickle as data: a small machine that knows the harmless part of the pickle language.

A pickle is a program. `pickle.Unpickler` with a strict ``find_class`` is not enough for a file of
unknown origin: extension codes can go past ``find_class``, BUILD hands a state of the file's choice
to ``__setstate__`` (that of numpy's dtype trusts it), and a few bytes can ask for gigabytes. So
nothing of the standard unpickler runs here. `pickletools` splits the file into operations, and
this machine carries out those that build None, bool, int, float, str, bytes, list, tuple and dict.
Every other one is refused by its name: extension codes, sets, INST, OBJ, buffers outside the file,
and persistent ids where the reader of a kind of file does not say what they stand for.

What a pickle wants to call (REDUCE, NEWOBJ) is looked up by name in a table of makers of ours; the
name is never imported. A maker may return an `Unfinished`, and nothing else takes a state (BUILD).
The standard table makes numeric arrays (`engine.pickled.arrays`); a reader of another kind of file
hands over a larger one, with its `Dialect`.

Bounds: `MOST_VALUES` operations and values, also counted with repetition, so that nobody who walks
through the result walks for ever; nesting to `DEEPEST`, which excludes containers that hold
themselves; integers to 128 bit; keys that are no containers; no more bytes made than twice those of
the file. Strings of Python 2 are taken as Latin-1.
"""

import io
import pickletools
import re
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import IO, Any, Final, cast

import numpy as np

from engine.pickled.arrays import NUMPY
from engine.pickled.words import Maker, Named, PickleRefusedError, Unfinished

MOST_VALUES: Final = 1_000_000
DEEPEST: Final = 50
_LARGEST_BITS = 128
_MADE_FACTOR = 2

_ADMITTED: Final = frozenset(
    name
    for line in (
        "PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE",
        "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT",
        "STRING BINSTRING SHORT_BINSTRING UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8",
        "SHORT_BINBYTES BINBYTES BINBYTES8 BYTEARRAY8",
        "EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3",
        "EMPTY_DICT DICT SETITEM SETITEMS",
        "PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET",
        "GLOBAL STACK_GLOBAL REDUCE NEWOBJ BUILD",
    )
    for name in line.split()
)
_OPERATIONS: Final = {
    operation.code.encode("latin-1"): operation for operation in pickletools.opcodes
}
_CONSTANTS: Final = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_TUPLES: Final = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_KEYS: Final = (str, int, float, bool, bytes, type(None))
_LEAVES: Final = frozenset({*_KEYS, np.ndarray})
_PERSISTENT: Final = "BINPERSID"

# As Python 2 writes a string in text; any other escape is none of its own.
_QUOTED = re.compile(rb"""(['"])((?:[^\\]|\\[\\'"tnr]|\\x[0-9a-f]{2})*)\1""", re.DOTALL)
_ESCAPE = re.compile(rb"\\(x..|.)")
_ESCAPED: Final = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one kind of file may ask for.

    ``admitted``: by "module.name", who makes what the pickle calls by that name. ``persistent``:
    who makes what a persistent id stands for; None: they are refused. ``leaves``: types of values
    of these makers that may be part of the result.
    """

    admitted: Mapping[str, Maker]
    persistent: Maker | None = None
    leaves: Collection[type] = ()


def loads(data: bytes) -> object:
    """What a pickle of protocol 0 to 5 holds; nothing of it is executed.

    Returns:
        None, bool, int, float, str, bytes, `numpy.ndarray`, or a tree of lists, tuples and
        dictionaries of these.

    Raises:
        PickleRefusedError: it is damaged, too large, or asks for what is not admitted.
    """
    return load(io.BytesIO(data), len(data), Dialect(NUMPY))


def load(stream: IO[bytes], length: int, dialect: Dialect) -> object:
    """As `loads`, from where a stream stands; it then stands behind the pickle.

    Args:
        length: bytes that are left in the stream; no more are read.
    """
    try:
        bounded = cast(IO[bytes], _Bounded(stream, length))
        return _demand_plain(_Machine(bounded, length, dialect).run(), dialect.leaves)
    except PickleRefusedError:
        raise
    except (ValueError, LookupError, TypeError, OverflowError, struct.error) as error:
        raise PickleRefusedError(f"the pickle is damaged: {_one_line(error)}") from error


class _Machine:
    """``stack``: values; ``marks``: heights of the stack; ``memo``: values by their number."""

    def __init__(self, stream: IO[bytes], length: int, dialect: Dialect) -> None:
        self._stream = stream
        self._admitted = dialect.admitted
        self._persistent = dialect.persistent
        self._stack: list[object] = []
        self._marks: list[int] = []
        self._memo: dict[int, object] = {}
        self._bytes_left = _MADE_FACTOR * length

    def run(self) -> object:
        for _ in range(MOST_VALUES):
            name, argument = self._operation()
            if name == "STOP":
                return self._pop()
            self._carry_out(name, argument)
        raise PickleRefusedError(f"the pickle has more than {MOST_VALUES} operations")

    def _operation(self) -> tuple[str, Any]:
        code = self._stream.read(1)
        if not code:
            raise PickleRefusedError("the pickle ends too early")
        operation = _OPERATIONS.get(code)
        if operation is None:
            raise PickleRefusedError(f"the pickle has an unknown operation {code!r}")
        meant = operation.name == _PERSISTENT and self._persistent is not None
        if operation.name not in _ADMITTED and not meant:  # before its argument is read
            raise PickleRefusedError(f"the pickle's operation {operation.name} is not admitted")
        if operation.name == "STRING":
            return operation.name, _python2_string(self._stream.readline())
        return operation.name, operation.arg.reader(self._stream) if operation.arg else None

    def _carry_out(self, name: str, argument: Any) -> None:  # noqa: ANN401 - as pickletools says
        match name:
            case "PROTO" | "FRAME":
                pass
            case "MARK":
                self._marks.append(len(self._stack))
            case "NONE" | "NEWTRUE" | "NEWFALSE":
                self._stack.append(_CONSTANTS[name])
            case "EMPTY_LIST":
                self._stack.append([])
            case "EMPTY_DICT":
                self._stack.append({})
            case "EMPTY_TUPLE" | "TUPLE1" | "TUPLE2" | "TUPLE3":
                self._stack.append(tuple(self._popped(_TUPLES[name])))
            case "LIST":
                self._stack.append(self._to_mark())
            case "TUPLE":
                self._stack.append(tuple(self._to_mark()))
            case "DICT":
                self._dictionary(self._to_mark())
            case "APPEND":
                self._append(self._popped(1))
            case "APPENDS":
                self._append(self._to_mark())
            case "SETITEM":
                self._set(self._popped(2))
            case "SETITEMS":
                self._set(self._to_mark())
            case _:
                self._carry_out_rarer(name, argument)

    def _carry_out_rarer(self, name: str, argument: Any) -> None:  # noqa: ANN401 - the same
        match name:
            case "PUT" | "BINPUT" | "LONG_BINPUT":
                self._memo[argument] = self._top()
            case "MEMOIZE":
                self._memo[len(self._memo)] = self._top()
            case "GET" | "BINGET" | "LONG_BINGET":
                self._get(argument)
            case "GLOBAL":
                self._name(*argument.split(" ", 1))
            case "STACK_GLOBAL":
                self._name(*self._popped(2))
            case "REDUCE" | "NEWOBJ":
                self._call()
            case "BUILD":
                self._build()
            case "BINPERSID" if self._persistent is not None:
                self._made(self._persistent(self._pop()))
            case "BYTEARRAY8":
                self._stack.append(bytes(argument))
            case _:
                self._value(argument)

    # --- stack and memo ---------------------------------------------------------------------

    def _pop(self) -> object:
        if len(self._stack) <= (self._marks[-1] if self._marks else 0):
            raise PickleRefusedError("the pickle is damaged: a value is missing")
        return self._stack.pop()

    def _top(self) -> object:
        value = self._pop()
        self._stack.append(value)
        return value

    def _popped(self, count: int) -> list[object]:
        return [self._pop() for _ in range(count)][::-1]

    def _to_mark(self) -> list[object]:
        if not self._marks:
            raise PickleRefusedError("the pickle is damaged: a mark is missing")
        start = self._marks.pop()
        values = self._stack[start:]
        del self._stack[start:]
        return values

    def _get(self, number: int) -> None:
        value = self._memo[number]
        self._stack.append(value.value if isinstance(value, Unfinished) else value)

    def _value(self, value: object) -> None:
        if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
            raise PickleRefusedError("the pickle has an integer of too many digits")
        self._stack.append(value)

    # --- containers -------------------------------------------------------------------------

    def _append(self, values: list[object]) -> None:
        target = self._top()
        if not isinstance(target, list):
            raise PickleRefusedError("the pickle appends to what is no list")
        target.extend(values)

    def _set(self, values: list[object]) -> None:
        target = self._top()
        if not isinstance(target, dict) or len(values) % 2:
            raise PickleRefusedError("the pickle sets items of what is no dictionary")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, _KEYS):
                raise PickleRefusedError("the key of a dictionary is no string and no number")
            target[key] = value

    def _dictionary(self, values: list[object]) -> None:
        self._stack.append({})
        self._set(values)

    # --- what a pickle calls ----------------------------------------------------------------

    def _name(self, module: object, name: object) -> None:
        full = f"{module}.{name}" if isinstance(module, str) and isinstance(name, str) else ""
        if full not in self._admitted:
            raise PickleRefusedError(f"the pickle asks for {full[:200]!r}, which is not admitted")
        self._stack.append(Named(full))

    def _call(self) -> None:
        called, arguments = self._popped(2)
        if not isinstance(called, Named) or not isinstance(arguments, tuple):
            raise PickleRefusedError("the pickle calls what cannot be called")
        self._made(self._admitted[called.name](*arguments))

    def _build(self) -> None:
        waiting, state = self._popped(2)
        if not isinstance(waiting, Unfinished):
            raise PickleRefusedError("the pickle sets the state of what has none")
        waiting.value = waiting.finish(state)
        self._made(waiting.value)

    def _made(self, value: object) -> None:
        if isinstance(value, bytes | np.ndarray):
            self._bytes_left -= value.nbytes if isinstance(value, np.ndarray) else len(value)
        if self._bytes_left < 0:
            raise PickleRefusedError("the pickle makes more of its content than it holds")
        self._stack.append(value)


class _Bounded:
    """The rest of a stream. A read of more than is there is answered with what is there: what a
    pickle claims must not be allocated."""

    def __init__(self, stream: IO[bytes], length: int) -> None:
        self._stream = stream
        self._left = length

    def read(self, count: int) -> bytes:
        return self._taken(self._stream.read(min(count, self._left)))

    def readline(self) -> bytes:
        return self._taken(self._stream.readline(self._left))

    def _taken(self, content: bytes) -> bytes:
        self._left -= len(content)
        return content


def _python2_string(line: bytes) -> str:
    """The string that Python 2 wrote as text, between quotes and escaped."""
    found = _QUOTED.fullmatch(line.rstrip(b"\n"))
    if found is None:
        raise PickleRefusedError("the pickle is damaged: a string is not as Python 2 writes it")
    return _ESCAPE.sub(_unescaped, found[2]).decode("latin-1")


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes.fromhex(code[1:].decode()) if len(code) > 1 else _ESCAPED.get(code, code)


def _demand_plain(root: object, leaves: Collection[type]) -> object:
    """Walks the result as whoever uses it would: what is shared is met again."""
    waiting: list[tuple[Collection[object], int]] = [((root,), 0)]
    met = 0
    while waiting:
        values, depth = waiting.pop()
        met += len(values)
        if met > MOST_VALUES or depth > DEEPEST:
            raise PickleRefusedError("the pickle holds itself, or unfolds to too much")
        for value in values:
            if isinstance(value, list | tuple):
                waiting.append((value, depth + 1))
            elif isinstance(value, dict):
                waiting.append((value.values(), depth + 1))
            elif type(value) not in _LEAVES and type(value) not in leaves:
                raise PickleRefusedError(f"the pickle holds a {type(value).__name__} as a value")
    return root


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
