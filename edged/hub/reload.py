"""Another config for a hub that runs: checked whole, then applied; one that fails changes nothing.

A file that cannot be used and was changed a moment ago is read again for a while: an editor may not have finished.
"""

from pathlib import Path

from edged.clock import NANOSECONDS, nanoseconds, wall_s
from edged.config import Config
from edged.config_file import check_passwords, load_config
from edged.errors import ConfigError
from edged.hub.changes import Changes, changes
from edged.hub.links.access import allowed_by
from edged.hub.links.links import elsewhere
from edged.hub.parts import Parts
from edged.hub.stream.notice import Notice

HALF_WRITTEN_NS = NANOSECONDS
READ_AGAIN_NS = NANOSECONDS // 10


class Reload:
    """Reads the config file again when it is told to."""

    def __init__(self, parts: Parts, config: Config, path: Path) -> None:
        """`config`: what the hub runs by, as it was read from `path`."""
        self._parts = parts
        self._config = config
        self._path = path
        self._next_ns: int | None = None
        self._until_ns = 0

    @property
    def next_ns(self) -> int | None:
        """When `step` reads the file; None: not until somebody asks."""
        return self._next_ns

    def ask(self, now: int) -> None:
        """Have the file read at the next `step`."""
        if self._next_ns is None:
            self._next_ns, self._until_ns = now, now + HALF_WRITTEN_NS

    def step(self, now: int) -> Notice | None:
        """What has changed, or why nothing has; None where nobody has asked, or the file is read again soon."""
        if self._next_ns is None or now < self._next_ns:
            return None
        notice = self._read()
        if notice.is_bad and now < self._until_ns and _was_changed_just_now(self._path):
            self._next_ns = now + READ_AGAIN_NS
            return None
        self._next_ns = None
        return notice

    def _read(self) -> Notice:
        try:
            found = changes(self._config, _checked(self._path))
            allowed = allowed_by(found.config.security)
            self._parts.meeting_place.save(found.config)
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


def _was_changed_just_now(path: Path) -> bool:
    """Also where it is absent: some editors write another file and rename it."""
    try:
        return abs(wall_s() - path.stat().st_mtime) < HALF_WRITTEN_NS / NANOSECONDS
    except OSError:
        return True


def _checked(path: Path) -> Config:
    """The config at `path`, with every secret that it names. Raises ConfigError."""
    config = load_config(path)
    check_passwords(config)
    return config
