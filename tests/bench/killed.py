"""Kills `refocal index` at twenty random moments and asks whether every restart completes.

Run it: ``REFOCAL_PHOTOS=… python -m tests.bench.killed``. Sixty real photos, the real network. The
last line tells how many restarts were whole; the exit status is 1 if one was not.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PHOTOS, KILLS = 60, 20


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "app", *map(str, arguments)]


def complete(library: Path, folder: Path) -> str | None:
    """Index to the end; what is wrong with the outcome, or None."""
    done = subprocess.run(
        command("index", folder, "--library", library, "--json"),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return done.stderr.strip()
    report = json.loads(done.stdout)
    if report["found"] != PHOTOS or report["indexed"] + report["unchanged"] != PHOTOS:
        return done.stdout.strip()
    doctor = subprocess.run(
        command("doctor", "--library", library, "--json"),
        capture_output=True,
        text=True,
        check=False,
    )
    facts = json.loads(doctor.stdout)
    return None if facts["facts"]["ready"] == str(PHOTOS) and not facts["problems"] else str(facts)


def kill_after(seconds: float, library: Path, folder: Path) -> bool:
    """Start indexing, kill it; whether it was still running."""
    running = subprocess.Popen(
        command("index", folder, "--library", library),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(seconds)
    alive = running.poll() is None
    running.send_signal(signal.SIGKILL)
    running.wait()
    return alive


def main() -> int:
    """Print a line for each kill; 0 if every restart was whole."""
    source = Path(os.environ["REFOCAL_PHOTOS"]) / "ukbench"
    chance = random.Random()
    whole = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "photos"
        folder.mkdir()
        for path in sorted(source.glob("*.jpg"))[:PHOTOS]:
            shutil.copy2(path, folder)
        begun = time.monotonic()
        assert complete(Path(scratch) / "whole", folder) is None
        length = (time.monotonic() - begun) * 0.7  # doctor is no part of it
        print(f"{'kill':>4s} {'after s':>8s} {'running':>8s}  outcome")
        for number in range(KILLS):
            library = Path(scratch) / f"library {number}"
            after = chance.uniform(0, length)
            alive = kill_after(after, library, folder)
            wrong = complete(library, folder)
            whole += wrong is None
            print(f"{number:4d} {after:8.2f} {alive!s:>8s}  {wrong or 'whole'}", flush=True)
            shutil.rmtree(library)
    print(f"whole restarts: {whole} of {KILLS}, target {KILLS}")
    return 0 if whole == KILLS else 1


if __name__ == "__main__":
    sys.exit(main())
