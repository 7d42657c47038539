"""A real file system that can be frozen: who writes to it hangs in the kernel (D state), beyond SIGKILL."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

MEGABYTES = 64


@dataclass(frozen=True)
class FrozenDisk:
    """Mounted at `path`."""

    path: Path

    def freeze(self) -> None:
        run("fsfreeze", "--freeze", self.path)

    def thaw(self) -> None:
        subprocess.run(["fsfreeze", "--unfreeze", self.path], check=False, capture_output=True)


@contextmanager
def disk_to_freeze(folder: Path) -> Iterator[FrozenDisk]:
    """A small file system of its own; thawed and gone at the end. Skips the test where none can be mounted."""
    image, path = folder / "disk.img", folder / "disk"
    path.mkdir()
    with image.open("wb") as file:
        file.truncate(MEGABYTES << 20)
    if os.geteuid() or not shutil.which("fsfreeze") or not shutil.which("mkfs.ext4"):
        pytest.skip("freezing a file system takes root, fsfreeze and mkfs.ext4")
    run("mkfs.ext4", "-q", image)
    if subprocess.run(["mount", "-o", "loop", image, path], check=False, capture_output=True).returncode:
        pytest.skip("no loop device can be mounted here")
    disk = FrozenDisk(path)
    try:
        yield disk
    finally:
        disk.thaw()
        run("umount", "--lazy", path)


def run(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True)
