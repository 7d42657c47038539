"""The OpenCL runtimes on which the kernels are tested: CI must have every one of them for the deep ones."""

import os
import platform

import pytest

from edged.engine.device import list_devices

POCL, INTEL = "Portable Computing Language", "Intel(R) OpenCL"


@pytest.mark.deep
@pytest.mark.skipif(os.environ.get("CI") != "true", reason="only CI must have every OpenCL runtime")
def test_every_runtime_is_here() -> None:
    expected = {POCL, INTEL} if platform.machine() == "x86_64" else {POCL}
    assert expected <= {device.platform for device in list_devices()}, "apt install pocl-opencl-icd; make intel"
