"""`edged check` tries each device: it compiles the model and compares it with the reference, as a worker does."""

import json
import os
from pathlib import Path
from typing import NoReturn

import pytest

from edged.engine.device import list_devices
from edged.model import reference
from edged.system.paths import cache_directory
from tests.cli.checking import check, config_file
from tests.cli.command import edged_here
from tests.e2e.faulty_worker import break_worker
from tests.engine.wrong_kernels import WRONG_VECTOR, Change

REJECTED: Change = ("layout", "#define RELU_OF", "#error no such pragma\n#define RELU_OF")
CPU_ALONE = "workers: [{device: cpu}]"
CPU_FIRST = "workers: [{device: cpu}, {device: numpy}]"

HAS_CPU = any(device.kind == "cpu" for device in list_devices())
needs_opencl = pytest.mark.skipif(not HAS_CPU, reason="no OpenCL runtime of a processor")


@pytest.fixture(autouse=True)
def without_proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@needs_opencl
def test_a_device_that_agrees_with_the_reference_is_proven_for_the_daemon_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = check(config_file(tmp_path, CPU_ALONE), capsys)

    assert code == 0
    assert found["worker 0"].startswith("ok cpu: ")
    assert found["worker 0"].endswith("; runs the model; agrees with the reference")
    assert list((cache_directory() / "proofs").glob("*.proof"))


@pytest.mark.deep
@needs_opencl
def test_a_device_whose_compiler_rejects_all_kernels_is_an_error_if_no_other_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_worker(monkeypatch, "EDGED_TEST_WRONG_KERNEL", json.dumps(REJECTED))

    code, found = check(config_file(tmp_path, CPU_ALONE), capsys)

    assert code == 2
    assert found["worker 0"].startswith("error ")
    assert "no such pragma" in found["worker 0"]


@pytest.mark.deep
@needs_opencl
def test_the_next_device_runs_the_model_where_the_first_does_not_compile_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_worker(monkeypatch, "EDGED_TEST_WRONG_KERNEL", json.dumps(REJECTED))

    done = edged_here("check", config_file(tmp_path, CPU_FIRST), "--json")

    found = {each["what"]: each for each in json.loads(done.stdout)["findings"]}
    assert done.returncode == 0
    assert found["worker 0"]["level"] == "warning"
    second = found["worker 1"]
    assert (second["level"], second["kind"], second["device"]) == ("ok", "serves", "NumPy")
    assert second["text"] == "numpy: NumPy; runs the model"


@pytest.mark.deep
@needs_opencl
def test_a_variant_that_a_device_computes_wrongly_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_worker(monkeypatch, "EDGED_TEST_WRONG_KERNEL", json.dumps(WRONG_VECTOR))

    code, found = check(config_file(tmp_path, CPU_ALONE), capsys)

    assert code == 0
    assert found["worker 0"].startswith("warning cpu: ")
    assert "agrees with the reference without conv_vector for Conv 3×16×16" in found["worker 0"]


@needs_opencl
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("cannot reshape array of size 5", "(ValueError: cannot reshape array of size 5): a fault of edged"),
        pytest.param(
            "SIGABRT",
            "the process that tries it was killed by SIGABRT (a driver crashes): name another device",
            marks=pytest.mark.deep,
        ),
    ],
)
def test_a_fault_of_the_comparison_is_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, fault: str, says: str
) -> None:
    break_worker(monkeypatch, "EDGED_TEST_FAULTY_PROOF", fault)

    code, found = check(config_file(tmp_path, CPU_ALONE), capsys)

    assert code == 2
    assert found["worker 0"].startswith("error device cpu")
    assert says in found["worker 0"]


def test_a_fault_of_the_reference_is_a_finding_of_numpy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: object) -> NoReturn:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(reference, "compute", faulty)

    code, found = check(config_file(tmp_path, "workers: [{device: numpy}]"), capsys)

    assert code == 2
    assert "ZeroDivisionError: division by zero" in found["worker 0"]


def test_quick_tries_no_device_and_reports_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_worker(monkeypatch, "EDGED_TEST_FAULTY_PROOF", "not to be seen")
    file = config_file(tmp_path, CPU_FIRST if HAS_CPU else "workers: [{device: numpy}]")

    code, found = check(file, capsys, "--quick")
    done = edged_here("check", file, "--quick")

    assert code == 0
    assert found["worker 0"].endswith("; runs the model (not tried: --quick)")
    assert done.stdout.splitlines()[-1].endswith("no error, but no device was tried")


def test_without_a_model_no_device_is_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = config_file(tmp_path, "workers: [{device: numpy}]\nmodel: {path: absent.onnx}")

    code, found = check(file, capsys)

    assert code == 2
    assert found["worker 0"] == "ok numpy: NumPy; runs the model (not tried without a model)"


@pytest.mark.deep
@needs_opencl
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder away")
def test_root_leaves_no_files_in_the_cache_of_a_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = cache_directory()
    cache.mkdir(parents=True)
    os.chown(cache, 12345, 12345)

    code, found = check(config_file(tmp_path, CPU_ALONE), capsys)

    assert code == 0
    assert found["worker 0"].endswith("agrees with the reference")
    assert list(cache.iterdir()) == []
