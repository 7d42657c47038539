"""Writes the commit into a wheel, for `edged --version`. Hatchling runs it when it builds one."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface[Any]):
    """Adds `edged/commit` where the sources are a checkout."""

    PLUGIN_NAME = "commit"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file to a wheel; an editable one finds the checkout itself."""
        command = ("git", "-C", self.root, "rev-parse", "--short=9", "HEAD")
        if version == "editable" or not Path(self.root, ".git").exists():
            return
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name, "commit")
        try:
            file.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
        except (OSError, subprocess.SubprocessError):
            return
        build_data["force_include"][str(file)] = "edged/commit"
