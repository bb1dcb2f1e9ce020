"""The shape of the tree: what a reader may rely on and a tool does not check."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent
_TOPS = ("app", "engine", "installer", "tests")
_LONGEST = 450
_NAMELESS = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})


def _sources(*tops: str) -> list[Path]:
    return sorted(path for top in tops for path in (_ROOT / top).rglob("*.py"))


def _named(path: Path) -> str:
    return path.relative_to(_ROOT).as_posix()


def _python(code: str, *, cwd: Path) -> str:
    """What a fresh Python says, started outside the tree as `refocal` would be."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=cwd,
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout.strip()


def test_the_packages_are_those_of_this_tree(tmp_path: Path) -> None:
    said = _python("import app, engine; print(app.__file__); print(engine.__file__)", cwd=tmp_path)
    assert [Path(line).parent for line in said.splitlines()] == [_ROOT / "app", _ROOT / "engine"]


def test_the_window_is_up_before_torch_is_loaded(tmp_path: Path) -> None:
    heavy = {"torch", "torchvision", "timm", "scipy", "hnswlib"}
    code = f"import sys, app.main; print(*sorted({heavy!r} & set(sys.modules)))"
    assert _python(code, cwd=tmp_path) == ""


def test_files_fit_a_head() -> None:
    long = {
        _named(path): lines
        for path in _sources(*_TOPS)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > _LONGEST
    }
    assert long == {}


def test_every_module_has_a_name_that_says_something() -> None:
    assert [_named(path) for path in _sources(*_TOPS) if path.stem in _NAMELESS] == []


@pytest.mark.parametrize("top", ["app", "engine"])
def test_what_is_public_is_documented(top: str) -> None:
    bare = [
        f"{_named(path)}: {name}"
        for path in _sources(top)
        for name in _undocumented(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert bare == []


def _undocumented(module: ast.Module) -> Iterator[str]:
    """The module itself, and its public functions and classes, that say nothing of themselves."""
    if module.body and not ast.get_docstring(module):
        yield "the module"
    for node in module.body:
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ):
            yield node.name


def test_nothing_is_left_for_later() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "X" * 3)
    found = [
        f"{_named(path)}:{number}"
        for path in _sources(*_TOPS)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if any(mark in line for mark in marks)
    ]
    assert found == []
