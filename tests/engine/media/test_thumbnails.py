"""The thumbnail cache."""

import os
import threading
import time
from pathlib import Path

import pytest

from engine.media.thumbnails import ThumbnailCache
from tests.fakes.rights import as_ordinary_user


def _name(number: int) -> str:
    return f"{number:032x}"


def _entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _age(folder: Path, number: int, seconds: float) -> None:
    (entry,) = folder.rglob(f"{_name(number)}*")
    then = time.time() - seconds
    os.utime(entry, (then, then))


def test_what_was_put_is_got(tmp_path: Path) -> None:
    cache = ThumbnailCache(tmp_path / "deep" / "thumbnails", 1_000_000)
    assert cache.get(_name(1)) is None
    cache.put(_name(1), b"one")
    cache.put(_name(2), b"two")
    cache.put(_name(1), b"one again")
    assert cache.get(_name(1)) == b"one again"
    assert ThumbnailCache(tmp_path / "deep" / "thumbnails", 1_000_000).get(_name(2)) == b"two"


@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "lengthened"])
def test_a_damaged_entry_counts_as_missing(tmp_path: Path, damage: str) -> None:
    cache = ThumbnailCache(tmp_path, 1_000_000)
    cache.put(_name(1), b"jpeg bytes" * 20)
    (entry,) = _entries(tmp_path)
    data = entry.read_bytes()
    entry.write_bytes(
        {
            "flipped": data[:50] + bytes((data[50] ^ 1,)) + data[51:],
            "cut": data[:-30],
            "emptied": b"",
            "lengthened": data + b"\0",
        }[damage]
    )
    assert cache.get(_name(1)) is None
    cache.put(_name(1), b"new")
    assert cache.get(_name(1)) == b"new"


def test_report_21_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = ThumbnailCache(tmp_path, 10_000)
    for number in range(8):
        cache.put(_name(number), bytes(1_000))
        _age(tmp_path, number, 1_000 - number)
    assert cache.get(_name(0)) is not None  # used: now the youngest
    for number in range(8, 12):
        cache.put(_name(number), bytes(1_000))
    assert sum(path.stat().st_size for path in _entries(tmp_path)) <= 10_000
    assert cache.get(_name(0)) is not None
    assert cache.get(_name(1)) is None
    assert cache.get(_name(11)) is not None


def test_report_21_the_limit_holds_for_what_earlier_runs_left(tmp_path: Path) -> None:
    for number in range(9):
        ThumbnailCache(tmp_path, 10**9).put(_name(number), bytes(1_000))
    ThumbnailCache(tmp_path, 5_000).put(_name(9), bytes(1_000))
    assert sum(path.stat().st_size for path in _entries(tmp_path)) <= 5_000


def test_the_limit_holds_however_often_one_entry_is_replaced(tmp_path: Path) -> None:
    cache = ThumbnailCache(tmp_path, 5_000)
    cache.put(_name(1), bytes(1_000))
    for _ in range(20):
        cache.put(_name(2), bytes(1_000))
    assert cache.get(_name(1)) is not None


def test_what_a_crash_left_goes_after_a_while(tmp_path: Path) -> None:
    (tmp_path / "ab").mkdir()
    old, fresh = tmp_path / "ab" / "x.part", tmp_path / "ab" / "y.part"
    for path in (old, fresh):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    ThumbnailCache(tmp_path, 1_000).put(_name(1), b"jpeg")
    assert not old.exists()
    assert fresh.exists()  # another process may be at it


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    folder = tmp_path / "thumbnails"
    ThumbnailCache(folder, 10_000).put(_name(1), b"jpeg")
    (shard,) = folder.iterdir()
    with as_ordinary_user(folder):
        shard.chmod(0o500)
        folder.chmod(0o500)
        try:
            cache = ThumbnailCache(folder, 10_000)
            cache.put(_name(1), b"other")
            cache.put(_name(255 << 120), b"other")
            assert cache.get(_name(1)) == b"jpeg"
        finally:
            folder.chmod(0o700)
            shard.chmod(0o700)
    assert len(_entries(folder)) == 1


@pytest.mark.parametrize("identity", ["", "../../etc/passwd", "A" * 32, "0" * 31])
def test_only_identities_are_names(tmp_path: Path, identity: str) -> None:
    cache = ThumbnailCache(tmp_path, 1_000)
    with pytest.raises(ValueError, match="identity"):
        cache.get(identity)
    with pytest.raises(ValueError, match="identity"):
        cache.put(identity, b"")


def test_many_threads_at_once(tmp_path: Path) -> None:
    cache = ThumbnailCache(tmp_path, 20_000)
    wrong: list[bytes] = []

    def work(seed: int) -> None:
        for number in range(60):
            content = bytes((number,)) * 500
            cache.put(_name(number), content)
            if (got := cache.get(_name((number * seed) % 60))) and len(set(got)) != 1:
                wrong.append(got)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (3, 7, 11, 13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sum(path.stat().st_size for path in _entries(tmp_path)) <= 20_000
    assert not list(tmp_path.rglob("*.part"))
