"""The set-up, step by step, with a runner that runs nothing."""

import io
import shutil
import sys
from pathlib import Path

import pytest

from installer import environment, torch_build
from installer.environment import Environment, Wish
from installer.locks import Lock
from installer.places import Venv, python_tag
from installer.process import SetupError
from installer.progress import Screen
from installer.torch_build import Build
from tests.installer.scripted import ScriptedRunner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the scripts tell of Linux")


class Stage:
    """A virtual environment that only seems to be set up."""

    def __init__(self, root: Path) -> None:
        self.venv = Venv(root / ".venv")
        self.run = ScriptedRunner()
        self.seen = io.StringIO()
        self.run.answer("-m venv", self._made)
        self.run.answer("get_platform", [python_tag()])
        self.run.answer("--editable", self._editable)
        self.run.fail("index versions", "no answer")

    def set_up(self, **wish: object) -> list[str]:
        """The commands of one start."""
        before = len(self.run.commands)
        wished = Wish(**wish)  # type: ignore[arg-type]
        found = Environment(self.venv, screen=Screen(self.seen), run=self.run)
        if not found.ready(wished):
            found.bring_up(wished)
        assert Environment(self.venv, run=self.run).ready(Wish())
        return self.run.commands[before:]

    def has_torch(self, cuda: str | None) -> None:
        torch = self.venv.site / "torch"
        torch.mkdir(parents=True, exist_ok=True)
        tag, value = ("+cu130", f"'{cuda}'") if cuda else ("+cpu", "None")
        text = f"__version__ = '2.14.1{tag}'\ncuda: Optional[str] = {value}\nhip = None\n"
        (torch / "version.py").write_text(text)

    def _made(self) -> list[str]:
        self.venv.scripts.mkdir(parents=True, exist_ok=True)
        self.venv.python.unlink(missing_ok=True)
        self.venv.python.symlink_to(sys.executable)
        self.venv.site.mkdir(parents=True, exist_ok=True)
        return []

    def _editable(self) -> list[str]:
        self.venv.program("refocal").touch()
        return []


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(torch_build, "nvidia_driver", lambda: False)
    return Stage(tmp_path)


def test_a_fresh_set_up_takes_the_steps_in_order(stage: Stage) -> None:
    commands = stage.set_up(dev=True)
    marks = ["-m venv", "requirements-setup", "index versions", "requirements-cuda", "--editable"]
    marks += ["requirements-dev", "hnswlib=="]
    places = [next(i for i, text in enumerate(commands) if mark in text) for mark in marks]
    assert places == sorted(places)


def test_nothing_changed_means_no_command_at_all(stage: Stage) -> None:
    stage.set_up()
    assert stage.set_up() == []


