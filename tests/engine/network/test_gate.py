"""One at a time, and a search before a batch."""

import threading
import time

import pytest

from engine.network.gate import ForwardGate


def wait_for_waiters(threads: list[threading.Thread]) -> None:
    # A waiting thread shows itself by nothing but staying alive.
    time.sleep(0.05)
    assert all(thread.is_alive() for thread in threads)


def test_a_search_that_comes_later_goes_before_a_batch_that_waits() -> None:
    gate = ForwardGate()
    order: list[str] = []

    def enter(name: str, *, interactive: bool) -> None:
        with gate.turn(interactive=interactive):
            order.append(name)

    threads = [
        threading.Thread(target=enter, args=(f"batch {i}",), kwargs={"interactive": False})
        for i in range(3)
    ]
    threads.append(threading.Thread(target=enter, args=("search",), kwargs={"interactive": True}))
    with gate.turn(interactive=False):
        for thread in threads:
            thread.start()
        wait_for_waiters(threads)
    for thread in threads:
        thread.join(timeout=5)
    assert order[0] == "search"
    assert len(order) == 4


def test_one_thread_at_a_time() -> None:
    gate = ForwardGate()
    inside = 0
    most = 0

    def work(*, interactive: bool) -> None:
        nonlocal inside, most
        for _ in range(50):
            with gate.turn(interactive=interactive):
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=work, kwargs={"interactive": i % 2 == 0}) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert not any(thread.is_alive() for thread in threads)
    assert most == 1


def test_an_error_inside_gives_the_turn_back() -> None:
    gate = ForwardGate()
    with pytest.raises(RuntimeError), gate.turn(interactive=True):
        raise RuntimeError
    with gate.turn(interactive=False):
        pass
