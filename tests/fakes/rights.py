"""Permissions for tests: root, who may do anything, becomes nobody for a while."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_NOBODY = 65534


@contextmanager
def as_ordinary_user(*owned: Path) -> Iterator[None]:
    """Run as somebody whom permissions bind; ``owned`` folders become theirs with all in them.

    The temporary folder that tests get is closed to others, so its parents are opened for
    passing through.
    """
    if sys.platform == "win32":
        pytest.skip("permissions are another matter on Windows")
    if os.geteuid() != 0:
        yield
        return
    for top in owned:
        for parent in top.parents:
            if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)
        for path in (top, *top.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
