"""Decoding in processes that crash, hang, are killed and are left."""

import multiprocessing
import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from engine.config import DecodeSettings
from engine.errors import DecodeKilledError, PhotoError, PhotoTooLargeError
from engine.jobs import Cancelled, Ticket
from engine.media.child import Order
from engine.media.pool import DecodePool, DecodeTask
from engine.media.process import DecodeProcess, limit_silence
from engine.types import Picture
from tests.engine.media.pictures import corners, decoded, encoded, noise

_SMALL = encoded(noise(120, 80), "JPEG")
_posix = pytest.mark.skipif(sys.platform == "win32", reason="stops processes by signals")


def _task(key: int = 0, data: bytes = _SMALL, *, max_side_px: int | None = 64) -> DecodeTask:
    return DecodeTask(key, Picture(data=data), max_side_px, None)


def _decoders() -> list[psutil.Process]:
    children = psutil.Process().children()
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


def _stop(process: psutil.Process) -> None:
    process.suspend()
    while process.status() != psutil.STATUS_STOPPED:
        time.sleep(0.005)


@pytest.fixture
def pool() -> Iterator[DecodePool]:
    with DecodePool(DecodeSettings(workers=1, timeout_s=30)) as made:
        yield made


# --- the common way -----------------------------------------------------------------------------


def test_outcomes_come_in_the_order_of_the_tasks() -> None:
    """With two processes, although every third picture takes much longer than the others."""
    slow = encoded(noise(2_000, 1_500), "PNG")
    pictures = [slow if number % 3 == 0 else _SMALL for number in range(18)]
    tasks = (_task(number, data) for number, data in enumerate(pictures))
    with DecodePool(DecodeSettings(workers=2)) as pool:
        outcomes = list(pool.run(tasks, Ticket()))
        assert len(_decoders()) == 2
    assert [outcome.task.key for outcome in outcomes] == list(range(18))
    assert all(outcome.photo is not None for outcome in outcomes)


