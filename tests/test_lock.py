"""requirements/*.lock: what `make lock` wrote satisfies pyproject.toml, on every Python and processor."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT
from tools.lock import BOARD

FILES = ("run", "build", "board", "test", "docs")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROCESSORS = ("x86_64", "aarch64")
BROUGHT_BY_OTHERS = {"h11", "nacl", "pydantic_core"}  # by uvicorn, nats-py[nkeys] and pydantic
SHA256 = re.compile(r"--hash=sha256:[0-9a-f]{64}")
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
REQUIRED = {  # by the files that are installed together
    ("run",): PYPROJECT["project"]["dependencies"],
    ("run", "build"): PYPROJECT["dependency-groups"]["build"],
    ("run", "board"): [need for extra in BOARD for need in PYPROJECT["project"]["optional-dependencies"][extra]],
    ("run", "build", "board", "test"): PYPROJECT["dependency-groups"]["test"],
    ("run", "build", "board", "test", "docs"): PYPROJECT["dependency-groups"]["docs"],
}


@cache
def lines_of(name: str) -> list[str]:
    """The packages of a file, one a line, with their hashes."""
    text = (ROOT / f"requirements/{name}.lock").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def pins_of(name: str) -> list[Requirement]:
    return [Requirement(line.partition("--hash")[0]) for line in lines_of(name)]


def environment(python: str = "", processor: str = "") -> dict[str, str]:
    """What markers are compared with: this one's, or that of another Python and processor."""
    there = {name: str(value) for name, value in default_environment().items()}
    if python:
        there |= {"python_version": python, "python_full_version": f"{python}.9", "platform_machine": processor}
    return there


def versions(names: tuple[str, ...], where: dict[str, str]) -> dict[str, str]:
    """The version of each package that these files install there. One package has one version."""
    found: dict[str, str] = {}
    for pin in (pin for name in names for pin in pins_of(name)):
        if pin.marker is None or pin.marker.evaluate({**where}):
            package = canonicalize_name(pin.name)
            assert package not in found, f"{package} twice"
            found[package] = str(pin.specifier).removeprefix("==")
    return found


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("names", REQUIRED, ids="+".join)
def test_each_requirement_has_a_version_that_fits(names: tuple[str, ...], python: str, processor: str) -> None:
    where = environment(python, processor)
    locked = versions(names, where)
    for text in REQUIRED[names]:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({**where}):
            continue
        version = locked.get(canonicalize_name(requirement.name))
        assert version, f"requirements/*.lock has no {requirement.name}: make lock"
        assert requirement.specifier.contains(version), f"{requirement}: {version} is locked: make lock"


def test_the_package_requires_what_it_imports() -> None:
    """What only the tests' environment has would be missing on a board."""
    project = PYPROJECT["project"]
    texts = [
        *project["dependencies"],
        *(need for each in project["optional-dependencies"].values() for need in each),
    ]
    required = {canonicalize_name(Requirement(text).name) for text in texts}
    distributions = packages_distributions()

    for name in imported() - sys.stdlib_module_names - {"edged"} - BROUGHT_BY_OTHERS:
        brings = {
            canonicalize_name(each) for each in distributions.get(name, [name])
        }  # itself: not installed here
        assert brings & required, f"edged imports {name}: pyproject.toml requires none of {sorted(brings)}"


def imported() -> set[str]:
    """The packages whose modules a module of edged imports, also inside its functions."""
    names: set[str] = set()
    for path in (ROOT / "edged").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").partition(".")[0])
    return names


@pytest.mark.parametrize("name", FILES)
def test_each_package_has_one_version_and_hashes_and_no_file_names_a_host(name: str) -> None:
    for line in lines_of(name):
        assert SHA256.search(line), line
        assert re.fullmatch(r"[a-z0-9.-]+==[\w.!+-]+( ; .+)?", line.partition("--hash")[0].strip()), line
        assert "://" not in line


def test_what_a_locked_package_needs_is_locked_too() -> None:
    """As far as it is installed here: its metadata names what it needs."""
    locked = versions(FILES, environment())
    checked = 0
    for package, version in locked.items():
        for text in _needs(package, version):
            requirement = Requirement(text)
            if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
                continue
            assert canonicalize_name(requirement.name) in locked, f"{package} needs {requirement}: make lock"
            checked += 1
    assert checked > 10


def _needs(package: str, version: str) -> list[str]:
    try:
        installed = distribution(package)
    except PackageNotFoundError:
        return []
    return installed.requires or [] if installed.version == version else []
