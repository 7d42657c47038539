"""What OpenCL needs: device files with their kernel drivers, and the drivers that the loader finds."""

import grp
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from edged.cli.doctor.facts import DeviceFile, Drivers
from edged.system.host_watch import in_order, text

NODES = ("dev/dri/renderD*", "dev/mali[0-9]*", "dev/kfd", "dev/nvidia[0-9]*")
MODULES = ("panfrost", "panthor", "mali", "mali_kbase", "bifrost_kbase", "lima", "v3d", "msm", "etnaviv")
VARIABLES = ("RUSTICL_ENABLE", "OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "LD_LIBRARY_PATH", "POCL_DEVICES")
LIBMALI = ("usr/lib/libmali*", "usr/lib/*/libmali*", "usr/lib/*/libMali*", "opt/*/lib/libmali*")


def read_drivers(environment: Mapping[str, str], root: Path = Path("/")) -> Drivers:
    """Return what is there below `root`, and the variables that drivers read."""
    nodes = (node for pattern in NODES for node in in_order(root.glob(pattern)))
    libraries = (library for pattern in LIBMALI for library in in_order(root.glob(pattern)))
    return Drivers(
        nodes=tuple(_node(node, root) for node in nodes),
        modules=tuple(name for name in MODULES if (root / "sys/module" / name).exists()),
        vendors={file.name: text(file) for file in in_order((root / "etc/OpenCL/vendors").glob("*.icd"))},
        libmali=tuple(f"/{library.relative_to(root)}" for library in libraries),
        variables={name: environment[name] for name in VARIABLES if name in environment},
    )


def _node(node: Path, root: Path) -> DeviceFile:
    status = node.stat()
    kind = "drm" if node.parent.name == "dri" else "misc"
    driver = root / "sys/class" / kind / node.name / "device/driver"
    return DeviceFile(
        path=f"/{node.relative_to(root)}",
        driver=driver.resolve().name if driver.exists() else "",
        group=_group(status.st_gid),
        mode=stat.filemode(status.st_mode),
        usable=os.access(node, os.R_OK | os.W_OK),
    )


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
