"""Freed memory stays with the program, where the C library can be told to."""

import platform
import sys
from subprocess import run

import pytest

PROGRAM = """
import resource, sys
from engine.network.memory import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(2):
    before = faults()
    for _ in range(4):
        block = bytearray(b"x") * (48 * 1024**2)
        del block
print(faults() - before)
"""


def page_faults(how: str) -> int:
    done = run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="for glibc alone")
def test_large_blocks_are_used_again_instead_of_fetched_anew() -> None:
    assert page_faults("keep") * 10 < page_faults("leave")


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.network.memory import keep_freed_memory

    monkeypatch.setattr(sys, "platform", "win32")
    keep_freed_memory()
