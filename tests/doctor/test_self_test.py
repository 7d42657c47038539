"""The self-test of a device survives a driver that crashes, and finds nothing wrong on a device that is right."""

import sys
from pathlib import Path

import pytest

from edged.doctor import collect_devices as devices
from edged.doctor.collect_devices import STEPS, try_device
from edged.engine.device import Device
from edged.runtime import drivers
from tests.doctor import crashing_process
from tests.runtimes import own_devices

A_DEVICE = Device(
    "P", "N", "cpu", "OpenCL 3.0", "1.0", 1, 2**30, 4, 64, unified_memory=True, fp16=False, position=(0, 0)
)


def test_a_crash_is_reported_and_the_other_steps_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "SELF_TEST", crashing_process.__name__)

    tried = {each.step: each for each in try_device(A_DEVICE, lambda text: None)}

    assert list(tried) == list(STEPS)
    crashed = tried.pop(crashing_process.CRASHES_AT)
    assert crashed.problem == "N: no self-test: the driver ended its process by SIGABRT"
    assert not any(each.problem for each in tried.values())


def test_a_driver_that_crashes_as_it_is_loaded_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "crashing_listing.py").write_text("import os; os.abort()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.setattr(drivers, "LISTING", "crashing_listing")

    found, problem = devices.read_devices(lambda text: None)

    assert found == ()
    assert problem == "the OpenCL devices cannot be listed: its process was killed by SIGABRT (a driver crashes)"


def test_a_step_that_does_not_end_is_named_with_its_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import signal; signal.pause()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(devices, "SELF_TEST", "endless")
    monkeypatch.setattr(devices, "LIMIT_S", 0.1)

    problems = {each.problem for each in try_device(A_DEVICE, lambda text: None)}

    assert problems == {"N: no self-test: its process did not end within 0.1 s"}


@pytest.mark.deep
@pytest.mark.skipif(not own_devices(), reason="there is no OpenCL device here")
def test_a_real_device_passes_all_steps() -> None:
    tried = try_device(own_devices()[0], lambda text: print(text, file=sys.stderr))

    assert [each.step for each in tried] == list(STEPS)
    assert [each for each in tried if each.problem] == []
    figures = {each.step: each.figures for each in tried}
    assert figures["peaks"]["bytes_per_s"] > 0
    assert set(figures["estimates"]) == {"digits", "mobilenetv2", "resnet50"}
