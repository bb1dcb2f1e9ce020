"""What a person sees of the set-up, on standard error: standard output belongs to Refocal."""

import shutil
import sys
from typing import TextIO


class Screen:
    """On a terminal one line that is drawn over and over; elsewhere a line for each step."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._drawn = 0

    @property
    def terminal(self) -> bool:
        """Whether lines can be drawn over."""
        return self._terminal

    def say(self, text: str) -> None:
        """A line that stays."""
        self._clear()
        self._stream.write(text + "\n")
        self._stream.flush()

    def draw(self, text: str) -> None:
        """A line that the next one replaces; on anything but a terminal it stays."""
        if not self._terminal:
            self.say(text)
            return
        width = shutil.get_terminal_size().columns - 1
        self._clear()
        self._stream.write(text[:width])
        self._stream.flush()
        self._drawn = min(len(text), width)

    def _clear(self) -> None:
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._drawn = 0
