"""Jobs: what they tell, on which thread, how often, and that each ends exactly once."""

import gc
import logging
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial

import pytest
from pytestqt.qtbot import QtBot

from app.bridge import host as host_module
from app.bridge.errors import Words
from app.bridge.host import EngineHost
from app.bridge.lanes import WORKERS, Lane
from engine.errors import PhotoMissingError
from engine.jobs import Ticket
from tests.app.bridge.conftest import ended, listen


def until_cancelled(ticket: Ticket) -> None:
    """A call that runs until somebody wants its end."""
    while True:
        ticket.update("running", 1, 2)
        time.sleep(0.002)


def held(gate: threading.Event) -> Callable[[Ticket], str]:
    """A call that notices nothing until the gate opens."""

    def call(ticket: Ticket) -> str:
        assert gate.wait(10)
        return "through"

    return call


def test_a_call_runs_on_a_worker_and_is_answered_on_the_windows_thread(
    host: EngineHost, qtbot: QtBot
) -> None:
    job = host.submit(lambda _: threading.current_thread().name, lane=Lane.BATCH)
    told = listen(job)
    ended(qtbot, told)
    assert told.value == "refocal-batch-0"
    assert told.threads == {True}
    assert job.ended
    assert host.jobs == ()


def test_an_ending_does_not_wait_for_the_next_poll(host: EngineHost, qtbot: QtBot) -> None:
    began = time.perf_counter()
    for _ in range(20):
        told = listen(host.submit(lambda _: None, lane=Lane.INTERACTIVE))
        ended(qtbot, told, rest_ms=0)
    assert (time.perf_counter() - began) / 20 < host_module.POLL_MS / 1000


def noted(order: list[str], name: str, _: Ticket) -> None:
    """A call that writes down when its turn came."""
    order.append(name)


def test_nothing_is_told_from_inside_submit_or_cancel(host: EngineHost, qtbot: QtBot) -> None:
    gate = threading.Event()
    running = host.submit(held(gate), lane=Lane.BATCH)
    waiting = host.submit(lambda _: None, lane=Lane.BATCH)
    told, of_waiting = listen(running), listen(waiting)
    waiting.cancel()
    running.cancel()
    assert of_waiting.endings == told.endings == []
    gate.set()
    ended(qtbot, told, of_waiting)
    assert told.ending == of_waiting.ending == "cancelled"


def test_a_million_updates_cost_ten_signals_a_second(host: EngineHost, qtbot: QtBot) -> None:
    count = 1_000_000
    began = time.perf_counter()

    def call(ticket: Ticket) -> None:
        for done in range(count):
            ticket.update("counting", done, count)

    told = listen(host.submit(call, lane=Lane.BATCH))
    qtbot.waitUntil(lambda: bool(told.endings), timeout=120_000)
    seconds = time.perf_counter() - began
    assert told.ending == "succeeded"
    assert 1 <= len(told.progress) <= 10 * seconds + 2
    assert [one.done for one in told.progress] == sorted({one.done for one in told.progress})


def test_progress_that_did_not_change_is_not_told_again(host: EngineHost, qtbot: QtBot) -> None:
    gate = threading.Event()

    def call(ticket: Ticket) -> None:
        ticket.update("once", 1, 3)
        assert gate.wait(10)

    job = host.submit(call, lane=Lane.BATCH)
    told = listen(job)
    qtbot.waitUntil(lambda: bool(told.progress), timeout=5_000)
    qtbot.wait(3 * host_module.POLL_MS)
    assert [(one.stage, one.done, one.total) for one in told.progress] == [("once", 1, 3)]
    assert job.progress.done == 1
    gate.set()
    ended(qtbot, told)


def test_a_running_job_is_cancelled_at_its_next_update(host: EngineHost, qtbot: QtBot) -> None:
    job = host.submit(until_cancelled, lane=Lane.BATCH)
    told = listen(job)
    qtbot.waitUntil(lambda: bool(told.progress), timeout=5_000)
    job.cancel()
    ended(qtbot, told)
    assert told.ending == "cancelled"


def test_a_waiting_job_is_withdrawn_at_once_and_never_runs(host: EngineHost, qtbot: QtBot) -> None:
    gate, ran = threading.Event(), threading.Event()
    blocking = listen(host.submit(held(gate), lane=Lane.BATCH))
    job = host.submit(lambda _: ran.set(), lane=Lane.BATCH)
    told = listen(job)
    job.cancel()
    ended(qtbot, told)
    assert told.ending == "cancelled"
    assert not blocking.endings
    gate.set()
    ended(qtbot, blocking)
    assert not ran.is_set()


