"""Real disks that are full, read-only or frozen. Tests that need one are skipped where this user may not mount."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(where: Path, *arguments: str) -> Iterator[Path]:
    """A file system at `where`, as `mount` makes it by these arguments."""
    if os.geteuid():
        pytest.skip("no right to mount here: not root")
    where.mkdir()
    subprocess.run(["mount", *arguments, str(where)], check=True)
    try:
        yield where
    finally:
        subprocess.run(["umount", "--lazy", str(where)], check=True)


@contextmanager
def an_ext4(folder: Path) -> Iterator[Path]:
    """One that can be frozen."""
    if os.geteuid():
        pytest.skip("no right to mount here: not root")
    image = folder / "disk"
    with image.open("wb") as file:
        file.truncate(32 << 20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    with mounted(folder / "ext4", "-o", "loop", str(image)) as disk:
        yield disk


@contextmanager
def a_small_disk(where: Path, size: str = "1m") -> Iterator[Path]:
    """One to be filled."""
    with mounted(where, "-t", "tmpfs", "-o", f"size={size}", "none") as disk:
        yield disk


def fill(disk: Path) -> Path:
    """Leave no byte; the file that takes them all."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (4096, 512, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return ballast


@contextmanager
def frozen(disk: Path) -> Iterator[None]:
    """Whoever writes there now is stuck in the kernel (state D), beyond SIGKILL, until this ends."""
    subprocess.run(["fsfreeze", "--freeze", str(disk)], check=True)
    try:
        yield
    finally:
        subprocess.run(["fsfreeze", "--unfreeze", str(disk)], check=True)
