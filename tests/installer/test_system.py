"""What Qt lacks is found by asking the linker, and named as the distribution names it."""

import io
import os
import sys
from pathlib import Path

import PySide6
import pytest

from installer import system
from installer.distributions import ARCH, DEBIAN, FEDORA, SUSE, Family, family
from installer.process import LoggedRunner
from installer.progress import Screen
from installer.system import Missing
from tests.installer.scripted import ScriptedRunner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")


def _qt(site: Path) -> None:
    plugins = site / "PySide6" / "Qt" / "plugins" / "platforms"
    plugins.mkdir(parents=True)
    for name in ("QtWidgets.abi3.so", "QtNetwork.abi3.so"):
        (site / "PySide6" / name).touch()
    for name in ("libqxcb.so", "libqoffscreen.so"):
        (plugins / name).touch()


def test_the_linker_tells_what_is_missing(tmp_path: Path) -> None:
    _qt(tmp_path)
    run = ScriptedRunner()
    run.answer("QtWidgets", ["\tlibEGL.so.1 => not found", "\tlibc.so.6 => /lib/libc.so.6 (0x7f)"])
    run.answer("libqxcb", ["\tlibxcb-cursor.so.0 => not found", "\tlibEGL.so.1 => not found"])
    run.fail("libqoffscreen", "not a dynamic executable")
    lack = system.missing(tmp_path, run)
    assert lack.window == {"libEGL.so.1"}
    assert lack.screen == {"libxcb-cursor.so.0"}
    assert str(lack).startswith("libEGL.so.1, libxcb-cursor.so.0")


def test_the_qt_of_this_very_run_lacks_nothing_to_draw_offscreen(tmp_path: Path) -> None:
    site = Path(PySide6.__file__).parent.parent
    lack = system.missing(site, LoggedRunner(tmp_path / "log", temporary=None))
    assert not lack.window


@pytest.mark.parametrize(
    ("lack", "variables", "stops"),
    [
        (Missing(window=frozenset({"libEGL.so.1"})), {}, True),
        (Missing(screen=frozenset({"libxcb-cursor.so.0"})), {"DISPLAY": ":0"}, True),
        (
            Missing(screen=frozenset({"libxcb-cursor.so.0"})),
            {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"},
            False,
        ),
        (
            Missing(screen=frozenset({"libxcb-cursor.so.0"})),
            {"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"},
            False,
        ),
        (Missing(font=True), {"DISPLAY": ":0"}, False),
    ],
)
def test_only_what_a_window_here_needs_stops_it(
    lack: Missing, variables: dict[str, str], stops: bool
) -> None:
    assert lack.stops(variables) is stops


@pytest.mark.parametrize(
    ("release", "known"),
    [
        ("ID=debian\n", DEBIAN),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', DEBIAN),
        ("NAME=Fedora\nID=fedora\n", FEDORA),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', FEDORA),
        ("ID=endeavouros\nID_LIKE=arch\n", ARCH),
        ('ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n', SUSE),
        ("ID=nixos\n", None),
        ("", None),
    ],
)
def test_families_of_distributions(tmp_path: Path, release: str, known: Family | None) -> None:
    file = tmp_path / "os-release"
    file.write_text(release)
    assert family(file) is known


def test_no_release_file_is_no_family(tmp_path: Path) -> None:
    assert family(tmp_path / "nothing") is None


def test_the_exact_command_is_named() -> None:
    libraries = {"libxcb-cursor.so.0", "libxkbcommon-x11.so.0"}
    packages = DEBIAN.packages(libraries, font=True)
    assert DEBIAN.command(packages) == (
        "sudo apt-get install fonts-dejavu-core libxcb-cursor0 libxkbcommon-x11-0"
    )
    assert FEDORA.packages(libraries, font=False) == ["libxkbcommon-x11", "xcb-util-cursor"]


def test_root_on_debian_installs_and_refreshes_old_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    run = ScriptedRunner()
    run.fail("apt-get install", "E: Unable to locate package")

    def updated() -> list[str]:
        run.answer("apt-get install", [])
        return []

    run.answer("apt-get update", updated)
    lack = Missing(window=frozenset({"libEGL.so.1"}))
    assert system.bring(lack, DEBIAN, run, Screen(io.StringIO()))
    assert [text.split()[1] for text in run.commands] == ["install", "update", "install"]
    assert "libegl1" in run.commands[-1]


@pytest.mark.parametrize(("user", "known"), [(1000, DEBIAN), (0, FEDORA), (0, None)])
def test_elsewhere_the_command_is_said_and_nothing_run(
    monkeypatch: pytest.MonkeyPatch, user: int, known: Family | None
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    run, seen = ScriptedRunner(), io.StringIO()
    assert not system.bring(Missing(window=frozenset({"libEGL.so.1"})), known, run, Screen(seen))
    assert run.commands == []
    assert "libEGL.so.1" in seen.getvalue()
    assert known is None or "sudo" in seen.getvalue()
