"""Compiled programs on disk. An entry that is damaged or not what it claims to be is as good as absent."""

import logging
import tempfile
from hashlib import sha256
from pathlib import Path

FORMAT = b"edged program 1\n"  # change it when the meaning of a key or an entry changes

log = logging.getLogger(__name__)


class Binaries:
    """Files named by their key, each a format line, a checksum over key and content, and the content."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def load(self, key: str) -> bytes | None:
        """What was saved under `key`, or None."""
        try:
            entry = self._path(key).read_bytes()
        except OSError:
            return None
        checksum, content = entry[len(FORMAT) :][:32], entry[len(FORMAT) + 32 :]
        if entry.startswith(FORMAT) and checksum == _checksum(key, content):
            return content
        log.warning("%s is damaged or of another version: building it again", self._path(key))
        return None

    def save(self, key: str, content: bytes) -> None:
        """Write the entry in one step: a reader sees all of it or none. Raises OSError."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self._directory, prefix="new-", delete=False) as file:
            unfinished = Path(file.name)
            try:
                file.write(FORMAT + _checksum(key, content) + content)
                file.flush()
                unfinished.replace(self._path(key))
            finally:
                unfinished.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._directory / f"{key}.program"


def _checksum(key: str, content: bytes) -> bytes:
    return sha256(FORMAT + key.encode() + content).digest()
