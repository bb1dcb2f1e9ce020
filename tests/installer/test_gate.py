"""test.py runs the checks that were chosen and fails if one of them does."""

from pathlib import Path

import pytest

from installer import gate
from installer.environment import Environment, Wish
from installer.gate import CHECKS, Check


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two quick checks, in this Python; the second leaves a file."""
    mark = tmp_path / "mark"
    quick = (
        Check("bad", "fails", ("-c", "raise SystemExit(3)")),
        Check("good", "passes", ("-c", f"import pathlib; pathlib.Path({str(mark)!r}).touch()")),
    )

    def ready(_environment: Environment, wish: Wish) -> bool:
        return wish.dev

    monkeypatch.setattr(gate, "CHECKS", quick)
    monkeypatch.setattr(Environment, "ready", ready)
    return mark


def test_one_failure_fails_the_whole_and_stops_nothing(
    checks: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert gate.main([]) == 1
    assert checks.exists()
    summary = capfd.readouterr().out.splitlines()[-2:]
    assert [line.split()[:2] for line in summary] == [["bad", "FAILED"], ["good", "ok"]]


def test_only_what_was_chosen_runs(checks: Path) -> None:
    assert gate.main(["--only", "good"]) == 0
    assert checks.exists()


def test_a_check_that_is_none_is_wrong_usage(
    checks: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        gate.main(["--only", "good,better"])
    assert ended.value.code == 2
    assert "better" in capfd.readouterr().err


def test_the_gate_has_its_five_checks() -> None:
    assert [check.name for check in CHECKS] == ["format", "lint", "types", "contracts", "tests"]


def test_checks_have_no_screen_and_leave_a_core() -> None:
    found = gate.environment_for_checks({"HOME": "/home/x"}, cores=8)
    assert found["QT_QPA_PLATFORM"] == "offscreen"
    assert found["OMP_NUM_THREADS"] == "7"
    assert found["HOME"] == "/home/x"
    assert gate.environment_for_checks({}, cores=1)["OMP_NUM_THREADS"] == "1"
    assert (
        gate.environment_for_checks({"QT_QPA_PLATFORM": "xcb"}, cores=1)["QT_QPA_PLATFORM"] == "xcb"
    )
