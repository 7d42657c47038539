"""The machines that can be had, and what everybody calls their architecture."""

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

KVM = Path("/dev/kvm")
CPUINFO = Path("/proc/cpuinfo")
# program: Debian's package; nothing is installed here without being asked for
PROGRAMS = {"mmdebstrap": "mmdebstrap", "mkfs.ext4": "e2fsprogs", "depmod": "kmod", "git": "git"}
QEMU = {"qemu-system-x86_64": "qemu-system-x86", "qemu-system-aarch64": "qemu-system-arm"}


@dataclass(frozen=True)
class Machine:
    """One architecture."""

    name: str
    debian: str
    python: str
    qemu: str
    model: tuple[str, ...]
    console: str
    checks: tuple[str, ...]

    @property
    def has_kvm(self) -> bool:
        """Whether this host can run it without emulating each instruction.

        A /dev/kvm that can be opened is not enough: where the processor offers no virtualisation, nothing boots.
        """
        if platform.machine() != self.python or not os.access(KVM, os.R_OK | os.W_OK):
            return False
        return self.python != "x86_64" or not {"vmx", "svm"}.isdisjoint(CPUINFO.read_text().split())

    @property
    def options(self) -> tuple[str, ...]:
        """QEMU's: the machine, its processors and its memory."""
        accelerator = ("-accel", "kvm" if self.has_kvm else "tcg,thread=multi")
        return (*self.model, *accelerator, "-smp", "2", "-m", "1500")


X86, ARM = ("-M", "q35", "-cpu", "max"), ("-M", "virt", "-cpu", "cortex-a72")
# The files of guest/checks in the order in which they run: the first one's machine has had no camera yet.
ALL = ("unplug", "buffers", "disk", "clock", "memory", "devices", "restarts")
MACHINES = (
    Machine("x86-64", "amd64", "x86_64", "qemu-system-x86_64", X86, "ttyS0", ALL),
    Machine("arm64", "arm64", "aarch64", "qemu-system-aarch64", ARM, "ttyAMA0", ALL),
)


def why_not(machine: Machine) -> str | None:
    """Why this host cannot run it, or None."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
    needed = {**PROGRAMS, machine.qemu: QEMU[machine.qemu]}
    packages = [package for program, package in needed.items() if not shutil.which(program, path=path)]
    if packages:
        return f"apt-get install --no-install-recommends {' '.join(packages)}"
    if os.geteuid() != 0:
        return "unpacking Debian's packages with their owners needs root: sudo make vm-test"
    return None
