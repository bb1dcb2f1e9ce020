"""A host of its own for each test, and what its jobs told."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from PySide6.QtCore import QThread
from pytestqt.qtbot import QtBot

from app.bridge.errors import Words
from app.bridge.host import EngineHost, Job
from engine.jobs import Progress


@pytest.fixture
def host(qtbot: QtBot) -> Iterator[EngineHost]:
    """Closed after the test, whatever the test left running."""
    made = EngineHost()
    yield made
    assert made.close()


@dataclass
class Told:
    """Everything that a job told, and the threads it told it on."""

    progress: list[Progress] = field(default_factory=list)
    endings: list[tuple[str, object]] = field(default_factory=list)
    threads: set[bool] = field(default_factory=set)

    @property
    def ending(self) -> str:
        """The name of the one ending."""
        ((name, _),) = self.endings
        return name

    @property
    def value(self) -> object:
        """What ``succeeded`` carried."""
        ((name, value),) = self.endings
        assert name == "succeeded", self.endings
        return value

    @property
    def words(self) -> Words:
        """What ``failed`` carried."""
        ((name, value),) = self.endings
        assert name == "failed", self.endings
        assert isinstance(value, Words)
        return value


def listen(job: Job) -> Told:
    """Write down what the job tells from now on."""
    told = Told()

    def end(name: str) -> Callable[..., None]:
        def write(value: object = None) -> None:
            told.endings.append((name, value))
            told.threads.add(QThread.isMainThread())

        return write

    job.progressed.connect(told.progress.append)
    job.succeeded.connect(end("succeeded"))
    job.failed.connect(end("failed"))
    job.cancelled.connect(end("cancelled"))
    return told


def ended(qtbot: QtBot, *told: Told, rest_ms: int = 20) -> None:
    """Wait until each has an ending, and a little longer for one too many."""
    qtbot.waitUntil(lambda: all(one.endings for one in told), timeout=10_000)
    qtbot.wait(rest_ms)
