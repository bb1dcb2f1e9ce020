"""Refocal's gate: ``python3 installer/test.py [--only NAME,...] [-- arguments of pytest]``."""

import os
import sys

# Beside this file lies run.py, which knows how to start a part of the installer.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120

if __name__ == "__main__":
    from installer.run import start

    sys.exit(start("installer.gate"))
