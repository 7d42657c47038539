"""Another config for a hub that runs: checked whole, then applied; one that fails changes nothing."""

from pathlib import Path

from edged.clock import nanoseconds
from edged.config import Config
from edged.config_file import check_passwords, load_config, save_config
from edged.errors import ConfigError
from edged.hub.changes import Changes, changes
from edged.hub.links.access import allowed_by
from edged.hub.links.links import elsewhere
from edged.hub.parts import Parts
from edged.hub.stream.notice import Notice


class Reload:
    """Reads the config file again when it is told to."""

    def __init__(self, parts: Parts, config: Config, path: Path) -> None:
        """`config`: what the hub runs by, as it was read from `path`."""
        self._parts = parts
        self._config = config
        self._path = path

    def now(self) -> Notice:
        """What has changed, or why nothing has."""
        try:
            found = changes(self._config, _checked(self._path))
            allowed = allowed_by(found.config.security)
            save_config(found.config, self._parts.snapshot)
        except (ConfigError, OSError) as error:
            return Notice("config_refused", f"{error}; the config before goes on")
        self._config = found.config
        self._apply(found)
        self._parts.guard.allow(allowed)
        return Notice("config_reloaded", f"{self._path} is applied: {found}")

    def _apply(self, found: Changes) -> None:
        for name in found.removed:
            self._parts.cameras.remove(name)
            self._parts.supervisor.cameras.has_ended(name)
        for name in found.changed:
            if not self._parts.cameras.replace(name):
                self._parts.supervisor.cameras.kill(name)
        self._parts.snapshots.grant(found.config.cameras)
        self._parts.cameras.ask_for_snapshots(found.snapshots)
        self._meet_other_hosts(elsewhere(found.config))
        for name in found.added:
            self._parts.tally.add_camera(name)
            self._parts.cameras.add(name)
            if found.config.cameras[name].host is None:
                self._parts.supervisor.cameras.add(name)
        freshness = found.config.freshness
        self._parts.router.set_freshness(
            keep=freshness.keep,
            max_age_ns=nanoseconds(freshness.max_age_s),
            deadline_ns=nanoseconds(freshness.deadline_s),
        )
        self._parts.workers.dispatch.top = found.config.publish.top
        self._parts.journal.set_limits(found.config.journal)
        self._parts.supervisor.set_config(found.config)
        for name in self._parts.workers.set_ends(found.config.ends):
            self._parts.supervisor.kill_worker(name)

    def _meet_other_hosts(self, peers: frozenset[str]) -> None:
        """Those of other hosts are these from now on; a worker that is none of them is told so."""
        for peer in self._parts.links.elsewhere - peers:
            if peer.startswith("worker/"):
                self._parts.workers.remove(peer.removeprefix("worker/"))
        self._parts.links.elsewhere = peers


def _checked(path: Path) -> Config:
    """The config at `path`, with every secret that it names. Raises ConfigError."""
    config = load_config(path)
    check_passwords(config)
    return config
