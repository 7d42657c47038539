"""What this host lacks for a machine, and how to get it."""

import os
import shutil

from tests.vm.machines import Machine

# program: Debian's package; nothing is installed here without being asked for
PROGRAMS = {"mmdebstrap": "mmdebstrap", "mkfs.ext4": "e2fsprogs", "depmod": "kmod", "git": "git"}
QEMU = {"qemu-system-x86_64": "qemu-system-x86", "qemu-system-aarch64": "qemu-system-arm"}


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
