"""Where a head is trained while a daemon may have the device."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from edged import config
from edged.engine.device import Device, list_devices
from edged.errors import DeviceError
from edged.runtime.select import lock_of
from edged.teach import device_choice
from edged.teach.device_choice import find_place
from tests.conftest import ROOT

CPU = config.WorkerConfig(device="cpu")
NUMPY = config.WorkerConfig(device="numpy")
CPUS = [device for device in list_devices() if device.kind == "cpu"]

needs_a_cpu = pytest.mark.skipif(not CPUS, reason="no OpenCL CPU here")


@contextmanager
def held(device: Device) -> Iterator[None]:
    """By another process, as by a worker."""
    hold = f"exclusive_lock.hold({lock_of(device)!r})"
    script = f"from edged.system import exclusive_lock; {hold}; print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as worker:
        assert worker.stdout is not None
        worker.stdout.readline()
        yield
        worker.kill()


@pytest.fixture
def gpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Device:
    """A device as any other, but that it is called a GPU; no worker's name leads to the CPU itself."""
    gpu = replace(CPUS[0], kind="gpu", name="a GPU", instructions=())
    monkeypatch.setattr(device_choice, "opencl_device", lambda name: gpu)
    return gpu


@needs_a_cpu
def test_a_cpu_is_shared_with_the_worker_that_has_it(folder: Path) -> None:
    with held(CPUS[0]):
        assert find_place([CPU], None) == find_place([NUMPY, CPU], None) == CPUS[0]


@needs_a_cpu
def test_a_gpu_is_taken_where_it_is_free(gpu: Device) -> None:
    assert find_place([config.WorkerConfig(device="gpu")], None) == gpu


@needs_a_cpu
def test_a_gpu_that_a_worker_has_is_left_to_it(gpu: Device) -> None:
    with held(gpu):
        assert find_place([config.WorkerConfig(device="gpu")], None) == CPUS[0]
        with pytest.raises(DeviceError, match=r"device-.*-a GPU is in use by process"):
            find_place([], "gpu")


def test_numpy_is_taken_where_it_is_asked_for() -> None:
    assert find_place([CPU], "numpy") is None


def test_workers_of_other_hosts_are_no_place_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_choice, "opencl_devices", lambda: ())
    assert find_place([config.WorkerConfig(device="cpu", host="board")], None) is None
