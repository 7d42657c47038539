"""Find the daemon that runs by a config: the folder of its sockets, which it has locked, and its snapshot."""

import os
from pathlib import Path

from edged.config import Config
from edged.config.load import load_snapshot
from edged.errors import ConfigError
from edged.system.exclusive_lock import try_lock
from edged.system.paths import is_private, journal_path, runtime_directory, snapshot_path


def runtime_folder_of(config: Config) -> Path:
    """Return the folder of the sockets of the daemon that runs by this config."""
    return runtime_directory(journal_path(config.node, config.journal.path))


def daemon_runs(folder: Path) -> bool:
    """Return whether a hub of this user holds the lock of the runtime folder `folder`."""
    if not is_private(folder):  # absent, or another user's
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def running_config(config: Config) -> Config | None:
    """Return the config of the daemon that runs with the same node and journal, if there is one."""
    folder = runtime_folder_of(config)
    try:
        return load_snapshot(snapshot_path(folder)) if daemon_runs(folder) else None
    except ConfigError:
        return None  # it has just ended
