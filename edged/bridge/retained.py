"""The topics that an MQTT broker retains of this node, on disk, so that those of removed cameras are emptied."""

import json
import logging
from pathlib import Path

from edged.system.files import replace_file
from edged.system.paths import state_directory

log = logging.getLogger("edged.bridge")


class RetainedTopics:
    """The file of a node and a broker: a list of topics."""

    def __init__(self, node: str, address: str) -> None:
        """`address`: of the broker; another one retains other topics."""
        self._path: Path = state_directory() / node / "mqtt-retained.json"
        self._address = address
        self._saved = self._read()
        self._problem = ""

    @property
    def saved(self) -> frozenset[str]:
        """Return what was saved."""
        return self._saved

    def save(self, topics: set[str]) -> None:
        """Save the topics, on disk when this returns; without a disk a removed camera may stay at the broker."""
        if self._saved == topics:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replace_file(self._path) as file:
                file.write(json.dumps({"broker": self._address, "topics": sorted(topics)}, indent=1).encode())
        except OSError as error:
            if self._problem != str(error):
                log.warning("%s cannot be written: %s", self._path, error.strerror)
            self._problem = str(error)
        else:
            self._saved = frozenset(topics)

    def _read(self) -> frozenset[str]:
        """Return what was saved for this broker; a file that cannot be read counts as none."""
        try:
            saved = json.loads(self._path.read_bytes())
            return frozenset(map(str, saved["topics"])) if saved["broker"] == self._address else frozenset()
        except (OSError, ValueError, KeyError, TypeError):
            return frozenset()
