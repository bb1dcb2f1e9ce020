"""What a pickle of plain data gives, and what every other one is told."""

import contextlib
import copyreg
import os
import pickle
import struct
import time
import tracemalloc
from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pickled.reading import DEEPEST, MOST_VALUES, loads
from engine.pickled.words import PickleRefusedError

PLAIN = {
    "imlist": ["a", "ü/b", ""],
    "numbers": [0, -1, 255, 2**31, -(2**63), 10**20, 1.5, float("inf"), True, False, None],
    "bytes": [b"", b"\x00\xff"],
    "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
    "nested": {"a": {1: [[]]}},
}
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plain_data_of_every_protocol(protocol: int) -> None:
    assert loads(pickle.dumps(PLAIN, protocol)) == PLAIN


_PLAIN_DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**100), 2**100)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=30,
)


@given(_PLAIN_DATA, st.sampled_from(PROTOCOLS))
def test_any_plain_data(data: object, protocol: int) -> None:
    assert loads(pickle.dumps(data, protocol)) == data


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["<i8", ">i4", "u1", "<f4", "f8", "f2"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_numeric_arrays(protocol: int, kind: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape), dtype=kind).reshape(shape)
    for written in (array, np.asfortranarray(array)):
        both = loads(pickle.dumps([written, written], protocol))
        assert isinstance(both, list)
        read, again = both
        assert (read.dtype, read.shape) == (written.dtype, written.shape)
        np.testing.assert_array_equal(read, written)
        assert again is read


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_numpy_scalars_become_numbers(protocol: int) -> None:
    read = loads(pickle.dumps([np.int64(-3), np.float32(0.5)], protocol))
    assert read == [-3, 0.5]
    assert isinstance(read, list)
    assert [type(value) for value in read] == [int, float]


def test_what_numpy_1_wrote() -> None:
    written = pickle.dumps(np.array([7, 300]), 2)
    assert b"numpy._core.multiarray" in written
    read = loads(written.replace(b"numpy._core", b"numpy.core"))
    assert isinstance(read, np.ndarray)
    assert read.tolist() == [7, 300]


PYTHON_2_TEXT = (
    b"(dp0\nS'easy'\np1\n(lp2\nI1\naI02\naL3L\nas"
    b"S'it\\'s'\np3\nS\"\\xe9\\n\"\np4\nsS'x'\np5\nI01\ns."
)


def test_what_python_2_wrote_as_text() -> None:
    assert loads(PYTHON_2_TEXT) == {"easy": [1, 2, 3], "it's": "é\n", "x": True}


def test_an_array_of_python_2_as_text_and_as_bytes() -> None:
    head = (
        b"cnumpy.core.multiarray\n_reconstruct\np0\n(cnumpy\nndarray\np1\n(I0\ntp2\nS'b'\np3\ntp4\n"
        b"Rp5\n(I1\n(I2\ntp6\ncnumpy\ndtype\np7\n(S'i2'\np8\nI0\nI1\ntp9\nRp10\n(I3\nS'<'\np11\n"
        b"NNNI-1\nI-1\nI0\ntp12\nbI00\n"
    )
    for content in (b"S'\\xc8\\x00\\x07\\x00'\np13\n", b"U\x04\xc8\x00\x07\x00"):
        read = loads(head + content + b"tp14\nb.")
        assert isinstance(read, np.ndarray)
        assert read.tolist() == [200, 7]


# --- what would be executed -------------------------------------------------------------------


class Calls:
    """Pickles as a call."""

    def __init__(self, called: Callable[..., object], *arguments: object) -> None:
        self._reduced = (called, arguments)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self._reduced


class WithState:
    def __setstate__(self, state: str) -> None:
        Path(state).touch()

    def __reduce__(self) -> tuple[Any, ...]:
        return (WithState, (), self.canary)

    canary = ""


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "executed"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_that_a_pickle_calls_is_executed(protocol: int, canary: Path) -> None:
    stateful = WithState()
    stateful.canary = str(canary)
    attacks = [
        Calls(os.system, f"touch '{canary}'"),
        Calls(eval, f"open({str(canary)!r}, 'w')"),
        Calls(exec, f"open({str(canary)!r}, 'w')"),
        Calls(open, str(canary), "w"),
        Calls(getattr, os, "system") if protocol else Calls(__import__, "os"),
        stateful,
        [1, {"deep": (Calls(os.mkdir, str(canary)),)}],
    ]
    for attack in attacks:
        try:
            written = pickle.dumps(attack, protocol)
        except TypeError:  # a module cannot be pickled
            continue
        with pytest.raises(PickleRefusedError, match="not admitted"):
            loads(written)
        assert not canary.exists()


