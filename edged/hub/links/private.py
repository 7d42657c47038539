"""The folder that the hub shares with its children and with `edged reload`, and with nobody else."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edged.errors import ConfigError


@contextmanager
def private_folder(folder: Path) -> Iterator[Path]:
    """`folder`, empty and for this process alone, until the end. What a hub that was killed has left is removed.

    Raises ConfigError where another daemon uses it, or nobody can.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be used for sockets: {error.strerror}") from None
    try:
        _take(folder, lock)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _take(folder: Path, lock: int) -> None:
    status = os.fstat(lock)
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise ConfigError(f"{folder} is not this user's alone: remove it, another program has made it")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ConfigError(f"another edged with the same journal runs (it uses {folder}): stop that one") from None
    for left in folder.iterdir():
        left.unlink()


def link_address(folder: Path) -> str:
    """Where the hub hears its children and `edged reload`."""
    return f"ipc://{folder}/hub"


def snapshot_path(folder: Path) -> Path:
    """The config by which the hub runs: what a child reads, whatever becomes of the user's file meanwhile."""
    return folder / "config.json"
