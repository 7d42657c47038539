"""Test modules stand alone, names of tests fit on a line, and tests that count seconds are promises."""

import ast
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT
from tests.modules import modules

LONGEST_NAME = 90
COUNTERS = {"GivenTime", "seconds_to_recover"}
RUNS_TESTS = ROOT / "tests/engine/oclgrind/trained.py"  # the tests themselves, while Oclgrind watches


def imports_of_tests(module: ast.Module) -> list[str]:
    """Return what a module imports from test modules, also inside its functions."""
    found: list[str] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return [name for name in found if any(part.startswith("test_") for part in name.split("."))]


def functions_in(module: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


def counts_seconds(test: ast.FunctionDef) -> bool:
    """Return whether a test measures the time that the machine gave."""
    return not COUNTERS.isdisjoint(node.id for node in ast.walk(test) if isinstance(node, ast.Name))


def is_promise(test: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).startswith("pytest.mark.promise(") for each in test.decorator_list)


def test_no_module_imports_a_test_module() -> None:
    """What several need lies in a module of its own, whose name says what it is."""
    found = {path: names for path, module in modules().items() if (names := imports_of_tests(module))}
    assert found.keys() == {RUNS_TESTS}, found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from tests.hub.test_hub import Run", ["tests.hub.test_hub.Run"]),
        ("def f():\n    from tests.hub import test_hub", ["tests.hub.test_hub"]),
        ("from tests.hub.running import Run\nimport tests.eventually", []),
    ],
)
def test_an_import_of_a_test_module_is_found(source: str, found: list[str]) -> None:
    assert imports_of_tests(ast.parse(source)) == found


def test_names_of_tests_fit_on_a_line() -> None:
    names = [test.name for module in modules().values() for test in functions_in(module)]
    assert len(names) > 1000
    assert [name for name in names if len(name) > LONGEST_NAME] == []


def test_a_test_that_counts_seconds_is_a_promise() -> None:
    """It belongs to the deep tier: an ordinary test asserts states and their order."""
    elsewhere = [module for path, module in modules().items() if path.name != "test_given_time.py"]
    counting = [test for module in elsewhere for test in functions_in(module) if counts_seconds(test)]
    assert len(counting) > 5
    assert [test.name for test in counting if not is_promise(test)] == []
