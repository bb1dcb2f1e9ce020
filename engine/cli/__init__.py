"""The command line of Refocal, over `engine.service`. Standard output carries the result alone
(one JSON object with ``--json``); progress and messages go to standard error.

Exit status: 0 done, 1 failed with a one-line reason, 2 wrong usage, 130 stopped by the person.
"""

from engine.cli.main import main

__all__ = ["main"]
