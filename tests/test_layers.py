"""Imports run one way: cli → teach → hub | camera | worker | train → engine | model | energy → what all share."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

LEVELS = (
    {"cli", "__main__"},
    {"teach"},
    {"hub", "camera", "worker", "client", "view", "train"},
    {"engine", "model", "energy", "host", "drawing"},
    {
        "config", "config_file", "config_mistakes", "yaml_places", "messages", "metrics", "keys", "address",
        "errors", "clock", "connect", "handshakes", "hub_link", "hub_clock", "paths", "log", "log_flood", "child",
        "backoff", "entries", "exclusive", "notebook", "replace_file", "segments", "systemd", "taught", "tls",
        "unit", "line_writer", "standard_streams", "preparation", "regular_file", "trusted", "plain_text",
        "printable",
    },
)  # fmt: skip
WITHIN_A_LEVEL = {
    ("engine", "model"),
    ("view", "client"),
    ("__main__", "cli"),
}  # besides the shared modules, which may import each other
HUB_MUST_NOT_IMPORT = {"cv2", "pyopencl", "onnx", "numpy", "edged.camera", "edged.worker", "edged.engine"}
CLIENT_NEEDS_ONLY = {
    "edged.client",
    "edged.messages",
    "edged.errors",
    "edged.clock",
    "edged.keys",
    "edged.address",
    "edged.connect",
    "edged.handshakes",
    "edged.preparation",
}


def source_files() -> list[Path]:
    return sorted((ROOT / "edged").rglob("*.py"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def part_of(module: str) -> str:
    """`hub` of edged.hub.frames.router."""
    return module.removeprefix("edged").lstrip(".").partition(".")[0]


def level_of(part: str) -> int:
    return next(level for level, parts in enumerate(LEVELS) if part in parts)


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            yield from (
                [f"edged.{alias.name}" for alias in node.names] if node.module == "edged" else [node.module]
            )


def is_allowed(importer: str, imported: str) -> bool:
    if importer == imported or imported.startswith("_"):  # edged.__version__
        return True
    down = level_of(imported) - level_of(importer)
    shared = level_of(importer) == len(LEVELS) - 1
    return down > 0 or (down == 0 and (shared or (importer, imported) in WITHIN_A_LEVEL))


def test_every_module_has_a_level() -> None:
    parts = {part_of(module_of(path)) for path in source_files()} - {""}
    assert parts - set().union(*LEVELS) == set()


@pytest.mark.parametrize("path", source_files(), ids=module_of)
def test_imports_run_downwards(path: Path) -> None:
    importer = part_of(module_of(path))
    wrong = [
        name
        for name in imports_of(path)
        if importer and name.startswith("edged.") and not is_allowed(importer, part_of(name))
    ]
    assert wrong == [], f"{module_of(path)} must not import {', '.join(wrong)}"


def test_only_metrics_and_the_hub_know_prometheus() -> None:
    users = {
        part_of(module_of(path))
        for path in source_files()
        if any(name.split(".")[0] == "prometheus_client" for name in imports_of(path))
    }
    assert users <= {"metrics", "hub"}


def loaded_after_importing(package: str) -> set[str]:
    """The modules that a fresh interpreter holds once all of `package` is imported."""
    modules = [
        name for name in map(module_of, source_files()) if name == package or name.startswith(package + ".")
    ]
    script = f"import sys, {', '.join(modules)}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(run.stdout.split())


def test_the_hub_loads_no_image_opencl_or_onnx_library() -> None:
    assert loaded_after_importing("edged.hub") & HUB_MUST_NOT_IMPORT == set()


def test_edged_run_loads_no_image_opencl_or_onnx_library() -> None:
    assert loaded_after_importing("edged.cli.run") & HUB_MUST_NOT_IMPORT == set()


def test_the_client_loads_no_other_part_of_edged() -> None:
    loaded = loaded_after_importing("edged.client")
    parts = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("edged.")}
    assert parts <= CLIENT_NEEDS_ONLY
