"""Where edged keeps its files: systemd's directories where it gives them, else the user's (XDG)."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from edged.errors import ConfigError


def cache_directory() -> Path:
    """Return the folder of caches, which may be deleted at any time."""
    return _directory("CACHE_DIRECTORY", "XDG_CACHE_HOME", ".cache")


def program_cache() -> Path:
    """Return the folder of compiled OpenCL programs."""
    return cache_directory() / "programs"


@contextmanager
def own_cache() -> Iterator[None]:
    """Keep caches in a temporary folder meanwhile if this user's would be in a folder of another one.

    A service could not read the files that root leaves in its cache. PoCL's own files are there, too.
    """
    if not _is_of_another_user():
        yield
        return
    before = {name: os.environ.pop(name, None) for name in ("CACHE_DIRECTORY", "POCL_CACHE_DIR")}
    with tempfile.TemporaryDirectory(prefix="edged-cache-", ignore_cleanup_errors=True) as folder:
        os.environ["CACHE_DIRECTORY"] = folder
        try:
            yield
        finally:
            del os.environ["CACHE_DIRECTORY"]
            os.environ.update({name: value for name, value in before.items() if value is not None})


def _is_of_another_user() -> bool:
    """Return whether the folder of caches, or the one in which it would be made, is of a user besides root."""
    try:
        return existing_part(cache_directory()).stat().st_uid not in {0, os.geteuid()}
    except (ConfigError, OSError):  # there is none, or nothing can be written there
        return False


def existing_part(folder: Path) -> Path:
    """Return the folder, or the one in which it would be made."""
    folder = folder.absolute()
    return next(each for each in (folder, *folder.parents) if os.path.exists(each))


def state_directory() -> Path:
    """Return the folder of files that must survive a restart, such as the journal."""
    return _directory("STATE_DIRECTORY", "XDG_STATE_HOME", ".local/state")


def journal_path(node: str, configured: Path | None) -> Path:
    """Return the path of the journal of `node`, which one daemon uses at a time."""
    return configured or state_directory() / node / "journal.sqlite"


def runtime_directory(journal: Path) -> Path:
    """Return the folder for the sockets of the daemon whose journal is at `journal`.

    It is the usual one; or, if another user has taken that name in /tmp, the one to which the daemon has made a
    link beside its journal.
    """
    usual, link = _usual_runtime_directory(journal), link_to_runtime_directory(journal)
    if not os.path.lexists(usual) or is_private(usual) or not link.is_symlink():
        return usual
    other = Path(os.readlink(link))
    return other if is_private(other) else usual


def link_address(folder: Path) -> str:
    """Return the address of a hub's link, in its runtime directory, for its children and `edged reload`."""
    return f"unix://{folder}/hub"


def snapshot_path(folder: Path) -> Path:
    """Return the path of the config, in a hub's runtime directory, that its children read."""
    return folder / "config.json"


def link_to_runtime_directory(journal: Path) -> Path:
    """Return the link to the runtime folder if that is not at its usual place."""
    return journal.with_name(f"{journal.name}.sockets")


def is_private(folder: Path) -> bool:
    """Return whether it is a folder of this user that no other user may enter."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_closed = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
    return is_closed and status.st_uid == os.getuid()


def _usual_runtime_directory(journal: Path) -> Path:
    """Return the usual folder. Its name is short: the path of a socket has at most 107 bytes (unix(7))."""
    name = f"edged-{os.getuid()}-{sha256(os.fsencode(journal)).hexdigest()[:12]}"
    parent = (os.environ.get("RUNTIME_DIRECTORY") or os.environ.get("XDG_RUNTIME_DIR") or "").split(":")[0]
    return Path(parent if parent and os.access(parent, os.W_OK) else tempfile.gettempdir()) / name


def _directory(systemd_variable: str, xdg_variable: str, in_home: str) -> Path:
    """Raises ConfigError if neither variable is set and this user, as those of many containers, has no home."""
    if from_systemd := os.environ.get(systemd_variable):
        return Path(from_systemd.split(":")[0])
    if from_xdg := os.environ.get(xdg_variable):
        return Path(from_xdg) / "edged"
    try:
        return Path.home() / in_home / "edged"
    except RuntimeError:
        raise ConfigError(f"user {os.getuid()} has no home: set HOME, or {systemd_variable} to a folder") from None