def test_after_cancel_the_ending_is_cancelled_whatever_the_call_came_to(
    host: EngineHost, qtbot: QtBot
) -> None:
    def fail(_: Ticket) -> None:
        assert gate.wait(10)
        raise PhotoMissingError("gone")

    gate = threading.Event()
    jobs = [host.submit(call, lane=Lane.IO) for call in (held(gate), fail)]
    told = [listen(job) for job in jobs]
    for job in jobs:
        job.cancel()
        job.cancel()
    gate.set()
    ended(qtbot, *told)
    assert [one.ending for one in told] == ["cancelled", "cancelled"]


def test_cancelling_at_any_moment_gives_exactly_one_ending(host: EngineHost, qtbot: QtBot) -> None:
    all_told = []
    for n in range(300):
        job = host.submit(lambda ticket: ticket.update("x", 1, 1), lane=Lane.IO)
        all_told.append(listen(job))
        if n % 3:
            time.sleep(n % 7 * 0.0002)
            job.cancel()
    ended(qtbot, *all_told)
    assert [len(told.endings) for told in all_told] == [1] * 300
    assert {told.ending for told in all_told} == {"succeeded", "cancelled"}


def test_a_newer_job_of_a_group_cancels_the_older_ones(host: EngineHost, qtbot: QtBot) -> None:
    other = host.submit(until_cancelled, lane=Lane.IO, group="other")
    jobs = [host.submit(until_cancelled, lane=Lane.IO, group="one") for _ in range(3)]
    newest = host.submit(lambda _: "found", lane=Lane.INTERACTIVE, group="one")
    told = [listen(job) for job in (*jobs, newest)]
    ended(qtbot, *told)
    assert [one.ending for one in told] == ["cancelled"] * 3 + ["succeeded"]
    assert not other.ended
    other.cancel()


def test_an_error_of_the_engine_comes_in_words(host: EngineHost, qtbot: QtBot) -> None:
    def fail(_: Ticket) -> None:
        raise PhotoMissingError("the file a.jpg is not there")

    told = listen(host.submit(fail, lane=Lane.IO))
    ended(qtbot, told)
    assert told.words.cause == "the file a.jpg is not there"
    assert told.words.message
    assert told.words.what_to_do


class _Sudden(BaseException):
    """As bad as SystemExit."""


@pytest.mark.parametrize("error", [ZeroDivisionError("by nought"), _Sudden("by nought")])
def test_report_41_a_mistake_on_a_worker_is_caught_logged_and_told(
    host: EngineHost, qtbot: QtBot, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    """labelme 2202: an exception out of inference took the program down."""

    def fail(_: Ticket) -> None:
        raise error

    with caplog.at_level(logging.ERROR):
        told = listen(host.submit(fail, lane=Lane.INTERACTIVE))
        ended(qtbot, told)
    assert told.words.cause == f"{type(error).__name__}: by nought"
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is error  # with its traceback
    # The worker lives on.
    again = listen(host.submit(lambda _: "well", lane=Lane.INTERACTIVE))
    ended(qtbot, again)
    assert again.value == "well"


def test_report_41_no_call_runs_on_the_windows_thread(host: EngineHost, qtbot: QtBot) -> None:
    here = threading.get_ident()
    told = [
        listen(host.submit(lambda _: threading.get_ident(), lane=lane))
        for lane in Lane
        for _ in range(5)
    ]
    ended(qtbot, *told)
    assert here not in {one.value for one in told}


def test_a_batch_job_keeps_nobody_else_waiting(host: EngineHost, qtbot: QtBot) -> None:
    gate = threading.Event()
    batch = listen(host.submit(held(gate), lane=Lane.BATCH))
    others = [listen(host.submit(lambda _: 1, lane=lane)) for lane in (Lane.INTERACTIVE, Lane.IO)]
    ended(qtbot, *others)
    assert not batch.endings
    gate.set()
    ended(qtbot, batch)


@pytest.mark.parametrize("lane", Lane)
def test_a_lane_has_as_many_workers_as_it_says(host: EngineHost, qtbot: QtBot, lane: Lane) -> None:
    inside, most, lock = 0, 0, threading.Lock()

    def call(_: Ticket) -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.03)
        with lock:
            inside -= 1

    told = [listen(host.submit(call, lane=lane)) for _ in range(8)]
    ended(qtbot, *told)
    assert most == WORKERS[lane]


