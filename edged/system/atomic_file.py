"""Write a file atomically: a reader sees either the old content or all of the new one."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from edged.errors import ConfigError

FOR_ALL = 0o644  # mode of a file that is meant to be shared


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
    try:
        with replace_file(path, FOR_ALL) as file:
            file.write(content)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from None


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
