"""The OpenCL runtimes on which the kernels are tested. CI must have them: to skip one of these fails there."""

import platform

import pytest

from edged.engine.device import list_devices


def test_pocl_is_there() -> None:
    if "Portable Computing Language" not in {device.platform for device in list_devices()}:
        pytest.skip("PoCL is not installed (on Debian: apt install pocl-opencl-icd)")


def test_intels_runtime_is_there() -> None:
    if platform.machine() != "x86_64":
        pytest.skip(f"no Intel runtime for {platform.machine()}")
    if "Intel(R) OpenCL" not in {device.platform for device in list_devices()}:
        pytest.skip("Intel's OpenCL runtime is not installed (make intel)")
