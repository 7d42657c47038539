"""The machines that can be had, and what everybody calls their architecture."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

KVM = Path("/dev/kvm")
CPUINFO = Path("/proc/cpuinfo")


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
