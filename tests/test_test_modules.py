"""Test modules stand alone, and their tests have names that fit on a line."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

LONGEST_NAME = 90
RUNS_TESTS = ROOT / "tests/engine/oclgrind/trained.py"  # the tests themselves, while Oclgrind watches


def modules() -> list[Path]:
    return sorted((ROOT / "tests").rglob("*.py"))


def imports_of_tests(source: str) -> list[str]:
    """Return what a module imports from test modules, also inside its functions."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return [name for name in found if any(part.startswith("test_") for part in name.split("."))]


def names_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name


def test_no_module_imports_a_test_module() -> None:
    """What several need lies in a module of its own, whose name says what it is."""
    found = {path: names for path in modules() if (names := imports_of_tests(path.read_text()))}
    assert found.keys() == {RUNS_TESTS}, found


def test_an_import_of_a_test_module_is_found() -> None:
    assert imports_of_tests("from tests.hub.test_hub import Run") == ["tests.hub.test_hub.Run"]
    assert imports_of_tests("def f():\n    from tests.hub import test_hub") == ["tests.hub.test_hub"]
    assert imports_of_tests("from tests.hub.running import Run\nimport tests.eventually") == []


def test_names_of_tests_fit_on_a_line() -> None:
    names = [name for path in modules() for name in names_in(path)]
    assert len(names) > 1000
    assert [name for name in names if len(name) > LONGEST_NAME] == []
