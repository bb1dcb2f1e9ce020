"""The locked requirements are complete, pinned, and tied to no machine."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from installer.locks import Lock, cuda_only, normalised
from installer.places import ROOT
from installer.torch_build import CUDA_SUFFIX

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("lock", Lock)
def test_every_line_is_one_pin_and_nothing_else(lock: Lock) -> None:
    header, *lines = lock.path.read_text(encoding="utf-8").splitlines()
    assert header.startswith("# Made by")
    for line in lines:
        assert re.match(r"[a-z0-9-]+==[0-9][\w.]* *(;|#|$)", line), line
        assert "/" not in line


@pytest.mark.parametrize("lock", [Lock.CPU, Lock.CUDA])
def test_the_locks_hold_what_the_project_asks_for(lock: Lock) -> None:
    pins = lock.pins()
    for text in [*_PROJECT["project"]["dependencies"], "setuptools>=77"]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(pins[normalised(wanted.name)]), text


@pytest.mark.parametrize(("lock", "group"), [(Lock.DEV, "dev"), (Lock.SETUP, "setup")])
def test_the_locks_hold_what_the_groups_ask_for(lock: Lock, group: str) -> None:
    pins = lock.pins()
    for text in _PROJECT["dependency-groups"][group]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(pins[normalised(wanted.name)]), text


def test_the_locks_agree_where_they_meet() -> None:
    everything = Lock.CUDA.pins()
    for lock in (Lock.CPU, Lock.DEV, Lock.SETUP):
        for name, version in lock.pins().items():
            assert everything.get(name, version) == version, f"{name} in {lock}"


def test_the_cpu_lock_brings_no_cuda() -> None:
    assert "torch" in Lock.CPU.pins()
    assert not [name for name in Lock.CPU.pins() if re.match("nvidia|cuda|triton", name)]
    assert {"triton", "nvidia-cublas"} < set(cuda_only())


def test_the_cuda_index_is_that_of_the_cuda_lock() -> None:
    version = Version(Lock.CUDA.pins()["cuda-toolkit"])
    assert f"cu{version.major}{version.minor}" == CUDA_SUFFIX


def test_the_qt_that_aborts_is_not_locked() -> None:
    assert Lock.CPU.pins()["pyside6-essentials"] != "6.12.0"
