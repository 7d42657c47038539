"""The folder that the hub shares with its children and with `edged reload`, and with nobody else."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edged.errors import ConfigError
from edged.system.exclusive_lock import try_lock
from edged.system.paths import is_private, link_to_runtime_directory, runtime_directory


class PrivateFolder:
    """A folder that this process alone uses, as long as it holds the lock on it."""

    def __init__(self, path: Path) -> None:
        """Make it, or empty what a hub that was killed has left. Raises ConfigError, also where another runs."""
        self.path = path
        self._lock = _opened(path)
        try:
            _take(path, self._lock)
        except ConfigError:
            os.close(self._lock)
            raise

    def is_there(self) -> bool:
        """Whether nobody has removed or replaced it."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._lock))
        except OSError:
            return False

    def make_again(self) -> None:
        """Make it anew, after somebody has removed it. Raises ConfigError where another one has its name."""
        again = PrivateFolder(self.path)
        os.close(self._lock)
        self._lock = again._lock

    def remove(self) -> None:
        """Remove it and let another process have its name."""
        if self.is_there():
            shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


@contextmanager
def private_folder(journal: Path) -> Iterator[PrivateFolder]:
    """The folder of the daemon whose journal is at `journal`, empty, until the end.

    Raises ConfigError where another daemon uses it, or nobody can.
    """
    folder = PrivateFolder(_usable(journal))
    try:
        yield folder
    finally:
        folder.remove()
        link = link_to_runtime_directory(journal)
        if link.is_symlink() and os.readlink(link) == str(folder.path):
            link.unlink()


def _usable(journal: Path) -> Path:
    """Where the folder is to be. What somebody else has put at its usual place stays there, and is not used."""
    usual = runtime_directory(journal)
    if is_private(usual) or not os.path.lexists(usual):
        return usual
    link = link_to_runtime_directory(journal)
    try:
        other = tempfile.mkdtemp(prefix=f"edged-{os.getuid()}-", dir=usual.parent)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(other)
    except OSError as error:
        raise ConfigError(
            f"{usual} is somebody else's, and {error.filename} cannot be made in its place: {error.strerror}"
        ) from None
    return Path(other)


def _opened(folder: Path) -> int:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be used for sockets: {error.strerror}") from None


def _take(folder: Path, lock: int) -> None:
    status = os.fstat(lock)
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise ConfigError(f"{folder} is not this user's alone: remove it, another program has made it")
    if not try_lock(lock):
        raise ConfigError(f"another edged with the same journal runs (it uses {folder}): stop that one")
    for left in folder.iterdir():
        left.unlink()


def link_address(folder: Path) -> str:
    """Where the hub hears its children and `edged reload`."""
    return f"ipc://{folder}/hub"


def snapshot_path(folder: Path) -> Path:
    """The config by which the hub runs: what a child reads, whatever becomes of the user's file meanwhile."""
    return folder / "config.json"