def test_the_attacks_are_real(canary: Path) -> None:
    """The same bytes do execute with the standard unpickler."""
    pickle.loads(pickle.dumps(Calls(os.system, f"touch '{canary}'")))
    assert canary.exists()


HOSTILE = {
    "GLOBAL of eval": b"cbuiltins\neval\n(S'1'\ntR.",
    "GLOBAL of eval, Python 2": b"c__builtin__\neval\n(S'1'\ntR.",
    "GLOBAL alone": b"cos\nsystem\n.",
    "an admitted name as a value": b"cnumpy\nndarray\n.",
    "a call of an admitted class": b"cnumpy\nndarray\n(I9\ntR.",
    "dotted way round": b"\x80\x04\x8c\x05numpy\x8c\x0ctesting.sys\x93.",
    "STACK_GLOBAL of no strings": b"\x80\x04K\x01K\x02\x93.",
    "INST": b"(S'touch x'\nios\nsystem\n.",
    "OBJ": b"(cos\nsystem\nS'touch x'\no.",
    "NEWOBJ": b"\x80\x02cos\nsystem\n)\x81.",
    "NEWOBJ_EX": b"\x80\x04cos\nsystem\n)}\x92.",
    "copy_reg": b"ccopy_reg\n_reconstructor\n(c__builtin__\nobject\nc__builtin__\nobject\nNtR.",
    "persistent id": b"Pos.system\n.",
    "persistent id inside persistent id": b"(I1\nPa\ntQQ.",
    "binary persistent id": b"K\x01Q.",
    "extension 1": b"\x82\x01.",
    "extension 2": b"\x83\x01\x01.",
    "extension 4": b"\x84\x01\x01\x01\x01.",
    "buffer outside": b"\x80\x05\x97.",
    "read-only buffer": b"\x80\x05\x97\x98.",
    "set": b"\x80\x04\x8f.",
    "frozenset": b"\x80\x04(\x91.",
    "call of a string": b"S'os.system'\n(S'x'\ntR.",
    "call without a tuple": b"c_codecs\nencode\n]R.",
    "state of a list": b"]}b.",
    "state of a dictionary": b"}(S'__class__'\nI1\ndb.",
    "encoding of another kind": b"c_codecs\nencode\n(VX\nVzip\ntR.",
    "wrong count of arguments": b"c_codecs\nencode\n(VX\ntR.",
    "key of a tuple": b"}(I1\nI2\ntI3\ns.",
    "key of a list": b"}]I3\ns.",
    "append to a tuple": b")I3\na.",
    "items of a list": b"](I1\nI2\nu.",
    "odd items": b"}(I1\nu.",
    "no value": b".",
    "no mark": b"t.",
    "below a mark": b"]I1\n(a.",
    "unknown number": b"g7\n.",
    "unknown operation": b"\xff.",
    "negative length": b"\x8b\xff\xff\xff\xff.",
    "LONG4 of 2 GB": b"\x8b\xff\xff\xff\x7f\x01.",
    "bytes of 2^62": b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"x.",
    "text of 2^62": b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"x.",
    "bytearray of 2^62": b"\x80\x05\x96" + struct.pack("<Q", 2**62) + b"x.",
    "frame of 2^63": b"\x80\x04\x95" + struct.pack("<Q", 2**63),
    "integer of a thousand bytes": b"\x8b" + struct.pack("<i", 1000) + b"\x7f" * 1000 + b".",
    "integer of ten thousand digits": b"L" + b"9" * 10_000 + b"L\n.",
    "escape of no Python": b"S'\\q'\n.",
    "string without an end": b"S'abc\n.",
    "no UTF-8": b"X\x01\x00\x00\x00\xff.",
    "no number": b"Ione\n.",
    "empty": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_not_plain_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(PickleRefusedError) as caught:
        loads(HOSTILE[name])
    assert 10 < len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_an_extension_that_this_process_has_used_is_refused(canary: Path) -> None:
    """The standard unpickler finds it in a cache and never asks ``find_class``."""
    copyreg.add_extension("os", "mkdir", 241)
    try:
        attack = b"\x80\x02\x82\xf1" + pickle.dumps((str(canary),), 2)[2:-1] + b"R."
        pickle.loads(attack)
        canary.rmdir()
        with pytest.raises(PickleRefusedError, match="EXT1"):
            loads(attack)
        assert not canary.exists()
    finally:
        copyreg.remove_extension("os", "mkdir", 241)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "value",
    [
        np.array([{}, "x"], dtype=object),
        np.array(["text"]),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([1j]),
        np.dtype("f4"),
        np.ma.masked_array([1, 2], mask=[False, True]),
        OrderedDict(a=1),
        {1, 2},
        Fraction(1, 2),
        Path("x"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_kinds_are_refused(protocol: int, value: object) -> None:
    with pytest.raises(PickleRefusedError):
        loads(pickle.dumps(value, protocol))


# --- what would be too much -------------------------------------------------------------------


def _array_of_shape(shape: tuple[int, ...]) -> bytes:
    """Asks for an array of eight-byte integers of this shape over eight bytes."""
    kind = pickle.dumps(np.dtype("i8"), 0)[:-1]
    sides = b"".join(b"I01\n" if side is True else b"L%dL\n" % side for side in shape)
    return (
        b"cnumpy.core.numeric\n_frombuffer\n(C\x08" + bytes(8) + kind + b"(" + sides + b"tS'C'\ntR."
    )


@pytest.mark.parametrize(
    "shape", [(2**62,), (2**40, 2**40), (-1,), (2,), (0,), (1,) * 40, (0, 2**100), (True,)]
)
def test_shapes_that_do_not_fit_their_content(shape: tuple[int, ...]) -> None:
    assert loads(_array_of_shape((1,))) == np.zeros(1)
    with pytest.raises(PickleRefusedError, match="shape"):
        loads(_array_of_shape(shape))


def _doubled(times: int) -> bytes:
    """A list of twice a list of twice a list ...: few bytes, 2^times leaves."""
    return (
        b"(I1\nlp0\n" + b"".join(b"(g%d\ng%d\nlp%d\n" % (n, n, n + 1) for n in range(times)) + b"."
    )


HUGE = {
    "nested lists": b"]" * 500_000 + b"a" * 499_999 + b".",
    "nested tuples": b")" + b"\x85" * 500_000 + b".",
    "doubled lists": _doubled(45),
    "wide lists of wide lists": b"(" + b"I1\n" * 9000 + b"lp0\n(" + b"g0\n" * 9000 + b"l.",
    "a list in itself": b"]p0\ng0\na.",
    "a dictionary in itself": b"}p0\nS'a'\ng0\ns.",
    "a list in a tuple in itself": b"]p0\n(g0\nta.",
    "many operations": b"N" * (MOST_VALUES + 1) + b".",
    "one text encoded over and over": b"V"
    + b"x" * 100_000
    + b"\np0\nVlatin1\np1\nc_codecs\nencode\n"
    b"p2\n](" + b"g2\n(g0\ng1\ntR" * 20_000 + b"e.",
}


@pytest.mark.parametrize("name", HUGE)
def test_little_that_would_become_much(name: str) -> None:
    tracemalloc.start()
    started = time.perf_counter()
    try:
        with pytest.raises(PickleRefusedError):
            loads(HUGE[name])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200e6
    assert time.perf_counter() - started < 60


def test_nesting_as_deep_as_is_admitted() -> None:
    data: object = 1
    for _ in range(DEEPEST):
        data = [data]
    assert loads(pickle.dumps(data)) == data
    with pytest.raises(PickleRefusedError):
        loads(pickle.dumps([data]))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_truncation_is_refused(protocol: int) -> None:
    written = pickle.dumps({"a": [1, 2.5, "x", np.arange(3)], "b": (b"y", 10**20)}, protocol)
    for end in range(len(written)):
        with pytest.raises(PickleRefusedError):
            loads(written[:end])


@given(st.binary(max_size=60))
def test_any_bytes_give_plain_data_or_a_reason(data: bytes) -> None:
    with contextlib.suppress(PickleRefusedError):
        loads(data)


@given(st.integers(0, 10_000), st.integers(0, 255), st.sampled_from(PROTOCOLS))
def test_any_changed_byte_gives_plain_data_or_a_reason(at: int, byte: int, protocol: int) -> None:
    written = bytearray(pickle.dumps([PLAIN, np.arange(4)], protocol))
    written[at % len(written)] = byte
    with contextlib.suppress(PickleRefusedError):
        loads(bytes(written))
