"""Runs `refocal` as a person does: its own process, its own exit status, its own output."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 280

_PROGRESS = re.compile(r"(waiting|scanning|indexing|reading|looking|loading|searching|opening)\b")
"""Lines that tell how far a slow command is; on a busy machine they come between."""


@dataclass(frozen=True)
class Outcome:
    status: int
    output: str
    messages: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - a JSON document
        return json.loads(self.output)

    @property
    def reason(self) -> str:
        """The one line that says why it failed."""
        said = [line for line in self.messages.splitlines() if not _PROGRESS.match(line)]
        assert len(said) == 1, self.messages
        return said[0]


def refocal(*arguments: str | Path) -> Outcome:
    """``refocal ARGUMENTS``."""
    done = subprocess.run(
        [sys.executable, "-m", "app", *map(str, arguments)],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=LIMIT_S,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
