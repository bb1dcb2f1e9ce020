"""Loading what the network needs lets other threads run, and leaves the collector as it was."""

import gc
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from engine.errors import NetworkError
from engine.jobs import Cancelled, Ticket
from engine.network import loading
from engine.network.loading import preload

# A main thread that only sleeps sees for how long it did not get its turn.
WATCHED = """
import gc, json, sys, threading, time
from engine.network.loading import preload

before = sorted({"torch", "timm", "scipy"} & set(sys.modules))
errors = []

def load():
    try:
        preload()
        import torch
        torch.zeros(8, 8) @ torch.zeros(8, 8)
    except BaseException as error:
        errors.append(repr(error))

workers = [threading.Thread(target=load) for _ in range(2)]
for worker in workers:
    worker.start()
waits, last = [], time.perf_counter()
while any(worker.is_alive() for worker in workers):
    time.sleep(0.005)
    now = time.perf_counter()
    waits.append(1000 * (now - last))
    last = now
print(json.dumps({
    "before": before,
    "after": sorted({"torch", "torchvision", "timm", "scipy.optimize"} & set(sys.modules)),
    "errors": errors,
    "waits_ms": sorted(waits, reverse=True)[:5],
    "enabled": gc.isenabled(),
    "frozen": gc.get_freeze_count(),
}))
"""
LIMIT_MS = 100
TRIES = 3


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if nothing had been loaded, and with little to load."""
    monkeypatch.setattr(loading, "_loaded", False)
    monkeypatch.setattr(loading, "_LIBRARIES", ())
    monkeypatch.setattr(loading, "_MODULES", ("json", "string"))
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.heavy
def test_while_torch_is_loaded_other_threads_run() -> None:
    """A plain import holds them up for 250 to 400 ms, every time. A machine that others share may
    do so now and then, so one quiet run of three is asked for."""
    longest = []
    for _ in range(TRIES):
        done = subprocess.run(
            [sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True
        )
        found: dict[str, Any] = json.loads(done.stdout)
        assert found["errors"] == []
        assert found["before"] == []
        assert found["after"] == ["scipy.optimize", "timm", "torch", "torchvision"]
        assert found["enabled"]
        assert found["frozen"] > 100_000
        longest.append(found["waits_ms"][0])
        if longest[-1] < LIMIT_MS:
            return
    pytest.fail(f"other threads waited {longest} ms")


def test_the_collector_rests_meanwhile_and_is_back_afterwards(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    monkeypatch.setattr(loading, "_import", lambda _: seen.append(gc.isenabled()))
    preload()
    assert seen == [False, False]
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_a_collector_that_was_off_stays_off(fresh: None) -> None:
    gc.disable()
    preload()
    assert not gc.isenabled()


def test_progress_is_told_and_the_second_time_costs_nothing(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = Ticket()
    preload(ticket)
    assert (ticket.progress.stage, ticket.progress.done, ticket.progress.total) == ("loading", 3, 3)
    monkeypatch.setattr(loading, "_import", pytest.fail)
    again = Ticket()
    preload(again)
    assert again.progress.stage == "waiting"


def test_a_cancelled_loading_goes_on_at_the_next_call(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    ticket = Ticket()

    def load(name: str) -> None:
        loaded.append(name)
        ticket.cancel()

    monkeypatch.setattr(loading, "_import", load)
    with pytest.raises(Cancelled):
        preload(ticket)
    assert loaded == ["json"]
    assert gc.isenabled()
    preload()
    assert loaded == ["json", "json", "string"]


def test_who_comes_second_waits_for_the_first(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, entered, loaded = threading.Event(), threading.Event(), list[str]()

    def load(name: str) -> None:
        entered.set()
        assert gate.wait(10)
        loaded.append(name)

    monkeypatch.setattr(loading, "_import", load)
    threads = [threading.Thread(target=preload) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert entered.wait(10)
    gate.set()
    for thread in threads:
        thread.join()
    assert loaded == ["json", "string"]


def test_what_is_missing_is_named(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_MODULES", ("json", "no_such_library"))
    with pytest.raises(NetworkError, match="no_such_library cannot be loaded"):
        preload()
    assert gc.isenabled()


def test_libraries_that_a_build_lacks_are_passed_over(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = (("no_such_package", "lib/*.so"), ("json", "lib/no_such_library.*"))
    monkeypatch.setattr(loading, "_LIBRARIES", lacking)
    preload()
