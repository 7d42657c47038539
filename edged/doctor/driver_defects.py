"""Defects of OpenCL drivers that are known, and what edged or its user does about them.

A row is of one platform, from a version of its driver on and below another one. Sources: `measured`, by this
project; `reported`, in issues and release notes of others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from edged.doctor.facts import ExaminedDevice

Version = tuple[int, ...]

POCL = "Portable Computing Language"
RUSTICL = "rusticl"
INTEL = "Intel(R) OpenCL"
ARM = "ARM Platform"


@dataclass(frozen=True)
class Defect:
    """A defect of the drivers of `platform` from version `first` on, and below `below`, in which it was not seen.

    `remedy`: what the user does; empty if edged works around it by itself, as `workaround` says.
    """

    platform: str
    what: str
    workaround: str
    source: Literal["measured", "reported"]
    first: Version = ()
    below: Version | None = None
    remedy: str = ""
    name: str = ""  # a pattern of the device's name, if it is of some devices alone


KNOWN = (
    Defect(
        POCL,
        "PyPI's build does not know newer AMD processors (unknown target CPU 'generic')",
        "no setting helps",
        "measured",
        first=(3, 0),
        below=(3, 1),
        remedy="pip uninstall pocl-binary-distribution; sudo apt install pocl-opencl-icd",
    ),
    Defect(
        POCL,
        "compiles for an older processor where it does not know this one, and ends its process at builtins "
        "for dot products",
        "edged reaches these by inline assembly, tried in a process of its own",
        "measured",
        first=(3, 1),
        below=(3, 2),
    ),
    Defect(
        POCL,
        "ends its process where a kernel has inline assembly",
        "edged uses none there: no dot products of bytes, and waiting processors do not pause",
        "measured",
        first=(6, 0),
        below=(7,),
    ),
    Defect(
        POCL,
        "ends its process where /sys is not mounted",
        "NumPy takes over",
        "measured",
        first=(3, 1),
        below=(3, 2),
    ),
    Defect(
        POCL,
        "calls an Arm processor of 64 bits 'pthread', and gives it vectors of 1",
        "answers are right: 30 of 30 of the demo",
        "measured",
        first=(3, 1),
        below=(3, 2),
        name="^pthread$",
    ),
    Defect(
        POCL,
        "its own cache also runs incomplete entries",
        "edged turns it off and keeps its own",
        "measured",
    ),
    Defect(
        RUSTICL,
        "its compiler ends the process at clang's builtins (llvm.prefetch.p1), which __has_builtin promises",
        "edged uses none of them there",
        "measured",
        first=(22, 3),
        below=(25, 1),
    ),
    Defect(
        RUSTICL,
        "too old: convolutions failed, and compiling took 36 s",
        "none",
        "measured",
        below=(23,),
        remedy="install Mesa 25 or newer (Debian 13), or sudo apt install pocl-opencl-icd",
    ),
    Defect(
        RUSTICL,
        "prints 'Patched Mesa libclc not detected' at each start where libclc is LLVM's own; that of LLVM 22 is "
        "known to have faults",
        "edged compares every kernel with the reference before it is used",
        "reported",
        first=(26, 2),
    ),
    Defect(
        RUSTICL,
        "a launch costs several times that of Arm's driver (624 µs against 85 µs on a Mali-G710)",
        "edged fuses layers into few launches; compare libmali",
        "reported",
        name="Mali",
    ),
    Defect(
        ARM,
        "compiles at clCreateKernel, so binaries that are read before hold nothing: 30 to 60 s at each start",
        "edged creates all kernels first, then keeps their binaries",
        "reported",
    ),
    Defect(
        ARM,
        "may need memory that is both writable and executable, which the unit of edged forbids",
        "its drop-in writable-executable-memory.conf permits it",
        "reported",
    ),
    Defect(
        ARM,
        "Winograd and tuned kernels of several engines gave wrong answers",
        "edged compares every variant with the reference before it is used",
        "reported",
    ),
    Defect(
        INTEL,
        "compiles for 4 to 5 s a network",
        "edged keeps the binaries",
        "measured",
    ),
)


def known_defects(device: ExaminedDevice) -> Iterator[Defect]:
    """Yield the rows that apply to a device."""
    version = version_of(device.driver)
    for defect in KNOWN:
        is_of_device = defect.platform == device.platform and re.search(defect.name, device.name)
        if is_of_device and _is_of_version(defect, version):
            yield defect


def _is_of_version(defect: Defect, version: Version) -> bool:
    if not version:
        return not defect.first and defect.below is None
    return version[: len(defect.first)] >= defect.first and (defect.below is None or version < defect.below)


def version_of(text: str) -> Version:
    """Return the first version in a text: (25, 0, 7) of `25.0.7-2`; empty if there is none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(map(int, found[0].split("."))) if found else ()
