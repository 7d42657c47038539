"""Keep the answers of an evaluation in a file until it is complete, so that an interrupted one can be resumed."""

import json
import logging
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from edged.system.exclusive_lock import try_lock
from edged.system.files import why_not_trusted
from edged.system.paths import cache_directory

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class KeptAnswers(Generic[Answer]):
    """The answers of one evaluation, in the order of its pictures. `known`: those of an interrupted run.

    Two processes with the same evaluation do not share the file: the second one keeps nothing.
    """

    def __init__(self, kind: type[Answer], key: Sequence[object], folder: Path | None = None) -> None:
        """`key`: everything that the answers depend on, as JSON values. `kind`: of the answers, a dataclass."""
        digest = sha256(json.dumps(key).encode()).hexdigest()
        self._path = (folder or cache_directory() / "evaluations") / f"{digest}.jsonl"
        self._kind = kind
        self.known: list[Answer] = []
        self._file = self._opened()

    def restart(self) -> None:
        """Delete the answers of the interrupted run."""
        self.known = []
        if self._file is not None:
            os.ftruncate(self._file, 0)

    def append(self, answers: Sequence[Answer]) -> None:
        """Write further answers. If the disk refuses them, a warning is logged and nothing is kept."""
        if self._file is None:
            return
        try:
            os.write(self._file, b"".join(msgspec.json.encode(each) + b"\n" for each in answers))
        except OSError as error:
            log.warning("%s: the answers cannot be kept: %s", self._path, error.strerror)
            self.remove()

    def remove(self) -> None:
        """Delete the file: the evaluation is complete."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Close the file, so that another run can resume."""
        if self._file is not None:
            os.close(self._file)
        self._file = None

    def _opened(self) -> int | None:
        """Open and lock the file, and read what it holds; None, with a warning, where that is impossible."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            log.warning("an interrupted evaluation cannot be resumed: %s: %s", self._path, error.strerror)
            return None
        problem = why_not_trusted(self._path, os.fstat(descriptor))
        if not problem and try_lock(descriptor):
            self._read(descriptor)
            return descriptor
        log.warning("this evaluation is not kept: %s", problem or f"another process writes {self._path}")
        os.close(descriptor)
        return None

    def _read(self, descriptor: int) -> None:
        """Read the answers up to the first damaged line, and cut the file there."""
        with os.fdopen(os.dup(descriptor), "rb") as file:
            content = file.read()
        end = 0
        for line in content.splitlines(keepends=True):
            answer = self._answer_in(line)
            if answer is None:
                break
            self.known.append(answer)
            end += len(line)
        os.ftruncate(descriptor, end)

    def _answer_in(self, line: bytes) -> Answer | None:
        try:
            return msgspec.json.decode(line, type=self._kind) if line.endswith(b"\n") else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
