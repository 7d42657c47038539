"""A finding of `edged check`, and the daemon that runs by a config: no other program has its addresses."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from edged.config import Config
from edged.config.load import load_snapshot
from edged.errors import ConfigError
from edged.hub.links.runtime_folder import snapshot_path
from edged.system.exclusive_lock import try_lock
from edged.system.paths import is_private, journal_path, runtime_directory
from edged.transport.address import is_local


@dataclass(frozen=True)
class Finding:
    """One line of the result. `error`: edged would not run; `warning`: it would, with a limitation."""

    level: Literal["ok", "warning", "error"]
    what: str
    text: str


def running_config(config: Config) -> Config | None:
    """Return the config of the daemon that runs with the same node and journal, if there is one."""
    folder = runtime_directory(journal_path(config.node, config.journal.path))
    if not is_private(folder):
        return None
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return None if try_lock(opened, shared=True) else load_snapshot(snapshot_path(folder))
    except ConfigError:
        return None  # it has just ended
    finally:
        os.close(opened)


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
