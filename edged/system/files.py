"""Read and write files safely: written whole or not at all; never a pipe, too large, or writable by others."""

import errno
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from edged import __version__
from edged.errors import ConfigError, EdgedError, NewerStateError
from edged.system.plain_text import printable

FOR_ALL = 0o644  # mode of a file that is meant to be shared
BLOCK = 2**16
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
OTHERS_WRITE = 0o022


@contextmanager
def reading(what: object, failure: type[EdgedError] = ConfigError, advice: str = "") -> Iterator[None]:
    """Raise `failure` where the block cannot read `what`: a path, or words for it. `advice`: what to do."""
    with _described(what, "read", failure, advice):
        yield


@contextmanager
def writing(what: object, failure: type[EdgedError] = ConfigError, advice: str = "") -> Iterator[None]:
    """Raise `failure` where the block cannot write `what`. See `reading`."""
    with _described(what, "written", failure, advice):
        yield


@contextmanager
def _described(what: object, verb: str, failure: type[EdgedError], advice: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        then = f"; {advice}" if advice else ""
        raise failure(f"{what}: cannot be {verb}: {error.strerror}{then}") from None


@contextmanager
def replace_file(path: Path, mode: int = 0o600, durable: bool = True) -> Iterator[BinaryIO]:
    """Write a new file, which replaces `path` if the block ends well; else `path` stays as it is.

    `durable`: it survives a power failure from then on; otherwise it may be empty after one. A process that is
    killed leaves `.NAME-…` beside it. Raises OSError.
    """
    unfinished = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as file:
            os.fchmod(file.fileno(), mode)
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    if durable:
        _sync_folder(path.parent)


def write_result(path: Path, content: bytes) -> None:
    """Write the file of a command, for all users to read. Raises ConfigError."""
    with writing(path), replace_file(path, FOR_ALL) as file:
        file.write(content)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


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
        mebibytes, rest = divmod(most, 2**20)
        limit = f"{most} bytes" if rest or not mebibytes else f"{mebibytes} MiB"
        raise OSError(errno.EFBIG, f"it has more than {limit}", str(path))
    return content


def _require_regular(status: os.stat_result, path: Path) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        number = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
        raise OSError(number, f"it is {KINDS.get(kind, 'no regular file')}, expected a file", str(path))


def why_not_trusted(path: Path, status: os.stat_result) -> str:
    """Return why the file or folder at `path` must not be used, and what to do; empty if it is safe.

    It must belong to this user or root, and not be writable by others. `status`: of the file that was opened, or
    of the folder.
    """
    if status.st_uid not in {0, os.geteuid()}:
        return f"{path} belongs to another user and is ignored: remove it, or sudo chown {os.geteuid()} {path}"
    if stat.S_IMODE(status.st_mode) & OTHERS_WRITE:
        return f"{path} is writable by other users and is ignored: remove it, or chmod go-w {path}"
    return ""


def refuse_newer(path: Path, content: bytes, known: int) -> None:
    """Raises NewerStateError for JSON of the state whose `schema` is beyond `known`. Damaged JSON passes.

    The number grows when files of old versions would be misunderstood. The journal has one in its header.
    """
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return
    schema = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(schema, int) or schema <= known:
        return
    writer = printable(str(found.get("edged", ""))[:20]) or "of a newer version"
    raise NewerStateError(
        f"{path} has schema {schema} and was written by edged {writer}; this is edged {__version__}, which knows "
        f"schema {known}: install that version again, or move the file away. Nothing was changed"
    )
