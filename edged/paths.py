"""Where edged keeps its files: systemd's directories where it gives them, else the user's (XDG)."""

import os
import tempfile
from pathlib import Path


def cache_directory() -> Path:
    """Program binaries: may be deleted at any time."""
    return _directory("CACHE_DIRECTORY", "XDG_CACHE_HOME", Path.home() / ".cache")


def state_directory() -> Path:
    """The journal: what must outlive a restart."""
    return _directory("STATE_DIRECTORY", "XDG_STATE_HOME", Path.home() / ".local/state")


def private_runtime_directory() -> Path:
    """A new directory, readable by this user alone, for the sockets of one run; the caller removes it."""
    parent = os.environ.get("RUNTIME_DIRECTORY") or os.environ.get("XDG_RUNTIME_DIR")
    usable = parent if parent and os.access(parent, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="edged-", dir=usable))


def _directory(systemd_variable: str, xdg_variable: str, fallback: Path) -> Path:
    if from_systemd := os.environ.get(systemd_variable):
        return Path(from_systemd.split(":")[0])
    return Path(os.environ.get(xdg_variable) or fallback) / "edged"
