"""What ``refocal`` makes of its arguments, before anything heavy is loaded."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from app.__main__ import main, opens_window
from engine.cli.arguments import SUBCOMMANDS


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "album").mkdir()
    (tmp_path / "photo").touch()
    (tmp_path / "search").touch()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--library", "L"],
        ["photo.jpg"],
        ["photo"],
        ["album"],
        ["album/missing"],
        ["--library", "index", "photo.jpg"],
        ["photo.jpg", "--library", "L"],
        ["--library=L", "photo.jpg"],
        ["--demo-picture", "index"],
    ],
)
def test_no_command_is_the_window(arguments: list[str]) -> None:
    assert opens_window(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        *([command] for command in SUBCOMMANDS),
        ["search", "photo.jpg", "--box", "1,2,3,4"],  # also where a file has that name
        ["--help"],
        ["-h"],
        ["photo.jpg", "--help"],
        ["serach"],
        ["--library", "L", "index"],
    ],
)
def test_a_command_known_or_mistyped_is_the_command_line(arguments: list[str]) -> None:
    assert not opens_window(arguments)


def test_the_version_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["refocal", "--version"])
    assert main() == 0
    assert capsys.readouterr().out == f"refocal {version('refocal')}\n"


def test_a_mistyped_command_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["refocal", "serach"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert "serach" in capsys.readouterr().err


def test_a_spawned_decoder_imports_nothing_of_the_window() -> None:
    """It imports the module that the process was started with, before it decodes."""
    code = (
        "import sys, app.__main__;"
        "print(*{'PySide6', 'numpy', 'torch', 'engine', 'app.main'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
