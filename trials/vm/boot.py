"""One run of a machine: boot, install, test, power off."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from trials.vm.checkout import write_checkout, write_state
from trials.vm.image import Image
from trials.vm.machines import Machine

# What the machine writes, each into a file of that name: a line a test, pytest's words, the service's journal.
PORTS = REPORTS, LOG, JOURNAL = ("reports", "log", "journal")
CONSOLE = "console"


def boot(machine: Machine, image: Image, folder: Path, arguments: str) -> "subprocess.Popen[bytes]":
    """Start the machine, which switches itself off after its tests; what it writes goes into `folder`."""
    checkout, state = folder / "checkout.img", folder / "state.img"
    write_checkout(checkout, arguments)
    write_state(state)
    for name in (*PORTS, CONSOLE):
        (folder / name).touch()
    command = (machine.qemu, *machine.options, *_options(machine, image, folder, checkout, state))
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)


def _options(machine: Machine, image: Image, folder: Path, *more_disks: Path) -> Sequence[str]:
    kernel = f"console={machine.console} panic=-1 systemd.getty_auto=no systemd.show_status=no"
    options = ["-nodefaults", "-display", "none", "-no-reboot", "-serial", f"file:{folder / CONSOLE}"]
    options += ["-kernel", str(image.kernel), "-initrd", str(image.initramfs), "-append", kernel]
    for number, disk in enumerate((image.disk, *more_disks)):
        options += ["-drive", f"file={disk},format=raw,if=none,id=disk{number},snapshot=on,cache=unsafe"]
        options += ["-device", f"virtio-blk-pci,drive=disk{number}"]
    options += ["-device", "virtio-serial-pci", "-device", "virtio-rng-pci"]
    for name in PORTS:
        options += ["-chardev", f"file,id={name},path={folder / name}"]
        options += ["-device", f"virtserialport,chardev={name},name=edged.{name}"]
    return options
