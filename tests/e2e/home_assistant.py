"""Home Assistant itself, with its MQTT integration, and the states of its entities."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-homeassistant/bin/python"
FILES = Path(__file__).with_name("hass")


def has_home_assistant() -> None:
    """Skip the test where it is not installed."""
    if not PYTHON.exists():
        pytest.skip("no Home Assistant: make .venv-homeassistant/.installed")


class Home:
    """What a Home Assistant knows, which writes it into a file after each change."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "states.json"

    def states(self) -> dict[str, str]:
        """Return the state of each entity."""
        return {name: str(entity["state"]) for name, entity in self._entities().items()}

    def attributes(self, entity: str) -> dict[str, Any]:
        """Return what is known of an entity besides its state."""
        attributes: dict[str, Any] = self._entities()[entity]["attributes"]
        return attributes

    @property
    def log(self) -> str:
        """Return its warnings and errors."""
        return (self.folder / "home-assistant.log").read_text()

    def _entities(self) -> dict[str, Any]:
        entities: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {}
        return entities


@contextmanager
def home_assistant(folder: Path, port: int) -> Iterator[Home]:
    """Run one that is connected with the broker at this port, until the block ends."""
    home = Home(folder / "home")
    shutil.copytree(FILES / "custom_components", home.folder / "custom_components")
    (home.folder / ".storage").mkdir()
    (home.folder / ".storage/core.config_entries").write_text(json.dumps(_connected_with(port)))
    (home.folder / "configuration.yaml").write_text("show_states:\nlogger: {default: warning}\n")
    command = [str(PYTHON), str(FILES / "run.py"), "-c", str(home.folder), "--skip-pip"]
    with (home.folder / "output.log").open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, "EDGED_TEST_STATES": str(home.file)}
        )
    try:
        yield home
    finally:
        process.kill()
        process.wait()


def _connected_with(port: int) -> dict[str, Any]:
    """Return the file in which Home Assistant keeps that its owner has added the MQTT integration."""
    entry = {
        "entry_id": "0" * 32,
        "version": 1,
        "minor_version": 1,
        "domain": "mqtt",
        "title": "test",
        "data": {"broker": "127.0.0.1", "port": port, "discovery": True, "discovery_prefix": "homeassistant"},
        "options": {},
        "pref_disable_new_entities": False,
        "pref_disable_polling": False,
        "source": "user",
        "unique_id": None,
        "disabled_by": None,
    }
    return {"version": 1, "minor_version": 1, "key": "core.config_entries", "data": {"entries": [entry]}}
