"""Make the locked requirements anew from pyproject.toml: ``python installer/lock.py [--upgrade]``.

For people who work on Refocal. Needs uv (https://docs.astral.sh/uv) on the path. Every file is
universal: one for Linux, macOS and Windows and for all Pythons that Refocal runs on.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_HEADER = "# Made by installer/lock.py from pyproject.toml. Do not edit.\n"
_UNWANTED = re.compile(r"^#|sys_platform == 'emscripten'")
_CUDA_ONLY = re.compile(r"^(nvidia-|cuda-|triton==)")


def main(arguments: Sequence[str]) -> int:
    """Write installer/requirements-*.txt."""
    parser = argparse.ArgumentParser(description="Make the locked requirements anew.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions allowed")
    upgrade = parser.parse_args(arguments).upgrade
    if shutil.which("uv") is None:
        print("installer/lock.py needs uv: https://docs.astral.sh/uv", file=sys.stderr)
        return 1
    everything = _compile("cuda", ["pyproject.toml", "--group", "setup"], upgrade=upgrade)
    with_ann = _compile(
        "ann", ["pyproject.toml", "--extra", "ann"], within=everything, upgrade=upgrade
    )
    setup = _compile("setup", ["--group", "setup"], within=everything, upgrade=upgrade)
    dev = _compile("dev", ["--group", "dev"], within=everything, upgrade=upgrade)
    tools = {_name(line) for line in setup} - {"setuptools"}
    runtime = [line for line in everything if _name(line) not in tools]
    _write("setup", setup)
    _write("cuda", runtime)
    _write("cpu", [line for line in runtime if not _CUDA_ONLY.match(line)])
    _write("ann", [line for line in with_ann if _name(line) == "hnswlib"])
    _write("dev", dev)
    return 0


def _compile(
    lock: str, source: Sequence[str], *, within: Sequence[str] = (), upgrade: bool
) -> list[str]:
    """The pins for ``source``, one a line; those in ``within`` are bounds, and so are the old ones
    unless ``upgrade``."""
    with tempfile.TemporaryDirectory() as folder:
        bounds, result = Path(folder, "bounds.txt"), Path(folder, "result.txt")
        bounds.write_text("\n".join(within), encoding="utf-8")
        if not upgrade:
            olds = [_path(old) for old in (lock, "setup")]
            old_pins = [old.read_text(encoding="utf-8") for old in olds if old.exists()]
            result.write_text("".join(old_pins), encoding="utf-8")
        command = [
            *("uv", "pip", "compile", "--quiet", "--no-config", "--no-header"),
            *("--default-index", "https://pypi.org/simple"),
            *("--universal", "--python-version", "3.11", "--fork-strategy", "fewest"),
            *("--annotation-style", "line", "--constraint", str(bounds)),
            *("--output-file", str(result), *source),
        ]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        text = result.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not _UNWANTED.search(line)]


def _name(line: str) -> str:
    return line.partition("==")[0].strip()


def _path(lock: str) -> Path:
    return ROOT / "installer" / f"requirements-{lock}.txt"


def _write(lock: str, lines: Sequence[str]) -> None:
    # uv names the file of bounds among the reasons; a temporary path says nothing to a reader.
    kept = [re.sub(r"-c \S+, |, -c \S+", "", line) for line in lines]
    _path(lock).write_text(_HEADER + "\n".join(kept) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
