"""Read the machine: its board, kernel, memory, clocks, temperatures and disks, and the files that OpenCL needs."""

import grp
import os
import platform
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from edged import __version__
from edged.doctor.facts import DeviceFile, Disk, Drivers, System
from edged.system.host_watch import in_order, number, read, text

TEMPORARY = {"tmpfs", "ramfs"}
SLOWING = {"passive", "hot", "critical"}  # types of trip points at which the kernel acts on the load
HIGHEST_C = 250.0
NODES = ("dev/dri/renderD*", "dev/mali[0-9]*", "dev/kfd", "dev/nvidia[0-9]*")
MODULES = ("panfrost", "panthor", "mali", "mali_kbase", "bifrost_kbase", "lima", "v3d", "msm", "etnaviv")
VARIABLES = (
    "RUSTICL_ENABLE",
    "RUSTICL_FEATURES",
    "OCL_ICD_VENDORS",
    "OPENCL_VENDOR_PATH",
    "LD_LIBRARY_PATH",
    "POCL_DEVICES",
)
LIBMALI = ("usr/lib/libmali*", "usr/lib/*/libmali*", "usr/lib/*/libMali*", "opt/*/lib/libmali*")


def read_system(folders: Mapping[str, Path], root: Path = Path("/")) -> System:
    """Return the facts of the machine. `folders`: those whose disks count, by what they hold."""
    memory = _memory(root)
    return System(
        board=_board(root),
        system=_release(root),
        kernel=platform.release(),
        architecture=platform.machine(),
        processor=_processor(root),
        processors=os.cpu_count() or 1,
        python=platform.python_version(),
        edged=__version__,
        memory=memory.get("MemTotal", 0),
        available=memory.get("MemAvailable", 0),
        host=read(root / "sys"),
        trips=dict(_trips(root)),
        governors=dict(_governors(root)),
        disks=tuple(_disk(what, folder, root) for what, folder in folders.items()),
    )


def _board(root: Path) -> str:
    """Name the board: by its device tree, or by what the maker of a PC has written into it."""
    tree = text(root / "proc/device-tree/model").rstrip("\0")
    names = (text(root / "sys/class/dmi/id" / name) for name in ("sys_vendor", "product_name"))
    return tree or " ".join(filter(None, names)) or "unknown"


def _release(root: Path) -> str:
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', text(root / "etc/os-release"), re.MULTILINE)
    return found[1] if found else "unknown"


def _processor(root: Path) -> str:
    found = re.search(r"^model name\s*:\s*(.*)$", text(root / "proc/cpuinfo"), re.MULTILINE)
    return found[1].strip() if found else ""


def _memory(root: Path) -> dict[str, int]:
    """Read /proc/meminfo, in bytes."""
    lines = re.findall(r"^(\w+):\s*(\d+) kB$", text(root / "proc/meminfo"), re.MULTILINE)
    return {name: int(kilobytes) * 1024 for name, kilobytes in lines}


def _trips(root: Path) -> Iterator[tuple[str, float]]:
    for zone in in_order((root / "sys/class/thermal").glob("thermal_zone*")):
        kinds = zone.glob("trip_point_*_type")
        found = [
            number(kind.with_name(kind.name.replace("_type", "_temp"))) for kind in kinds if text(kind) in SLOWING
        ]
        degrees = [each / 1000 for each in found if each and 0 < each / 1000 < HIGHEST_C]
        if degrees:
            yield text(zone / "type") or zone.name, min(degrees)


def _governors(root: Path) -> Iterator[tuple[str, str]]:
    for policy in in_order((root / "sys/devices/system/cpu/cpufreq").glob("policy*")):
        yield policy.name, text(policy / "scaling_governor")
    for device in in_order((root / "sys/class/devfreq").glob("*")):
        yield device.name, text(device / "governor")


def _disk(what: str, folder: Path, root: Path) -> Disk:
    """Describe the disk of a folder, or of its nearest parent that exists."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    status = os.statvfs(existing)
    return Disk(
        what,
        str(folder),
        free=status.f_bavail * status.f_frsize,
        total=status.f_blocks * status.f_frsize,
        writable=os.access(existing, os.W_OK | os.X_OK),
        temporary=_file_system(existing.resolve(), root) in TEMPORARY,
    )


def _file_system(folder: Path, root: Path) -> str:
    """Return the type of the file system that `folder` is in: that of the longest mount point above it."""
    mounts = (line.split()[1:3] for line in text(root / "proc/self/mounts").splitlines())
    above = {place: kind for place, kind in mounts if folder.is_relative_to(place)}
    return above[max(above, key=len)] if above else ""


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
