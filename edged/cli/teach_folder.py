"""Find the config, the model, and the folder of crops and versions, for each action of `edged teach`."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edged.cli.options import config_or_demo
from edged.config import Config
from edged.config.load import load_config
from edged.config.overrides import Override
from edged.config.running_daemon import daemon_runs, runtime_folder_of
from edged.errors import ConfigError
from edged.model.head_versions import load_promoted, teach_folder
from edged.model.package import Model, load_model
from edged.system.terminal import warn
from edged.teach.store import CropStore


@dataclass(frozen=True)
class Place:
    """A config (`file`: its path), and the folder of its node's crops and versions."""

    file: Path
    config: Config
    folder: Path

    def model(self) -> Model:
        """Load the config's model. Raises ModelError."""
        return load_model(self.config.model)

    def require_camera(self, name: str) -> None:
        """Raise ConfigError, with the cameras that there are, if the config has none of this name."""
        if name not in self.config.cameras:
            raise ConfigError(f"{self.file} has no camera {name}: it has {', '.join(self.config.cameras)}")

    def daemon_runs(self) -> bool:
        return daemon_runs(runtime_folder_of(self.config))

    def promoted_version(self) -> str | None:
        """Read which version answers; None: the config's model does. Raises ModelError."""
        return load_promoted(self.folder).version


def find_place_of(arguments: argparse.Namespace) -> Place:
    """Load the config of `arguments`. Raises ConfigError."""
    return place_of(arguments.config, arguments.settings)


def place_of(path: Path | None, settings: Sequence[Override] = ()) -> Place:
    """Load the config at `path`, or the demo's. Raises ConfigError."""
    file = config_or_demo(path)
    config = load_config(file, settings)
    return Place(file, config, teach_folder(config.node))


def warn_about(store: CropStore) -> None:
    """Warn about damaged and missing crops."""
    if store.damage:
        warn(store.damage)
    if store.gone:
        warn(f"{len(store.gone)} crops are missing: {store.gone[0]}{' …' if len(store.gone) > 1 else ''}")
    for problem in store.problems[:3]:
        warn(str(problem))
    if len(store.problems) > 3:
        warn(f"and {len(store.problems) - 3} more such files")
