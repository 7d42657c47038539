"""The machine and the versions of all who take part: the head of the table."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from edged.engine.device import find_device

PACKAGES = ("edged", "onnxruntime", "openvino", "ncnn", "tinygrad", "opencv-python-headless", "pyopencl", "numpy")


def describe(device: str) -> dict[str, str]:
    """Name and value of each line."""
    found = find_device(device)
    return {
        "CPU": f"{_cpu()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "OpenCL": f"{found.name}, {found.version}, {found.kind}, vectors of {found.vector_width} floats",
        **{package: _version(package) for package in PACKAGES},
        "CLBlast": _clblast(),
    }


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _clblast() -> str:
    libraries = sorted(Path("/usr/lib").glob("**/libclblast.so.1.*"))
    return libraries[0].name.partition(".so.")[2] if libraries else "not installed"
