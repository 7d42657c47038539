"""The files of a journal on the disk: who may read them, whether they are still there, where damaged ones go."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from edged.clock import wall_s
from edged.system.paths import state_directory

READABLE_BY_GROUP = 0o640  # files; their folder may be entered by those who may read them
PRIVATE = 0o600  # where `security` is set

_FILES = ("", "-wal", "-shm", ".lock")


def create_folder(folder: Path, mode: int) -> None:
    """Create `folder` and its parents for those who may read files of this mode, whatever the umask.

    Of folders that are there already those of edged's own state are closed to everybody else. Raises OSError.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        each.chmod(_folder_mode(mode))
    if not folder.is_dir():
        folder.mkdir()  # raises what is wrong
    for each in (folder, *folder.parents):
        if each.is_relative_to(state_directory()):
            _restrict(each, _folder_mode(mode))


def create_file(path: Path, mode: int) -> None:
    """Create `path` with `mode`, whatever the umask, or close an older one to everybody else. Raises OSError.

    SQLite gives `-wal` and `-shm` the mode of the file. One that the administrator has closed further stays so.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        if not path.is_file():
            raise OSError(errno.EEXIST, "it is a folder or a device, not a file") from None
        for name in _names(path):
            if name.exists():
                _restrict(name, mode)
        return
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def inodes(path: Path) -> dict[Path, int | None]:
    """Of each file of the journal at `path`; None for one that is missing. Raises OSError where the disk fails."""
    return {name: _inode(name) for name in _names(path)}


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be used, with its WAL; the new name, which no other file has had.

    What was set aside before stays: somebody may still want it. Raises OSError.
    """
    aside = next(name for name in _names_aside(path) if not name.exists())
    path.rename(aside)
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists() and wal.stat().st_size:
        wal.rename(aside.with_name(f"{aside.name}-wal"))
    wal.unlink(missing_ok=True)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    return aside


def bytes_aside(path: Path) -> int:
    """What the files take that were set aside from `path`. Raises OSError."""
    with os.scandir(path.parent) as entries:
        return sum(each.stat().st_size for each in entries if each.name.startswith(f"{path.name}.damaged-"))


def _names(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in _FILES]


def _names_aside(path: Path) -> Iterator[Path]:
    name = f"{path.name}.damaged-{round(wall_s())}"
    yield path.with_name(name)
    number = 2
    while True:
        yield path.with_name(f"{name}-{number}")
        number += 1


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None


def _folder_mode(mode: int) -> int:
    return mode | (mode & 0o444) >> 2


def _restrict(path: Path, mode: int) -> None:
    """Take away every permission beyond `mode`, where the file is ours to change."""
    permissions = stat.S_IMODE(path.stat().st_mode)
    if permissions & ~mode:
        with contextlib.suppress(PermissionError):
            path.chmod(permissions & mode)
