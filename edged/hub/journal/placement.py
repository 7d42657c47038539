"""The journal's files on disk: permissions, whether they still exist, and where damaged ones are moved."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from edged.clock import wall_s
from edged.system.paths import state_directory

READABLE_BY_GROUP = 0o640  # of files; folders can be entered by those who may read the files
PRIVATE = 0o600  # if `security` is configured

_FILES = ("", "-wal", "-shm", ".lock")


def create_folder(folder: Path, mode: int) -> None:
    """Create `folder` and its parents for those who may read files of this mode, whatever the umask.

    Existing folders of edged's own state are closed to other users. Raises OSError.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        each.chmod(_folder_mode(mode))
    if not folder.is_dir():
        folder.mkdir()  # raises the reason
    for each in (folder, *folder.parents):
        if each.is_relative_to(state_directory()):
            _restrict(each, _folder_mode(mode))


def create_file(path: Path, mode: int) -> None:
    """Create `path` with `mode`, whatever the umask, or restrict an older one to it. Raises OSError.

    SQLite gives `-wal` and `-shm` the mode of the file. A stricter mode, set by the administrator, is kept.
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
    """Return the inode of each file of the journal at `path`; None for a missing one. Raises OSError."""
    return {name: _inode(name) for name in _names(path)}


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be used, with its WAL; return the new name, which is unused.

    Earlier quarantined files are kept: they may still be of use. Raises OSError.
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
    """Return the size of the files that were quarantined from `path`. Raises OSError."""
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
    """Remove every permission beyond `mode`, if the file is ours to change."""
    permissions = stat.S_IMODE(path.stat().st_mode)
    if permissions & ~mode:
        with contextlib.suppress(PermissionError):
            path.chmod(permissions & mode)
