"""A cache on disk, from one start to the next.

An entry is a file named by its key: a format line, a checksum over key and content, and from byte `HEADER` the
content. One that is damaged or has another key counts as absent, and so does one that another user could have
written, since the checksum is not secret. Entries are mapped: a process loads only the parts that it reads, and
shares them with others.
"""

import logging
import mmap
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from edged.system.files import replace_file, why_not_trusted

FORMAT = b"edged cache 2\n"  # change the number when the meaning of an entry changes
ANY_FORMAT = re.compile(rb"edged (cache|program) \d+\n")
CHECKSUM = slice(32, 64)
HEADER = 4096  # a page: alignment in the content is alignment in memory
AT_ONCE = 1 << 24  # bytes

log = logging.getLogger(__name__)

Piece = bytes | memoryview


@dataclass(frozen=True)
class CacheEntry:
    """The mapped file at `path`, whose content is still unread. It stays valid after the file is removed."""

    path: Path
    key: str
    file: memoryview

    @property
    def content(self) -> memoryview:
        return self.file[HEADER:]

    def is_whole(self) -> bool:
        """Read all of it, and return whether it is whole. A damaged one of this version is logged."""
        if self.file[: len(FORMAT)] != FORMAT and ANY_FORMAT.match(self.file):
            log.debug("%s is of another version: building it again", self.path)
            return False
        digest = sha256(FORMAT + self.key.encode())
        digest.update(self.content)
        whole = bytes(self.file[CHECKSUM]) == digest.digest()
        if not whole:
            log.warning("%s is damaged: building it again", self.path)
        return whole


def read_once(content: memoryview, at_once: int = AT_ONCE) -> Iterator[memoryview]:
    """Yield the content of a mapped entry in pieces of `at_once` bytes, which are whole pages.

    Each leaves this process's memory before the next one comes: it stays in that of the system.
    """
    file = content.obj
    assert isinstance(file, mmap.mmap)  # noqa: S101 - memoryview's type is wider
    for begin in range(0, len(content), at_once):
        piece = content[begin : begin + at_once]
        yield piece
        file.madvise(mmap.MADV_DONTNEED, HEADER + begin, len(piece))


class CacheEntries:
    """The entries of a folder with one suffix: up to `limit` bytes; the least recently used are removed."""

    def __init__(self, directory: Path, suffix: str, limit: int = 2**29) -> None:
        self._directory = directory
        self._suffix = suffix
        self._limit = limit

    def find(self, key: str) -> CacheEntry | None:
        """Return the entry saved under `key`, unchecked, or None."""
        path = self._path(key)
        if not self._is_trusted():
            return None
        try:
            with path.open("rb") as file:
                if problem := why_not_trusted(path, os.fstat(file.fileno())):
                    _warn(problem)
                    return None
                mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):  # absent, not readable, or empty
            return None
        with suppress(OSError):
            path.touch()  # used now
        return CacheEntry(path, key, mapped)

    def load(self, key: str) -> memoryview | None:
        """Return the content saved under `key`, if it is whole, or None."""
        entry = self.find(key)
        return entry.content if entry and entry.is_whole() else None

    def list_keys(self) -> list[str]:
        """Return the keys of all entries, whole or not."""
        return sorted(path.stem for path in self._directory.glob(f"*.{self._suffix}") if path.name[0] != ".")

    def save(self, key: str, pieces: Iterable[Piece]) -> None:
        """Write the entry in one step: a reader sees all of it or none. Raises OSError.

        Nothing is written into a folder that is not trusted.
        """
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._is_trusted():
            return
        digest = sha256(FORMAT + key.encode())
        with replace_file(self._path(key), durable=False) as file:  # a damaged entry is detected and rebuilt
            file.seek(HEADER)
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
            file.seek(0)
            file.write(FORMAT.ljust(CHECKSUM.start, b"\0") + digest.digest())
        self._make_room(key)

    def _is_trusted(self) -> bool:
        try:
            problem = why_not_trusted(self._directory, self._directory.stat())
        except OSError:  # absent or unreadable: not trusted
            return True
        if problem:
            _warn(problem)
        return not problem

    def _make_room(self, newest: str) -> None:
        """Remove the least recently used entries. A process that has mapped one keeps it."""
        found = [(file.stat(), file) for file in self._directory.glob(f"*.{self._suffix}")]
        size = sum(status.st_size for status, _ in found)
        for status, file in sorted(found, key=lambda one: one[0].st_mtime_ns):
            if size > self._limit and file != self._path(newest):
                file.unlink(missing_ok=True)
                size -= status.st_size

    def _path(self, key: str) -> Path:
        return self._directory / f"{key}.{self._suffix}"


@cache
def _warn(message: str) -> None:
    """Warn once: a start looks up many entries."""
    log.warning("%s", message)


@cache
def code_sha256(package: str) -> str:
    """Return a hash of a package's source, for keys of what its code produced."""
    digest = sha256()
    for file in _sources(files(package)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable) -> list[Traversable]:
    """Return every source file by name, including those in sub-folders."""
    found = []
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir():
            found += _sources(one)
        elif one.name.endswith((".py", ".cl")):
            found.append(one)
    return found
