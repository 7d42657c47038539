"""The daemon that runs by a config: the addresses that it uses are not taken by another program."""

import os
from collections.abc import Mapping

from edged.cli.check.hosts import listens_at
from edged.config import Config
from edged.config.load import load_snapshot
from edged.errors import ConfigError
from edged.hub.links.runtime_folder import snapshot_path
from edged.system.exclusive_lock import try_lock
from edged.system.paths import is_private, journal_path, runtime_directory


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
