"""run.py passes on what is refocal's, and shows a window even where none can be seen."""

import ast
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from installer import launch
from installer.places import ROOT
from installer.process import SetupError
from installer.progress import Screen
from installer.torch_build import Build

_RUN = ROOT / "installer" / "run.py"


@pytest.mark.parametrize(
    ("given", "own", "passed"),
    [
        ([], [], []),
        (["index", "F", "--json"], [], ["index", "F", "--json"]),
        (["--torch", "cpu", "index", "F"], ["--torch", "cpu"], ["index", "F"]),
        (["--torch=cuda", "--setup-only"], ["--torch=cuda", "--setup-only"], []),
        (["--setup-only", "--", "--help"], ["--setup-only"], ["--help"]),
        (["search", "a.jpg", "--help"], [], ["search", "a.jpg", "--help"]),
        (["--library", "L", "--torch", "x"], [], ["--library", "L", "--torch", "x"]),
    ],
)
def test_own_options_come_first_and_the_rest_is_passed_on(
    given: list[str], own: list[str], passed: list[str]
) -> None:
    assert launch.split(given) == (own, passed)


def test_what_opens_a_window(tmp_path: Path) -> None:
    photo = tmp_path / "a.jpg"
    photo.touch()
    assert launch.opens_window([])
    assert launch.opens_window([str(photo)])
    assert launch.opens_window(["--library", str(tmp_path), str(photo)])
    assert not launch.opens_window(["index", str(tmp_path)])
    assert not launch.opens_window(["--help"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can lack a display")
def test_where_a_window_can_be_seen() -> None:
    assert not launch.has_display({})
    assert launch.has_display({"DISPLAY": ":0"})
    assert launch.has_display({"WAYLAND_DISPLAY": "wayland-0"})
    assert launch.has_display({"QT_QPA_PLATFORM": "vnc"})


def test_there_is_no_cuda_on_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    assert launch.chosen_build("cuda") is Build.CUDA
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SetupError, match="no CUDA on macOS"):
        launch.chosen_build("cuda")


@pytest.mark.skipif(os.name == "nt", reason="needs a shell script")
@pytest.mark.parametrize(("draws", "status"), [(True, 0), (False, 1)])
def test_without_a_display_the_picture_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draws: bool, status: int
) -> None:
    monkeypatch.setattr(launch, "ROOT", tmp_path)
    refocal = tmp_path / "refocal"
    deed = 'echo "$QT_QPA_PLATFORM" > "$2"' if draws else "true"
    refocal.write_text(f'#!/bin/sh\n[ "$1" = --demo-picture ] && {deed}\n')
    refocal.chmod(0o755)
    seen = io.StringIO()
    assert launch.demonstrate([str(refocal)], Screen(seen)) == status
    picture = tmp_path / "build" / "refocal-window.png"
    assert picture.exists() is draws
    assert (str(picture) in seen.getvalue()) is draws
    if draws:
        assert picture.read_text() == "offscreen\n"


# --- run.py itself ------------------------------------------------------------------------


def test_old_pythons_can_read_the_file_that_sends_them_away() -> None:
    ast.parse(_RUN.read_text(encoding="utf-8"), feature_version=(3, 6))


def test_wrong_usage_is_told_as_such() -> None:
    ended = subprocess.run(
        [sys.executable, str(_RUN), "--torch", "tpu"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "invalid choice" in ended.stderr
    assert ended.stdout == ""


@pytest.mark.skipif(os.name == "nt", reason="counts the time of children")
def test_a_start_costs_little() -> None:
    """Everything that run.py loads before it hands over, in seconds of processor time."""
    before = os.times()
    subprocess.run([sys.executable, str(_RUN), "--help"], stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    spent = after.children_user + after.children_system
    assert spent - before.children_user - before.children_system < 0.3
