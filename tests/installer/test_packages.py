"""pip's lines become progress, and what is half there is found."""

import io
from pathlib import Path

from installer.locks import Lock
from installer.packages import Pip, remove_halves
from installer.places import Venv
from installer.progress import Screen
from tests.installer.scripted import ScriptedRunner

_PIP_SAYS = [
    "Looking in indexes: https://pypi.org/simple",
    "Ignoring colorama: markers 'sys_platform == \"win32\"' don't match your environment",
    "Requirement already satisfied: idna==3.20 in ./site (from -r lock.txt (line 3)) (3.20)",
    "Collecting torch==2.14.1 (from -r lock.txt (line 4))",
    "  Downloading torch-2.14.1-cp311-cp311-manylinux_2_28_x86_64.whl (800.0 MB)",
    "Progress 0 of 800000000",
    "Progress 5000000 of 800000000",
    "Progress 400000000 of 800000000",
    "Progress 800000000 of 800000000",
    "Processing /wheels/pi_heif-1.4.0-cp311-cp311-manylinux_2_28_x86_64.whl (from -r lock.txt)",
    "Installing collected packages: torch, pi_heif",
    "Successfully installed pi_heif-1.4.0 torch-2.14.1",
]


def _pip(tmp_path: Path, run: ScriptedRunner) -> tuple[Pip, io.StringIO]:
    seen = io.StringIO()
    return Pip(Venv(tmp_path), run, Screen(seen)), seen


def test_progress_counts_packages_and_megabytes(tmp_path: Path) -> None:
    run = ScriptedRunner()
    run.answer("pip install", _PIP_SAYS)
    pip, seen = _pip(tmp_path, run)
    pip.install(Lock.CPU)
    total = len(Lock.CPU.pins()) - 1  # the ignored one
    assert seen.getvalue().splitlines() == [
        f"  [2/{total}] torch",
        f"  [2/{total}] torch: 400 of 800 MB (50 %)",
        f"  [2/{total}] torch: 800 of 800 MB (100 %)",
        f"  [3/{total}] pi-heif",
        "  unpacking",
        "  unpacked: 2 packages",
    ]


def test_refocal_itself_is_installed_without_a_network(tmp_path: Path) -> None:
    run = ScriptedRunner()
    pip, _seen = _pip(tmp_path, run)
    pip.install_refocal(tmp_path)
    (command,) = run.commands
    assert {"--no-index", "--no-deps", "--no-build-isolation"} < set(command.split())


def test_an_index_counts_only_with_the_very_version(tmp_path: Path) -> None:
    run = ScriptedRunner()
    pip, _seen = _pip(tmp_path, run)
    for versions, offered in (("2.14.1+cpu, 2.13.0+cpu", True), ("2.14.1, 2.13.0+cpu", False)):
        run.answer("index versions", ["torch (2.14.1)", f"Available versions: {versions}"])
        assert pip.offers("torch==2.14.1+cpu", index="http://localhost") is offered


# --- what is half there -------------------------------------------------------------------


def _package(site: Path, name: str, *, record: bool = True) -> Path:
    code = site / name / "code.py"
    code.parent.mkdir(parents=True)
    code.write_text("answer = 42\n")
    facts = site / f"{name}-1.0.dist-info"
    facts.mkdir()
    if record:
        lines = [f"{name}/code.py,sha256=x,12", f"{name}/__pycache__/code.pyc,,"]
        (facts / "RECORD").write_text("\n".join([*lines, f"{facts.name}/RECORD,,"]))
    return code


def test_whole_packages_stay(tmp_path: Path) -> None:
    _package(tmp_path, "whole")
    assert remove_halves(tmp_path) == []
    assert (tmp_path / "whole-1.0.dist-info").exists()


def test_cut_off_packages_are_forgotten(tmp_path: Path) -> None:
    _package(tmp_path, "whole")
    _package(tmp_path, "listless", record=False)
    _package(tmp_path, "short").write_text("answ")
    _package(tmp_path, "gone").unlink()
    assert remove_halves(tmp_path) == ["gone", "listless", "short"]
    assert [path.name for path in tmp_path.glob("*.dist-info")] == ["whole-1.0.dist-info"]


def test_what_pip_had_put_aside_goes(tmp_path: Path) -> None:
    (tmp_path / "~orch").mkdir()
    remove_halves(tmp_path)
    assert not (tmp_path / "~orch").exists()
