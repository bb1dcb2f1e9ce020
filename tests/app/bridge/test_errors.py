"""Every error of the engine has words of its own; what nobody foresaw has some too."""

import inspect
from pathlib import Path

import pytest

from app.bridge.errors import is_expected, words
from app.logs import log_file
from engine import errors

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.RefocalError)
]


def made(kind: type[errors.RefocalError]) -> errors.RefocalError:
    if issubclass(kind, errors.FolderError):
        return kind("this is why", path=Path("a"))
    return kind("this is why")


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_the_engine_is_message_cause_and_what_to_do(
    kind: type[errors.RefocalError],
) -> None:
    said = words(made(kind))
    assert said.message.endswith(".")
    assert said.cause == "this is why"
    assert bool(said.what_to_do) == (kind is not errors.RefocalError)
    assert is_expected(made(kind))


def test_the_special_is_worded_before_the_general() -> None:
    said = {
        words(made(kind)).message
        for kind in (errors.LibraryError, errors.LibraryInUseError, errors.NothingIndexedError)
    }
    assert len(said) == 3


def test_a_mistake_of_refocals_own_says_where_the_log_is() -> None:
    error = KeyError("depth")
    said = words(error)
    assert said.cause == "KeyError: 'depth'"
    assert str(log_file()) in said.what_to_do
    assert not is_expected(error)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ValueError(), "ValueError"),
        (RuntimeError("\n  first line\nsecond line"), "RuntimeError: first line"),
    ],
)
def test_a_cause_is_one_line(error: Exception, cause: str) -> None:
    assert words(error).cause == cause


def test_too_little_memory_is_no_mistake_of_refocals() -> None:
    assert "memory" in words(MemoryError()).message
