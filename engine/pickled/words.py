"""What the machine that reads pickles and the makers of its values say to each other."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Maker: TypeAlias = Callable[..., object]
"""Stands for what a pickle wants to call. Its arguments are whatever the file says: it checks
them and raises `PickleRefusedError`; a TypeError for a wrong number of them is taken as one."""


class PickleRefusedError(ValueError):
    """The file is damaged, or asks for what is not admitted; the message is one line."""


@dataclass(frozen=True, slots=True)
class Named:
    """A module-level name that a pickle mentions; nothing was imported for it."""

    name: str


class Unfinished(ABC):
    """What a maker returns that waits for its state. ``value``: what it stands for."""

    def __init__(self) -> None:
        self.value: object = self

    @abstractmethod
    def finish(self, state: object) -> object:
        """The value that the state completes.

        Raises:
            PickleRefusedError: the state is none that it admits.
        """