def test_urgent_calls_overtake_the_waiting_ones(host: EngineHost, qtbot: QtBot) -> None:
    gate, order = threading.Event(), list[str]()
    told = [listen(host.submit(held(gate), lane=Lane.INTERACTIVE))]
    for name in ("a", "b"):
        told.append(listen(host.submit(partial(noted, order, name), lane=Lane.INTERACTIVE)))
    urgent = partial(noted, order, "urgent")
    told.append(listen(host.submit(urgent, lane=Lane.INTERACTIVE, urgent=True)))
    gate.set()
    ended(qtbot, *told)
    assert order == ["urgent", "a", "b"]


class Answer:
    """Something that can be seen to go."""


def test_a_job_that_ended_is_let_go(host: EngineHost, qtbot: QtBot) -> None:
    kept: list[weakref.ref[Answer]] = []

    def call(_: Ticket) -> Answer:
        answer = Answer()
        kept.append(weakref.ref(answer))
        return answer

    ended(qtbot, listen(host.submit(call, lane=Lane.BATCH)))
    gc.collect()
    assert kept[0]() is None


def test_a_notice_from_any_thread_is_told_by_the_host(host: EngineHost, qtbot: QtBot) -> None:
    notice = Words("The library is open for reading.", "", "")
    with qtbot.waitSignal(host.noticed, timeout=5_000) as got:
        host.submit(lambda _: host.notify(notice), lane=Lane.IO)
    assert got.args == [notice]


def test_the_poll_rests_while_there_is_nothing_to_tell(host: EngineHost, qtbot: QtBot) -> None:
    seen = [host.polling]
    job = host.submit(until_cancelled, lane=Lane.BATCH)
    seen.append(host.polling)
    told = listen(job)
    job.cancel()
    ended(qtbot, told)
    assert [*seen, host.polling] == [False, True, False]


# --- the end --------------------------------------------------------------------------------


def refocal_threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("refocal-")]


def test_close_ends_all_jobs_and_all_threads(qtbot: QtBot) -> None:
    host = EngineHost()
    told = [listen(host.submit(until_cancelled, lane=lane)) for lane in Lane for _ in range(4)]
    qtbot.wait(50)
    assert host.close()
    assert [one.ending for one in told] == ["cancelled"] * len(told)
    assert refocal_threads() == []


def test_close_waits_for_a_long_call_to_notice(qtbot: QtBot) -> None:
    host = EngineHost()
    told = listen(host.submit(lambda _: time.sleep(0.5), lane=Lane.BATCH))
    qtbot.wait(50)
    assert host.close()
    assert told.ending == "cancelled"
    assert refocal_threads() == []


def test_close_gives_up_on_a_call_that_hangs_and_says_so(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CLOSE_LIMIT_S", 0.2)
    gate = threading.Event()
    host = EngineHost()
    told = listen(host.submit(held(gate), lane=Lane.BATCH))
    qtbot.wait(50)
    began = time.perf_counter()
    assert not host.close()
    assert time.perf_counter() - began < 2
    assert told.ending == "cancelled"
    gate.set()  # the late answer is told to nobody
    qtbot.waitUntil(lambda: refocal_threads() == [], timeout=5_000)
    qtbot.wait(20)
    assert len(told.endings) == 1
    assert host.close()


def test_what_close_does_last_may_free_the_call_that_hung(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CLOSE_LIMIT_S", 0.2)
    gate = threading.Event()
    host = EngineHost()
    host.submit(held(gate), lane=Lane.BATCH)
    qtbot.wait(50)
    assert host.close(last=gate.set)
    assert refocal_threads() == []


def test_what_is_done_last_may_fail(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise OSError("the disk is gone")

    assert EngineHost().close(last=fail)
    assert "the disk is gone" in caplog.text


def test_a_job_after_the_end_is_cancelled(qtbot: QtBot) -> None:
    host = EngineHost()
    assert host.close()
    told = listen(host.submit(lambda _: 1, lane=Lane.IO))
    ended(qtbot, told)
    assert told.ending == "cancelled"
    assert host.jobs == ()
