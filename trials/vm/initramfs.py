"""The first file system of the machine: busybox, the drivers of its disks, and a script that goes on."""

import gzip
import subprocess
from collections.abc import Iterator
from pathlib import Path

# What Debian's kernel has as modules and needs before it can read its root file system.
DRIVERS = ("virtio_pci", "virtio_mmio", "virtio_blk", "crc32c_generic", "ext4")
FOLDER, FILE, PROGRAM = 0o040755, 0o100644, 0o100755

INIT = """#!/bin/busybox sh
/bin/busybox mount -t proc none /proc
/bin/busybox mount -t devtmpfs none /dev
{drivers}
while [ ! -b /dev/vda ]; do /bin/busybox sleep 0.1; done
/bin/busybox mount -t ext4 /dev/vda /root
/bin/busybox umount /proc
exec /bin/busybox switch_root /root /sbin/init
"""


def write_initramfs(root: Path, to: Path) -> None:
    """`root`: the unpacked packages, with busybox and one kernel."""
    (modules,) = (root / "usr/lib/modules").iterdir()
    subprocess.run(["depmod", "--basedir", root, modules.name], check=True)
    drivers = list(_in_order(modules))
    init = INIT.format(drivers="\n".join(f"/bin/busybox insmod /{driver.name}" for driver in drivers))
    entries = [(name, FOLDER, b"") for name in ("bin", "dev", "proc", "root")]
    entries += [("bin/busybox", PROGRAM, (root / "bin/busybox").read_bytes())]
    entries += [("init", PROGRAM, init.encode())]
    entries += [(driver.name, FILE, driver.read_bytes()) for driver in drivers]
    to.write_bytes(gzip.compress(_cpio(entries), compresslevel=1))


def _in_order(modules: Path) -> Iterator[Path]:
    """The drivers' files, each after those that it needs."""
    needs: dict[str, list[str]] = {}
    for line in (modules / "modules.dep").read_text().splitlines():
        name, _, needed = line.partition(":")
        needs[name] = needed.split()
    by_name = {Path(path).stem: path for path in needs}
    wanted: dict[str, None] = {}  # in order, each once
    for driver in DRIVERS:
        if path := by_name.get(driver):  # else it is a part of the kernel
            wanted.update(dict.fromkeys([*reversed(needs[path]), path]))
    return (modules / path for path in wanted)


def _cpio(entries: list[tuple[str, int, bytes]]) -> bytes:
    """An archive in the kernel's format (its documentation: early-userspace/buffer-format)."""
    archive = bytearray()
    for number, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        archive += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        archive += bytes(-len(archive) % 4)
        archive += content
        archive += bytes(-len(archive) % 4)
    return bytes(archive)
