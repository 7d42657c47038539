"""`edged compile`: what a start would compile is in the cache before it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from edged.config.load import load_config
from edged.engine.device import POCL, list_devices
from edged.model.model_part import part_of
from edged.model.package import load_model
from edged.system.paths import cache_directory
from edged.worker.warm_up import make_ready
from tests.cli.checking import config_file
from tests.cli.command import edged_here
from tests.conftest import ROOT
from tests.e2e.faulty_worker import break_worker
from tests.engine.wrong_kernels import Change

REJECTED: Change = ("layout", "#define RELU_OF", "#error no such pragma\n#define RELU_OF")
CPU_ALONE = "workers: [{device: cpu}]"

# Intel's runtime, which the tests load where it is installed, is not seen by other processes.
NAMES = [device.name for device in list_devices() if device.kind == "cpu" and device.platform == POCL]
needs_opencl = pytest.mark.skipif(not NAMES, reason="PoCL is not installed")


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def programs() -> set[str]:
    return {path.name for path in (cache_directory() / "programs").glob("*")}


def compiled(file: Path) -> dict[str, Any]:
    """What `edged compile` reports of the only worker on OpenCL."""
    (worker,) = json.loads(edged_here("compile", file, "--json").stdout)["workers"]
    return dict(worker)


@needs_opencl
def test_a_worker_finds_every_program_in_the_cache_also_that_of_one_launch(tmp_path: Path) -> None:
    file = config_file(tmp_path, f"workers: [{{device: '{NAMES[0]}'}}, {{device: numpy}}]")

    first = compiled(file)

    kept = programs()
    assert (first["worker"], first["programs"], first["error"]) == (0, len(kept), "")
    config = load_config(file)
    ready = make_ready(
        part_of(load_model(config.model), *config.ends_of(0)), config.workers[0], cache_directory() / "programs"
    )
    assert ready.runtime.compose()
    ready.runtime.close()
    assert programs() == kept
    assert compiled(file)["programs"] == 0


@pytest.mark.deep
@needs_opencl
def test_a_worker_that_would_not_start_is_named_with_exit_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_worker(monkeypatch, "EDGED_TEST_WRONG_KERNEL", json.dumps(REJECTED))

    done = edged_here("compile", config_file(tmp_path, CPU_ALONE))

    assert done.returncode == 3
    assert done.stdout.startswith("error  worker 0  cpu: ")
    assert "no such pragma" in done.stdout


def test_there_is_nothing_to_compile_for_numpy(tmp_path: Path) -> None:
    done = edged_here("compile", config_file(tmp_path, "workers: [{device: numpy}]"))

    assert done.returncode == 0
    assert "no worker of this host runs on OpenCL: there is nothing to compile" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder away")
def test_root_is_advised_to_compile_as_the_user_of_the_cache(tmp_path: Path) -> None:
    cache = cache_directory()
    cache.mkdir(parents=True)
    os.chown(cache, 12345, 12345)

    done = edged_here("compile", config_file(tmp_path, CPU_ALONE))

    assert done.returncode == 2
    assert f"{cache} is a cache of user 12345: compile as that user" in done.stderr
    assert "systemctl start edged-compile" in done.stderr
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_an_error() -> None:
    as_nobody = "import os; from edged.cli.compile import usable_cache; os.geteuid() or os.setuid(54321)"
    environment = {"PYTHONPATH": str(ROOT), "CACHE_DIRECTORY": "/edged-of-nobody"}

    done = subprocess.run(
        [sys.executable, "-c", f"{as_nobody}; usable_cache()"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )

    assert "ConfigError: /edged-of-nobody: user" in done.stderr
    assert "may not write there, so nothing could be kept" in done.stderr
