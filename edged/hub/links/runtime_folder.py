"""The private folder that the hub shares with its children and with `edged reload` only, and its files.

They are recreated if another program removes them: without them no new child can find the hub.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edged.config import Config
from edged.config.load import save_config
from edged.errors import ConfigError
from edged.hub.links.peers import Links
from edged.system.exclusive_lock import try_lock
from edged.system.paths import (
    is_private,
    link_address,
    link_to_runtime_directory,
    runtime_directory,
    snapshot_path,
)
from edged.transport.address import path_of

log = logging.getLogger("edged.hub")


class PrivateFolder:
    """A folder that only this process uses, as long as it holds the folder's lock."""

    def __init__(self, path: Path) -> None:
        """Create it, or empty the one of a hub that was killed.

        Raises ConfigError, also if another hub runs, or OSError if it cannot be emptied.
        """
        self.path = path
        self._lock = _opened(path)
        try:
            _take(path, self._lock)
        except (ConfigError, OSError):  # OSError: it holds a folder of another program
            os.close(self._lock)
            raise

    def is_there(self) -> bool:
        """Return whether it still exists, and was not replaced."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._lock))
        except OSError:
            return False

    def make_again(self) -> None:
        """Create it again after it was removed. Raises what `__init__` does, if another process has the name."""
        again = PrivateFolder(self.path)
        os.close(self._lock)
        self._lock = again._lock

    def remove(self) -> None:
        """Remove it and release the name."""
        if self.is_there():
            shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


@contextmanager
def private_folder(journal: Path) -> Iterator[PrivateFolder]:
    """Return the folder of the daemon whose journal is at `journal`, empty; it is removed at the end.

    Raises ConfigError if another daemon uses it, or it cannot be used.
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
    """Return where the folder goes. If another user owns the usual place, that is not used or changed."""
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
            f"{usual} is another user's, and {error.filename} cannot be made in its place: {error.strerror}"
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
        raise ConfigError(f"{folder} is accessible to other users: remove it, another program has created it")
    if not try_lock(lock):
        raise ConfigError(f"another edged with the same journal runs (it uses {folder}): stop that one")
    for left in folder.iterdir():
        left.unlink()


class RuntimeFiles:
    """Keeps these files: without them no new child can find the hub, so cleaning up /tmp must not end a daemon."""

    def __init__(self, folder: PrivateFolder, config: Config) -> None:
        """Raises OSError if the config cannot be written."""
        self._folder = folder
        self._config = config
        self._error = ""
        self.save(config)

    @property
    def config_path(self) -> Path:
        """Return the path of the hub's config for its children."""
        return snapshot_path(self._folder.path)

    @property
    def address(self) -> str:
        """Return the address of the private link."""
        return link_address(self._folder.path)

    def save(self, config: Config) -> None:
        """Write the config for children that start from now on. Raises OSError."""
        save_config(config, self.config_path)
        self._config = config

    def restore(self, links: Links) -> None:
        """Recreate removed files, once a second. Connected peers stay connected."""
        socket = path_of(self.address)
        if self._folder.is_there() and self.config_path.exists() and socket.exists():
            return
        try:
            if not self._folder.is_there():
                self._folder.make_again()
            self.save(self._config)
            if not socket.exists():
                links.listen_at(self.address)
        except (ConfigError, OSError) as error:
            if str(error) != self._error:
                log.warning("no new child can find the hub: %s", error)
            self._error = str(error)
        else:
            self._error = ""
            log.warning("%s or its content was removed by another program, and is restored", self._folder.path)
