"""Every test of a kernel runs on every OpenCL device."""

from pathlib import Path

import pytest

from edged.engine.device import Device, list_devices
from edged.engine.instruction_trials import with_instructions
from tests.compiled import compiled_by
from tests.engine.lab import RANDOM, Lab
from tests.own_values import restart
from tests.runtimes import own_devices


def name_of(device: Device) -> str:
    return f"{device.platform}-{device.kind}".replace(" ", "_")


DEVICES = [with_instructions(device, compiled_by("instructions")) for device in list_devices()]
CPUS = [device for device in DEVICES if device.kind == "cpu"]
# what `make intel` adds is for make test-all, so that make test is the same where it is installed
ADDED = [device for device in CPUS if device.platform == "Intel(R) OpenCL" and len(CPUS) > 1]
# Whole networks take minutes to compile: one runtime of a CPU has them all, Intel's in half of the time of PoCL
FOR_NETWORKS = [device for device in DEVICES if device not in CPUS or device == [*ADDED, *CPUS][0]]
ALL = [pytest.param(each, id=name_of(each), marks=[pytest.mark.deep] if each in ADDED else []) for each in DEVICES]


@pytest.fixture(scope="session", params=FOR_NETWORKS, ids=[name_of(device) for device in FOR_NETWORKS])
def network_device(request: pytest.FixtureRequest) -> Device:
    """An OpenCL device of this machine, of several for one CPU one alone: for whole networks."""
    found: Device = request.param
    return found


@pytest.fixture(scope="session", params=ALL)
def device(request: pytest.FixtureRequest) -> Device:
    """An OpenCL device of this machine."""
    found: Device = request.param
    return found


@pytest.fixture(scope="session")
def lab(device: Device) -> Lab:
    """Where single operators run on `device`; programs are kept for all processes of a run."""
    return Lab(device, compiled_by("programs"))


@pytest.fixture(scope="session")
def programs_directory() -> Path:
    """A cache that the tests of a run share."""
    return compiled_by("networks")


@pytest.fixture(autouse=True)
def values_of_its_own(request: pytest.FixtureRequest) -> None:
    """Let a test draw the same values from the lab whichever tests ran before it."""
    restart(RANDOM, request.node.nodeid)


@pytest.fixture
def own_device() -> Device:
    """A device of the machine's own runtimes: processes that a test starts see no other."""
    return own_devices()[0]