def test_a_process_decodes_what_the_program_itself_does(pool: DecodePool, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.fromarray(corners()).save(path)
    photo = pool.decode(DecodeTask(7, Picture(path=path), 24, 16))
    here = decoded(path, max_side_px=24, thumbnail_px=16)
    assert np.array_equal(photo.pixels, here.pixels)
    assert photo.pixels.flags.writeable
    assert (photo.facts, photo.thumbnail, photo.identity) == (
        here.facts,
        here.thumbnail,
        here.identity,
    )


def test_bad_files_stop_no_others(pool: DecodePool, tmp_path: Path) -> None:
    bad = [b"text", b"", _SMALL[:400]]
    tasks = [_task(number, data) for number, data in enumerate([_SMALL, *bad, _SMALL])]
    tasks.append(DecodeTask(5, Picture(path=tmp_path / "gone.jpg"), 64, None))
    outcomes = list(pool.run(tasks, Ticket()))
    assert [outcome.photo is not None for outcome in outcomes] == [True, *[False] * 3, True, False]
    assert all((outcome.photo is None) != (outcome.error is None) for outcome in outcomes)
    error = outcomes[-1].error
    assert error is not None
    assert error.path == tmp_path / "gone.jpg"


def test_relative_paths_are_those_of_the_program(
    pool: DecodePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.decode(_task())
    (tmp_path / "a.jpg").write_bytes(_SMALL)
    monkeypatch.chdir(tmp_path)
    assert pool.decode(DecodeTask(0, Picture(path=Path("a.jpg")), 64, None)).pixels.any()
    with pytest.raises(PhotoError) as caught:
        pool.decode(DecodeTask(0, Picture(path=Path("b.jpg")), 64, None))
    assert caught.value.path == Path("b.jpg")


def test_nothing_to_do(pool: DecodePool) -> None:
    assert list(pool.run([], Ticket())) == []
    assert _decoders() == []


def test_file_names_that_are_no_text(pool: DecodePool, tmp_path: Path) -> None:
    name = os.fsdecode(b"f\xfc\xdf.jpg")
    try:
        (tmp_path / name).write_bytes(_SMALL)
    except (OSError, UnicodeError):
        pytest.skip("this file system has text names only")
    assert pool.decode(DecodeTask(0, Picture(path=tmp_path / name), 64, None)).pixels.any()
    with pytest.raises(PhotoError) as caught:
        pool.decode(DecodeTask(0, Picture(path=tmp_path / ("x" + name)), 64, None))
    assert caught.value.path == tmp_path / ("x" + name)


def test_report_19_tasks_are_taken_only_so_far_ahead(pool: DecodePool) -> None:
    taken = 0

    def tasks() -> Iterator[DecodeTask]:
        nonlocal taken
        for number in range(400):
            taken = number + 1
            yield _task(number)

    for done, _ in enumerate(pool.run(tasks(), Ticket())):
        assert taken - done <= 33
    assert taken == 400


def test_report_19_large_pictures_are_taken_fewer_at_a_time(pool: DecodePool) -> None:
    taken = 0

    def tasks(longest: int | None) -> Iterator[DecodeTask]:
        nonlocal taken
        for taken in range(1, 9):
            yield _task(taken, max_side_px=longest)

    for longest, ahead in ((None, 1), (3_000, 3)):
        outcomes = pool.run(tasks(longest), Ticket())
        next(outcomes)
        assert taken == ahead
        outcomes.close()


@pytest.mark.skipif(sys.platform == "win32", reason="measures by the counters of Linux and macOS")
def test_report_19_memory_stays_flat(pool: DecodePool) -> None:
    data = encoded(noise(1_600, 1_200), "JPEG")

    def bytes_after(tasks: int) -> int:
        for outcome in pool.run((_task(n, data, max_side_px=768) for n in range(tasks)), Ticket()):
            assert outcome.photo is not None
        (child,) = _decoders()
        return psutil.Process().memory_info().rss + int(child.memory_info().rss)

    before = bytes_after(50)
    assert bytes_after(80) - before < 24 * 1024**2


# --- many at once -------------------------------------------------------------------------------


def test_several_threads_share_a_pool(pool: DecodePool) -> None:
    found: dict[int, list[int]] = {}

    def work(number: int) -> None:
        keys = range(number * 100, number * 100 + 20)
        outcomes = pool.run((_task(key) for key in keys), Ticket())
        found[number] = [outcome.task.key for outcome in outcomes if outcome.photo]
        found[number].append(pool.decode(_task()).pixels.shape[1])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: [*range(n * 100, n * 100 + 20), 64] for n in range(4)}


@_posix
def test_a_person_does_not_wait_behind_a_file_that_hangs(pool: DecodePool) -> None:
    outcomes = pool.run((_task(number) for number in range(200)), Ticket())
    next(outcomes)
    (batch,) = _decoders()
    _stop(batch)
    pool.decode(_task())  # starts a process of its own
    start = time.monotonic()
    assert pool.decode(_task()).pixels.shape == (43, 64, 3)
    assert time.monotonic() - start < 2
    batch.resume()
    assert len(list(outcomes)) == 199


# --- crashes and hangs --------------------------------------------------------------------------


@_posix
def test_report_12_a_decoder_that_hangs_is_killed() -> None:
    with DecodePool(DecodeSettings(workers=1, timeout_s=0.5)) as pool:
        pool.decode(_task())
        (hanging,) = _decoders()
        _stop(hanging)
        start = time.monotonic()
        with pytest.raises(DecodeKilledError, match=r"longer than 0\.5 s"):
            pool.decode(_task())
        assert time.monotonic() - start < 3
        assert not hanging.is_running()
        assert pool.decode(_task()).pixels.any()  # in a fresh one


@_posix
@pytest.mark.parametrize(
    ("blow", "wanted"), [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGKILL, "ended by the system")]
)
def test_report_12_a_decoder_that_crashes_costs_one_photo(
    blow: signal.Signals, wanted: str
) -> None:
    path = Path("photos") / "crash.jpg"
    with DecodePool(DecodeSettings(workers=1)) as pool:
        pool.decode(_task())
        (victim,) = _decoders()
        _stop(victim)
        caught: list[PhotoError] = []

        def ask() -> None:
            try:
                pool.decode(DecodeTask(0, Picture(path=path), 64, None))
            except PhotoError as error:
                caught.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.2)
        victim.send_signal(blow)
        victim.resume()
        asking.join()
        (error,) = caught
        assert isinstance(error, DecodeKilledError)
        assert wanted in error.reason
        assert error.path == path
        assert pool.decode(_task()).pixels.any()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_report_12_a_decoder_that_eats_memory_is_stopped() -> None:
    """300 million bytes of pixels for a process that may have 100 million."""
    data = encoded(Image.new("RGB", (10_000, 7_500)), "PNG")
    process = DecodeProcess(memory_bytes=100_000_000)
    try:
        for _ in range(2):  # and it is still of use
            order = Order(Picture(data=data), 64, None, 200_000_000, 30.0)
            with pytest.raises(PhotoTooLargeError, match="memory"):
                process.decode(order, lambda: True)
        order = Order(Picture(data=_SMALL), 64, None, 200_000_000, 30.0)
        assert process.decode(order, lambda: True).pixels.any()
    finally:
        process.end()


