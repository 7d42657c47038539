"""Which OpenCL runtimes the tests see."""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from edged.engine.device import Device

# Where `make intel` puts it. Its wheel has an .icd file too, but that names a folder of the packager's.
INTEL = Path(sys.prefix, "lib", "libintelocl.so")


def load_intel_too() -> None:
    """Let this process see Intel's runtime beside those of the machine, where it is installed.

    The loader reads the environment once. Processes that a test starts see the machine's own runtimes alone, as a
    user's do.
    """
    if "OCL_ICD_VENDORS" in os.environ or not INTEL.is_file():
        return
    with TemporaryDirectory() as vendors, pytest.MonkeyPatch.context() as environment:
        for runtime in Path("/etc/OpenCL/vendors").glob("*.icd"):
            shutil.copy(runtime, vendors)
        Path(vendors, "intel.icd").write_text(str(INTEL))
        environment.setenv("OCL_ICD_VENDORS", vendors)
        from edged.engine.device import list_devices

        list_devices()


def own_devices() -> "list[Device]":
    """The devices of the machine's own runtimes; where it has none, those that were added for the tests."""
    from edged.engine.device import list_devices

    devices = [*list_devices()]
    return [device for device in devices if device.platform != "Intel(R) OpenCL"] or devices
