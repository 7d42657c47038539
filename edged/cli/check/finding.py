"""A finding of `edged check`, and the daemon that runs by a config: no other program has its addresses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from edged.cli.daemon_client import daemon_runs, runtime_folder_of
from edged.config import Config
from edged.config.load import load_snapshot
from edged.errors import ConfigError
from edged.system.paths import snapshot_path
from edged.transport.address import is_local


@dataclass(frozen=True)
class Finding:
    """One line of the result. `error`: edged would not run; `warning`: it would, with a limitation."""

    level: Literal["ok", "warning", "error"]
    what: str
    text: str


def running_config(config: Config) -> Config | None:
    """Return the config of the daemon that runs with the same node and journal, if there is one."""
    folder = runtime_folder_of(config)
    try:
        return load_snapshot(snapshot_path(folder)) if daemon_runs(folder) else None
    except ConfigError:
        return None  # it has just ended


def addresses_of(config: Config) -> Mapping[str, str | None]:
    """Return where a hub listens, by the key of the config; None: nowhere."""
    return {
        "link.address": listens_at(config),
        "publish.address": config.publish.address,
        "publish.replay": config.publish.replay,
        "metrics.address": config.metrics.address,
    }


def listens_at(config: Config) -> str | None:
    """Return the address at which the hub listens for other hosts; None if there is none that they can reach."""
    address = config.link.address
    return None if address is None or is_local(address) else config.link.bind or address
