"""Who may write a journal, and whether a path that cannot be used is a mistake."""

import fcntl
import os
import sqlite3
from pathlib import Path

from edged.errors import ConfigError
from edged.hub.journal.failure import beneath, is_mistake
from edged.hub.journal.placement import create_folder


def lock(path: Path, mode: int) -> int:
    """An exclusive lock, held until it is closed. Raises ConfigError, or OSError for a disk that fails.

    A folder that is missing is created for those who may read files of this mode.
    """
    try:
        create_folder(path.parent, mode)
        held = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.fchmod(held, 0o600)
    except OSError as error:
        if not is_mistake(error):
            raise
        raise _wrong(path, error) from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise ConfigError(
            f"journal {path} is in use by another edged: stop that one, or give this one another node or path"
        ) from None
    return held


def told_apart(error: OSError | sqlite3.Error, path: Path) -> Exception:
    """A mistake in the config, or a disk that fails."""
    system = beneath(error, path) if isinstance(error, sqlite3.Error) else error
    return _wrong(path, system) if isinstance(system, OSError) and is_mistake(system) else system


def _wrong(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"journal.path {path} cannot be written: {error.strerror}; choose another path")
