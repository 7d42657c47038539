"""Every test of a kernel runs on every OpenCL device."""

from pathlib import Path

import pytest

from edged.engine.device import Device, list_devices
from tests.engine.lab import Lab

DEVICES = list_devices()


@pytest.fixture(
    scope="session",
    params=DEVICES,
    ids=[f"{device.platform}-{device.kind}".replace(" ", "_") for device in DEVICES],
)
def device(request: pytest.FixtureRequest) -> Device:
    """An OpenCL device of this machine."""
    found: Device = request.param
    return found


@pytest.fixture(scope="session")
def lab(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Where single operators run on `device`; programs are kept for the session."""
    return Lab(device, tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="session")
def programs_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that the tests of a session share."""
    return tmp_path_factory.mktemp("runtime-programs")
