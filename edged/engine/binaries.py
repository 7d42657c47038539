"""Compiled programs on disk."""

from pathlib import Path

from edged.entries import Entries


class Binaries:
    """Entries with the suffix `program`, by the key that `Programs` gives them."""

    def __init__(self, directory: Path) -> None:
        self._entries = Entries(directory, "program")

    def load(self, key: str) -> bytes | None:
        """What was saved under `key`, or None."""
        content = self._entries.load(key)
        return None if content is None else bytes(content)

    def save(self, key: str, content: bytes) -> None:
        """Write the entry in one step: a reader sees all of it or none. Raises OSError."""
        self._entries.save(key, [content])
