"""The folder with the config and the link's socket for the hub's children, made again where it is removed."""

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
    """Without it no child that starts finds the hub: cleaning up /tmp must not end a daemon."""

    def __init__(self, folder: PrivateFolder, config: Config) -> None:
        """Raises OSError where the config cannot be written."""
        self._folder = folder
        self._config = config
        self._numbers = count(2)
        self._error = ""
        self.save(config)

    @property
    def config_path(self) -> Path:
        """The config by which the hub runs, for its children."""
        return snapshot_path(self._folder.path)

    @property
    def address(self) -> str:
        """Of the private link."""
        return link_address(self._folder.path)

    def save(self, config: Config) -> None:
        """Let children that start from now on run by this config. Raises OSError."""
        save_config(config, self.config_path)
        self._config = config

    def restore(self, links: Links) -> None:
        """Once a second: make again what somebody has removed. Who is connected stays so."""
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
                log.warning("no child that starts can find the hub: %s", error)
            self._error = str(error)
        else:
            self._error = ""
            log.warning("somebody has removed %s or what was in it: it is there again", self._folder.path)

    def _listen_again(self, links: Links, socket: Path) -> None:
        """Under another name at first: libzmq removes the file of a socket that it ends to listen at, later."""
        new = socket.with_name(f"{socket.name}-{next(self._numbers)}")
        links.listen_at(f"ipc://{new}")
        os.rename(new, socket)
