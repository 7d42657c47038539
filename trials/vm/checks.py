"""What must hold on whole machines: each test in `guest/checks`, by the machine. `make vm-test` starts it."""

import ast
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from trials.vm.machines import MACHINES, Machine, why_not
from trials.vm.run import Run

CHECKS = Path(__file__).parent / "guest/checks"


def names_of(machine: Machine) -> list[str]:
    """`unplug.py::test_…`, in the order in which the machine runs them."""
    return [
        f"{file}.py::{node.name}"
        for file in machine.checks
        for node in ast.parse((CHECKS / f"{file}.py").read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


CASES = [
    pytest.param(machine, name, id=f"{machine.name}-{name}") for machine in MACHINES for name in names_of(machine)
]


@pytest.fixture(scope="session")
def run_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Machine], Run]]:
    """Boots a machine, when its first test comes, with those of its tests that were asked for; one at a time."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    with ExitStack() as running:

        @cache
        def run(machine: Machine) -> Run:
            running.close()
            names = [
                str(each.callspec.params["name"]) for each in items if each.callspec.params["machine"] is machine
            ]
            return running.enter_context(Run(machine, names, tmp_path_factory.mktemp(machine.name)))

        yield run


@pytest.mark.parametrize(("machine", "name"), CASES)
def test_in_the_machine(
    run_of: Callable[[Machine], Run], machine: Machine, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if reason := why_not(machine):
        pytest.skip(f"no {machine.name} machine here: {reason}")
    report = run_of(machine).report(name)
    if report.outcome == "skipped":
        pytest.skip(report.words)
    assert report.outcome == "passed", report.words
    with capsys.disabled():
        print(f"\n    {report.seconds:.1f} s in the machine. {' '.join(report.words.split())}", end=" ")
