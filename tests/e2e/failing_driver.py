"""An OpenCL driver that fails when a test says so, in processes that are started for that."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

SHIM = Path(__file__).with_name("opencl_faults.c")
OUT_OF_RESOURCES, NO_DEVICE, LATER, NO_MEMORY = -5, -2, -14, -4


def can_preload() -> bool:
    """Return whether there is a compiler for the shim and an OpenCL to put it before."""
    return bool(shutil.which("gcc") and importlib.util.find_spec("pyopencl"))


class Driver:
    """The OpenCL driver of every process that is started with this `environment`."""

    def __init__(self, folder: Path) -> None:
        self.fault = folder / "opencl_fault"
        library = folder / "opencl_faults.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(SHIM)], check=True)
        self.environment = {"LD_PRELOAD": str(library), "OPENCL_FAULT": str(self.fault)}

    def loses_its_device(self, function: str, code: int) -> None:
        """In the process that calls OpenCL next, `function` gives `code` from then on."""
        new = self.fault.with_suffix(".new")
        new.write_text(f"{function} {code}")
        new.rename(self.fault)
