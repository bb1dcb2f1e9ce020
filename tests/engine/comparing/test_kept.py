"""Arrays on disk: whole or not there, and bounded."""

import os
from pathlib import Path

import numpy as np
import pytest

from engine.comparing.kept import KeptArrays
from engine.errors import SettingsError

_ONE = {"map": np.arange(500, dtype=np.float16), "size": np.array([3, 4])}


def test_what_was_put_comes_back(tmp_path: Path) -> None:
    kept = KeptArrays(tmp_path)
    assert "net/a" not in kept
    assert kept.get("net/a") is None
    kept.put("net/a", _ONE)
    assert "net/a" in KeptArrays(tmp_path)
    found = KeptArrays(tmp_path).get("net/a")
    assert found is not None
    assert found["map"].dtype == np.float16
    np.testing.assert_array_equal(found["map"], _ONE["map"])
    np.testing.assert_array_equal(found["size"], [3, 4])
    assert [path.name for path in (tmp_path / "net").iterdir()] == ["a.safetensors"]


def test_half_a_file_is_none(tmp_path: Path) -> None:
    kept = KeptArrays(tmp_path)
    kept.put("a", _ONE)
    path = tmp_path / "a.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    assert "a" not in kept
    assert kept.get("a") is None


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    kept = KeptArrays(tmp_path, limit_bytes=4_000)
    for number, name in enumerate("abc"):
        kept.put(name, _ONE)
        os.utime(tmp_path / f"{name}.safetensors", (number, number))
    kept.get("a")  # used just now
    kept.make_room(1_500, of="maps")
    assert ["a" in kept, "b" in kept, "c" in kept] == [True, False, True]


def test_what_fits_removes_nothing(tmp_path: Path) -> None:
    kept = KeptArrays(tmp_path, limit_bytes=4_000)
    kept.put("a", _ONE)
    kept.make_room(2_500, of="maps")
    assert "a" in kept


def test_more_than_is_allowed_is_refused_before_anything_goes(tmp_path: Path) -> None:
    kept = KeptArrays(tmp_path, limit_bytes=4_000)
    kept.put("a", _ONE)
    with pytest.raises(SettingsError, match=r"maps take up to .* choose a smaller size"):
        kept.make_room(4_001, of="maps")
    assert "a" in kept
