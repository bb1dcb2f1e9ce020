"""Whose turn it is: one forward pass at a time, and a person's search before a batch."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ForwardGate:
    """Lets one thread at a time into the network.

    Two passes side by side would only fight for the same cores and double the memory. A search
    that waits gets the next turn, before any batch work however long that has been waiting, so a
    person waits for one mini-batch at most. Not re-entrant.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._interactive_waiting = 0

    @contextmanager
    def turn(self, *, interactive: bool) -> Iterator[None]:
        """Wait for a turn, and hold it for the block."""
        self._enter(interactive=interactive)
        try:
            yield
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _enter(self, *, interactive: bool) -> None:
        with self._changed:
            if interactive:
                self._interactive_waiting += 1
                try:
                    self._changed.wait_for(lambda: not self._busy)
                finally:
                    self._interactive_waiting -= 1
            else:
                self._changed.wait_for(lambda: not self._busy and not self._interactive_waiting)
            self._busy = True
