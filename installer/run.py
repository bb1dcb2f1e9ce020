"""Set Refocal up and start it: ``python3 installer/run.py [arguments of refocal]``.

This file is read by whatever ``python3`` is, so it keeps to what old ones understand.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
OLDEST = (3, 11)
NEWEST = (3, 14)


def fitting_python() -> "str | None":
    """Another Python on the path that Refocal can use."""
    import subprocess
    from shutil import which

    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        found = which("python3.{}".format(minor))  # noqa: UP032
        # A version manager's stand-in may be there without the Python.
        if found and subprocess.call([found, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            return found
    return None


def start(entry: str) -> int:
    """Run ``main`` of a module of the installer, with a Python that Refocal can use."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        other = fitting_python()
        if other:
            os.execv(other, [other] + sys.argv)  # noqa: RUF005
        sys.stderr.write(
            "Refocal needs Python 3.11 to 3.14; this is {}.{}. Install one from your system or"
            " from https://www.python.org/downloads/, then start this with it.\n".format(
                *sys.version_info[:2]
            )
        )
        return 1
    if ROOT not in sys.path:
        sys.path.insert(0, ROOT)
    from importlib import import_module

    status = import_module(entry).main(sys.argv[1:])
    return int(status)


if __name__ == "__main__":
    sys.exit(start("installer.launch"))
