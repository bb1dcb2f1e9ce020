import os
from pathlib import Path

import pytest

from engine.store.paths import LibraryPaths, default_library, evaluation_cache, spelled


def test_everything_lies_inside_the_root() -> None:
    paths = LibraryPaths(Path("/somewhere"))
    places = (paths.database, paths.lock, paths.thumbnails, paths.vectors("n-1"), paths.index("n"))
    assert all(place.is_relative_to(paths.root) for place in places)
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("key", ["", "../up", "a/b", "a\\b", ".", "a" * 200, "a\n"])
def test_a_key_that_would_leave_the_library_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="cannot name a file"):
        LibraryPaths(Path("/somewhere")).vectors(key)


def test_defaults_differ_and_are_absolute() -> None:
    assert default_library() != evaluation_cache()
    assert default_library().is_absolute()
    assert evaluation_cache().is_absolute()


def test_any_path_is_spelled_on_one_printable_line() -> None:
    assert spelled(Path("Ferien/Köln 1.jpg")) == str(Path("Ferien/Köln 1.jpg"))
    odd = Path(os.fsdecode(b"a\nb\x1b[31m\xff.jpg"))
    line = spelled(odd)
    assert line.isprintable()
    line.encode("utf-8")
    assert "a\\nb" in line