@_posix
def test_report_12_a_decoder_that_stops_in_mid_answer_is_given_up() -> None:
    ours, theirs = multiprocessing.Pipe()
    with ours, theirs:
        limit_silence(ours, 0.3)
        theirs.send("whole")
        os.write(theirs.fileno(), struct.pack("!i", 100) + b"half")
        assert ours.recv() == "whole"
        start = time.monotonic()
        with pytest.raises(OSError, match="unavailable"):
            ours.recv()
        assert 0.2 < time.monotonic() - start < 2


def test_a_process_that_does_not_start_costs_no_other_photo(
    pool: DecodePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as patched:
        patched.setattr("multiprocessing.process.BaseProcess.start", full)
        with pytest.raises(DecodeKilledError, match="no decoder could be started"):
            pool.decode(_task())
    assert pool.decode(_task()).pixels.any()


# --- leaving ------------------------------------------------------------------------------------


@_posix
def test_cancelling_is_prompt_and_leaves_the_pool_usable(pool: DecodePool) -> None:
    ticket = Ticket()
    outcomes = pool.run((_task(number) for number in range(1_000)), ticket)
    next(outcomes)
    (hanging,) = _decoders()
    _stop(hanging)
    threading.Timer(0.2, ticket.cancel).start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        list(outcomes)
    assert time.monotonic() - start < 0.6
    start = time.monotonic()
    assert len(list(pool.run([_task(1)], Ticket()))) == 1  # not after 30 s
    assert time.monotonic() - start < 5


def test_a_consumer_that_stops_early_leaves_nothing_queued(pool: DecodePool) -> None:
    outcomes = pool.run((_task(number) for number in range(1_000)), Ticket())
    next(outcomes)
    outcomes.close()
    start = time.monotonic()
    pool.decode(_task())
    assert time.monotonic() - start < 2


def test_a_search_that_is_cancelled_does_not_wait(pool: DecodePool) -> None:
    ticket = Ticket()
    ticket.cancel()
    with pytest.raises(Cancelled):
        pool.decode(_task(), ticket)


@_posix
def test_closing_is_quick_and_ends_who_waits() -> None:
    pool = DecodePool(DecodeSettings(workers=2))
    outcomes = pool.run((_task(number) for number in range(50)), Ticket())
    next(outcomes)
    processes = _decoders()
    for process in processes:
        _stop(process)
    ended: list[str] = []

    def wait() -> None:
        try:
            for outcome in outcomes:
                if outcome.error is not None:
                    ended.append(outcome.error.reason)
        except Cancelled:
            ended.append("cancelled")

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.2)
    start = time.monotonic()
    pool.close()
    assert time.monotonic() - start < 1
    waiting.join(2)
    assert ended == ["cancelled"]  # and no photo is blamed for it
    assert not any(process.is_running() for process in processes)
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        pool.decode(_task())


def test_a_task_that_cannot_be_sent_is_an_error_like_any_other(pool: DecodePool) -> None:
    class Local(type(Path())):  # type: ignore[misc]  # cannot be pickled
        pass

    with pytest.raises(DecodeKilledError):
        pool.decode(DecodeTask(0, Picture(path=Local("a.jpg")), 64, None))
    assert pool.decode(_task()).pixels.any()