def test_only_what_changed_is_done_again(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = tmp_path / "locks"
    shutil.copytree(Lock.CPU.path.parent, locks, ignore=shutil.ignore_patterns("sample"))
    monkeypatch.setattr("installer.locks.LOCKS", locks)
    stage.set_up(dev=True)
    with Lock.DEV.path.open("a") as lock:
        lock.write("# touched\n")
    (command,) = stage.set_up(dev=True)
    assert "requirements-dev.txt" in command


def test_a_lost_command_comes_back(stage: Stage) -> None:
    stage.set_up()
    stage.venv.program("refocal").unlink()
    (command,) = stage.set_up()
    assert "--editable" in command


def test_a_set_up_that_was_cut_off_is_checked_file_by_file(stage: Stage) -> None:
    stage.run.fail("requirements-cuda", "killed")
    with pytest.raises(SetupError, match="Start this again"):
        stage.set_up()
    half = stage.venv.site / "scipy-1.0.dist-info"
    half.mkdir()
    stage.run.answer("requirements-cuda", [])
    commands = stage.set_up()
    assert not half.exists()
    assert [text for text in commands if "requirements-setup" in text]
    assert "scipy" in stage.seen.getvalue()


def test_a_venv_of_another_python_is_made_anew(stage: Stage) -> None:
    stage.set_up()
    stage.venv.python.unlink()
    stage.venv.python.symlink_to(shutil.which("true") or "/bin/true")
    stale = stage.venv.site / "stale.py"
    stale.touch()
    stage.run.answer("get_platform", ["cpython-39-linux-x86_64"])
    commands = stage.set_up()
    assert [text for text in commands if "-m venv" in text]
    assert not stale.exists()


def test_a_moved_folder_gets_new_commands(stage: Stage, tmp_path: Path) -> None:
    stage.set_up()
    moved = tmp_path / "elsewhere" / ".venv"
    moved.parent.mkdir()
    stage.venv.root.rename(moved)
    stage.venv = Venv(moved)
    assert [text for text in stage.set_up() if "--editable" in text]


# --- torch --------------------------------------------------------------------------------


def test_the_light_torch_comes_from_the_index_that_has_it(stage: Stage) -> None:
    stage.run.answer("index versions", ["Available versions: 2.14.1+cpu, 2.13.0+cpu"])
    commands = stage.set_up(indexes="http://mirror/whl/")
    (torch,) = [text for text in commands if "torch==2.14.1+cpu" in text]
    assert "--index-url http://mirror/whl/cpu" in torch
    assert "torchvision==0.29.1+cpu" in torch
    assert [text for text in commands if "requirements-cpu" in text]
    assert not [text for text in commands if "requirements-cuda" in text]


def test_an_index_that_does_not_answer_costs_no_set_up(stage: Stage) -> None:
    commands = stage.set_up()
    assert [text for text in commands if "requirements-cuda" in text]
    assert "taking PyPI's torch" in stage.seen.getvalue()


def test_an_index_that_breaks_off_costs_no_set_up(stage: Stage) -> None:
    stage.run.answer("index versions", ["Available versions: 2.14.1+cpu"])
    stage.run.fail("torch==2.14.1+cpu", "Connection broken")
    assert [text for text in stage.set_up() if "requirements-cuda" in text]


def test_a_driver_decides_for_cuda(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_build, "nvidia_driver", lambda: True)
    commands = stage.set_up()
    assert [text for text in commands if "requirements-cuda" in text]
    assert not [text for text in commands if "index versions" in text]


def test_from_cpu_to_cuda_the_old_torch_goes_first(stage: Stage) -> None:
    stage.run.answer("index versions", ["Available versions: 2.14.1+cpu"])
    stage.set_up()
    stage.has_torch(None)
    commands = stage.set_up(build=Build.CUDA)
    gone = next(i for i, text in enumerate(commands) if "uninstall --yes torch" in text)
    came = next(i for i, text in enumerate(commands) if "requirements-cuda" in text)
    assert gone < came


def test_a_choice_is_remembered(stage: Stage) -> None:
    stage.set_up(build=Build.CUDA)
    assert stage.set_up() == []


def test_a_heavy_torch_that_is_there_is_not_thrown_away_unasked(stage: Stage) -> None:
    stage.set_up()
    stage.has_torch("13.0")
    stage.venv.stamp.unlink()
    stage.run.answer("index versions", ["Available versions: 2.14.1+cpu"])
    commands = stage.set_up()
    assert not [text for text in commands if "uninstall" in text]
    assert [text for text in commands if "requirements-cuda" in text]


def test_a_full_disk_is_told_before_gigabytes_come(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(stage.venv.root.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=500_000_000))
    with pytest.raises(SetupError, match=r"0\.5 GB free"):
        stage.set_up()
    assert not stage.run.asked("requirements-cuda")


# --- hnswlib ------------------------------------------------------------------------------


def test_without_a_compiler_the_set_up_goes_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "_compiler", lambda: "")
    stage.run.fail("hnswlib==", "command 'g++' failed")
    stage.set_up()
    assert "search is exact" in stage.seen.getvalue()
    assert stage.set_up() == []
    assert [text for text in stage.set_up(thorough=True) if "hnswlib==" in text]

    monkeypatch.setattr(environment, "_compiler", lambda: "/usr/bin/c++")
    stage.run.answer("hnswlib==", [])
    assert [text for text in stage.set_up() if "hnswlib==" in text]
    assert stage.set_up(thorough=True) == []


# --- words --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("OSError: [Errno 28] No space left on device", "make room"),
        ("ERROR: No matching distribution found for torch==2.14.1", "no build for this Python"),
        ("NewConnectionError: Failed to establish a new Connection", "network"),
    ],
)
def test_a_failure_says_what_to_do(stage: Stage, said: str, advice: str) -> None:
    stage.run.fail("requirements-cuda", said)
    with pytest.raises(SetupError) as failure:
        stage.set_up()
    assert said in str(failure.value)
    assert advice in str(failure.value)
