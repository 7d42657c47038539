"""The folder with the config and the link's socket for the hub's children; recreated if it is removed."""

import logging
import os
from itertools import count
from pathlib import Path

from edged.config import Config
from edged.config.load import save_config
from edged.errors import ConfigError
from edged.hub.links.peers import Links
from edged.hub.links.runtime_folder import PrivateFolder, link_address, snapshot_path

log = logging.getLogger("edged.hub")


class RuntimeFiles:
    """Keeps these files: without them no new child can find the hub, so cleaning up /tmp must not end a daemon."""

    def __init__(self, folder: PrivateFolder, config: Config) -> None:
        """Raises OSError if the config cannot be written."""
        self._folder = folder
        self._config = config
        self._numbers = count(2)
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
        socket = Path(self.address.removeprefix("ipc://"))
        if self._folder.is_there() and self.config_path.exists() and socket.exists():
            return
        try:
            if not self._folder.is_there():
                self._folder.make_again()
            self.save(self._config)
            if not socket.exists():
                self._listen_again(links, socket)
        except (ConfigError, OSError) as error:
            if str(error) != self._error:
                log.warning("no new child can find the hub: %s", error)
            self._error = str(error)
        else:
            self._error = ""
            log.warning("%s or its content was removed by another program, and is restored", self._folder.path)

    def _listen_again(self, links: Links, socket: Path) -> None:
        """Bind to a new name first: libzmq later removes the file of a socket that it stops listening at."""
        new = socket.with_name(f"{socket.name}-{next(self._numbers)}")
        links.listen_at(f"ipc://{new}")
        os.rename(new, socket)
