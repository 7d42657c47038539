"""Check files before they are used: a pipe may block, a file may be too large, or writable by another user."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

BLOCK = 2**16
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def open_regular_file(path: Path) -> BufferedReader:
    """Return the file, open for reading.

    Raises OSError, whose `strerror` also names what is not a regular file.
    """
    try:
        _require_regular(os.stat(path), path)  # before it is opened: opening a device may have effects
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except ValueError as error:  # a NUL in its name
        raise OSError(errno.EINVAL, str(error), str(path)) from None
    try:
        _require_regular(os.fstat(descriptor), path)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_regular_file(path: Path, most: int) -> bytes:
    """Return the whole file. Raises OSError, also if it has more than `most` bytes or is not a regular file."""
    with open_regular_file(path) as file:
        content = file.read(min(os.fstat(file.fileno()).st_size, most) + 1)
        while len(content) <= most and (more := file.read(max(BLOCK, len(content)))):  # its size was not known
            content += more
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {_size(most)}", str(path))
    return content


def _require_regular(status: os.stat_result, path: Path) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        number = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
        raise OSError(number, f"it is {KINDS.get(kind, 'no regular file')}, expected a file", str(path))


def _size(number: int) -> str:
    mebibytes, rest = divmod(number, 2**20)
    return f"{number} bytes" if rest or not mebibytes else f"{mebibytes} MiB"


OTHERS_WRITE = 0o022


def why_not_trusted(path: Path, status: os.stat_result) -> str:
    """Return why the file or folder at `path` must not be used, and what to do; empty if it is safe.

    It must belong to this user or root, and not be writable by others. `status`: of the file that was opened, or
    of the folder.
    """
    if status.st_uid not in {0, os.geteuid()}:
        return f"{path} belongs to another user and is not used: remove it, or sudo chown {os.geteuid()} {path}"
    if stat.S_IMODE(status.st_mode) & OTHERS_WRITE:
        return f"{path} may be written by others and is not used: remove it, or chmod go-w {path}"
    return ""
