"""Imports run one way: between the packages of edged, between the folders inside them, and between modules."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from edged.cli.verbs import VERBS
from tests.conftest import ROOT
from tools.package_levels import DOOR, HUB, LEVELS, WORKSHOP

LIBRARIES = {"batch", "cluster", "compress", "evaluation", "fleet", "inference", "teach", "train", "quantization"}
PROCESSES = {"hub", "camera", "worker"}  # which libraries do not import: what both need lies below both
EXCEPTION = "batch → camera"  # it reads videos as a camera does
HUB_MUST_NOT_IMPORT = {"cv2", "pyopencl", "onnx", "numpy", "edged.camera", "edged.worker", "edged.engine"}
CLIENT_NEEDS_ONLY = {
    f"edged.{part}" for part in ("client", "messages", "errors", "clock", "arithmetic", "system", "transport")
}


def source_files() -> list[Path]:
    return sorted((ROOT / "edged").rglob("*.py"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def part_of(module: str, package: str = "edged") -> str:
    """`hub` of edged.hub.frames.router; `frames` within the package edged.hub."""
    return module.removeprefix(package).lstrip(".").partition(".")[0]


def imports_of(path: Path) -> Iterator[str]:
    """The modules that a file imports, also inside its functions; a name imported from a package may be one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in modules() else node.module


@cache
def modules() -> dict[str, Path]:
    return {module_of(path): path for path in source_files()}


@cache
def graph() -> dict[str, set[str]]:
    """What each module imports of edged."""
    return {
        module: {name for name in imports_of(path) if name in modules() and name != module}
        for module, path in modules().items()
        if module != "edged"  # loads `Model` when it is first used
    }


def parts_within(package: str) -> dict[str, set[str]]:
    """What each module or folder of a package imports of its neighbours there."""
    inside = {name: part_of(name, package) for name in modules() if name.startswith(package + ".")}
    parts: dict[str, set[str]] = {part: set() for part in inside.values()}
    for name, part in inside.items():
        parts[part] |= {inside[other] for other in graph()[name] if other in inside} - {part}
    return parts


def circle_in(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def upward(parts: Mapping[str, Iterable[str]], levels: tuple[set[str], ...]) -> list[str]:
    """Imports that do not run down the levels."""
    level = {part: number for number, at in enumerate(levels) for part in at}
    return [f"{a} → {b}" for a, others in parts.items() for b in others if level[b] <= level[a]]


def test_every_package_has_a_level() -> None:
    assert set(parts_within("edged")) == set().union(*LEVELS)
    assert set(parts_within("edged.hub")) == set().union(*HUB)


def test_imports_run_down_the_packages() -> None:
    assert upward(parts_within("edged"), LEVELS) == []


def test_libraries_import_no_process() -> None:
    parts = parts_within("edged")
    assert {f"{a} → {b}" for a in LIBRARIES for b in parts[a] & PROCESSES} == {EXCEPTION}


def test_imports_run_down_the_folders_of_the_hub() -> None:
    assert upward(parts_within("edged.hub"), HUB) == []


PACKAGES = sorted({module_of(path.parent / "__init__.py") for path in source_files()} - {"edged"})


@pytest.mark.parametrize("package", PACKAGES)
def test_no_parts_of_a_package_import_each_other_in_a_circle(package: str) -> None:
    assert circle_in(parts_within(package)) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle_in(graph()) == []


def test_a_circle_would_be_found() -> None:
    assert circle_in({"a": {"b"}, "b": {"a"}}) != []
    assert upward({"links": {"workers"}}, HUB) == ["links → workers"]


def test_a_worker_loads_opencv_only_for_a_detectors_boxes() -> None:
    assert "cv2" not in loaded_after_importing("edged.worker")


def test_few_modules_lie_at_the_root() -> None:
    assert {path.stem for path in (ROOT / "edged").glob("*.py")} == {
        "__init__", "__main__", "arithmetic", "clock", "errors",
    }  # fmt: skip


def test_only_metrics_and_the_hub_import_prometheus() -> None:
    users = {
        part_of(module)
        for module, path in modules().items()
        if any(name.split(".")[0] == "prometheus_client" for name in imports_of(path))
    }
    assert users <= {"metrics", "hub"}


def loaded_after_importing(package: str) -> set[str]:
    """The modules that a fresh interpreter holds once all of `package` is imported."""
    names = [name for name in modules() if name == package or name.startswith(package + ".")]
    script = f"import sys, {', '.join(names)}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("package", ["edged.hub", "edged.cli.run"])
def test_the_hub_loads_no_image_opencl_or_onnx_library(package: str) -> None:
    assert loaded_after_importing(package) & HUB_MUST_NOT_IMPORT == set()


@pytest.mark.parametrize("verb", ["batch", "eval", "teach"])
def test_a_verb_that_limits_the_threads_of_numpy_does_not_load_it_before(verb: str) -> None:
    assert "numpy" not in loaded_after_importing(f"edged.cli.{verb}.command")


def test_the_client_loads_no_other_part_of_edged() -> None:
    loaded = loaded_after_importing("edged.client")
    parts = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("edged.")}
    assert parts <= CLIENT_NEEDS_ONLY


def test_no_verb_imports_another() -> None:
    verbs = {verb.replace("-", "_") for verb in VERBS}
    cli = ROOT / "edged/cli"
    arrows = {
        f"{own} → {other}"
        for path in cli.rglob("*.py")
        for name in imports_of(path)
        if name.startswith("edged.cli.")
        if (other := name.split(".")[2]) in verbs - {own := path.relative_to(cli).with_suffix("").parts[0]}
    }

    assert arrows == {"demo → run", "serve → run"}  # the same daemon, with a config of the package


def test_the_daemon_does_not_import_the_workshop() -> None:
    """A board that predicts needs no training, tuning or evaluation: `cli` alone opens both."""
    workshop = tuple(f"edged.{part}." for part in WORKSHOP)
    arrows = {
        f"{part_of(module)} → {name.split('.')[1]}"
        for module, path in modules().items()
        if part_of(module) not in {"cli", "quantization", "compress", "__main__"}
        and not f"{module}.".startswith(workshop)
        for name in imports_of(path)
        if f"{name}.".startswith(workshop)
    }

    assert arrows == {DOOR}
