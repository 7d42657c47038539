"""Where edged keeps its files: systemd's directories where it gives them, else the user's (XDG)."""

import os
import tempfile
from hashlib import sha256
from pathlib import Path


def cache_directory() -> Path:
    """Program binaries: may be deleted at any time."""
    return _directory("CACHE_DIRECTORY", "XDG_CACHE_HOME", Path.home() / ".cache")


def state_directory() -> Path:
    """The journal: what must outlive a restart."""
    return _directory("STATE_DIRECTORY", "XDG_STATE_HOME", Path.home() / ".local/state")


def journal_path(node: str, configured: Path | None) -> Path:
    """Where the predictions of `node` are kept. One daemon alone uses the file."""
    return configured or state_directory() / node / "journal.sqlite"


def runtime_directory(journal: Path) -> Path:
    """The folder for the sockets of the daemon whose journal is at `journal`; others find it there.

    Its name is short: the path of a socket has at most 107 bytes (unix(7)).
    """
    name = f"edged-{os.getuid()}-{sha256(os.fsencode(journal)).hexdigest()[:12]}"
    parent = (os.environ.get("RUNTIME_DIRECTORY") or os.environ.get("XDG_RUNTIME_DIR") or "").split(":")[0]
    return Path(parent if parent and os.access(parent, os.W_OK) else tempfile.gettempdir()) / name


def _directory(systemd_variable: str, xdg_variable: str, fallback: Path) -> Path:
    if from_systemd := os.environ.get(systemd_variable):
        return Path(from_systemd.split(":")[0])
    return Path(os.environ.get(xdg_variable) or fallback) / "edged"
