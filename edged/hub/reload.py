"""Apply another config to a running hub: validate it whole, apply what is possible, name what needs a restart."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from edged.clock import NANOSECONDS, nanoseconds, wall_s
from edged.config import CameraConfig, Config, Section, SnapshotConfig
from edged.config.load import ConfigSource, check_passwords, load_config
from edged.config.sections import LIVE
from edged.errors import ConfigError
from edged.hub.events import HubEvent
from edged.hub.links.guard import Guard
from edged.hub.links.peers import allowed_by, elsewhere
from edged.hub.links.received import Role, parse_peer
from edged.hub.links.runtime_folder import RuntimeFiles
from edged.hub.node import Node
from edged.hub.pipeline import Publication
from edged.hub.publish.notifier import Notifier, receiver_of
from edged.metrics import Metrics

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between two configs.

    `config`: the one that runs after the change: the next one, as far as it takes effect at once. `settings` and
    `restart` are dotted keys of the file. A camera that moves to another host is removed and added.
    `snapshots`: cameras that continue unchanged but for their snapshots.
    """

    config: Config
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    snapshots: tuple[str, ...]
    settings: tuple[str, ...]
    restart: tuple[str, ...]

    @property
    def changes_model(self) -> bool:
        """Return whether the workers start again with another model."""
        return any(key.startswith("model.") for key in self.settings)

    def __str__(self) -> str:
        """Format the changes for people, in one line."""
        parts = {
            "cameras added": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "snapshots": self.snapshots,
            "settings": self.settings,
        }
        lines = [f"{what}: {', '.join(which)}" for what, which in parts.items() if which]
        if self.restart:
            lines.append(f"only after a restart: {', '.join(self.restart)}")
        return "; ".join(lines) or "nothing has changed"


def changes(before: Config, after: Config) -> Changes:
    """Return what changes if `after` replaces `before`."""
    config = _with_live_keys(before, after)
    keys = tuple(_differences(before.model_dump(), config.model_dump()))
    old, new = before.cameras, config.cameras
    stay = {name for name in new if name in old and new[name].host == old[name].host}
    changed = [name for name in new if name in stay and new[name] != old[name]]
    goes_on = {name for name in changed if new[name] == _with_snapshot(old[name], new[name].snapshot)}
    return Changes(
        config=config,
        added=tuple(name for name in new if name not in stay),
        removed=tuple(name for name in old if name not in stay),
        changed=tuple(name for name in changed if name not in goes_on),
        snapshots=tuple(name for name in changed if name in goes_on),
        settings=tuple(key for key in keys if not key.startswith("cameras.")),
        restart=tuple(_differences(config.model_dump(), after.model_dump())),
    )


def _with_snapshot(camera: CameraConfig, snapshot: SnapshotConfig | None) -> CameraConfig:
    return camera.model_copy(update={"snapshot": snapshot})


def _with_live_keys(before: Config, after: Config) -> Config:
    """Return `before` with the values that `after` has under the keys that take effect at a reload."""
    # a worker on another host reads its own file: the hub cannot give it another model
    is_fixed = any(worker.host for worker in (*before.workers, *after.workers))
    values: Values = {}
    for section, field in Config.model_fields.items():
        old, new = getattr(before, section), getattr(after, section)
        if LIVE in field.metadata:
            values[section] = old if section == "model" and is_fixed else new
        elif isinstance(old, Section) and isinstance(new, Section):  # an optional one comes with a restart
            values[section] = old.model_copy(update=_live_values(new))
    return before.model_copy(update=values)


def _live_values(section: Section) -> Values:
    fields = type(section).model_fields
    return {key: getattr(section, key) for key, field in fields.items() if LIVE in field.metadata}


def _differences(before: Values, after: Values, place: str = "") -> Iterator[str]:
    """Return the dotted keys at which two dumps differ, in the order of the file."""
    for key in before | after:
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{place}{key}.")
        elif old != new:
            yield f"{place}{key}"


class LiveSettings:
    """Applies a change of the config to the parts of a running hub."""

    def __init__(self, node: Node, publication: Publication) -> None:
        self._node = node
        self._publication = publication

    def apply(self, found: Changes) -> None:
        """Apply all that takes effect at once."""
        self._change_cameras(found)
        freshness = found.config.freshness
        self._node.router.set_freshness(
            keep=freshness.keep,
            max_age_ns=nanoseconds(freshness.max_age_s),
            deadline_ns=nanoseconds(freshness.deadline_s),
        )
        self._publication.set_config(found.config)
        if found.changes_model:
            self._node.workers.expect_model()
        self._node.supervisor.set_config(found.config)
        for name in self._node.workers.set_ends(found.config.ends):
            self._node.supervisor.kill_worker(name)

    def _change_cameras(self, found: Changes) -> None:
        for name in found.removed:
            self._node.cameras.remove(name)
            self._node.supervisor.cameras.has_ended(name)
        for name in found.changed:
            if not self._node.cameras.replace(name):
                self._node.supervisor.cameras.kill(name)
        self._node.cameras.set_snapshots(found.config.cameras, found.snapshots)
        self._set_remote_peers(elsewhere(found.config))
        for name in found.added:
            self._node.stats.summary.add_camera(name)
            self._node.cameras.add(name)
            if found.config.cameras[name].host is None:
                self._node.supervisor.cameras.add(name)

    def _set_remote_peers(self, peers: frozenset[str]) -> None:
        """Expect these peers from other hosts; a worker that is no longer among them is stopped."""
        for role, name in map(parse_peer, self._node.links.elsewhere - peers):
            if role is Role.WORKER:
                self._node.workers.remove(name)
        self._node.links.expect(peers)


HALF_WRITTEN_NS = NANOSECONDS
READ_AGAIN_NS = NANOSECONDS // 10


class Reload:
    """Reads the config file again when it is requested."""

    def __init__(
        self,
        config: Config,
        source: ConfigSource,
        runtime_files: RuntimeFiles,
        guard: Guard,
        notifier: Notifier,
        settings: LiveSettings,
        metrics: Metrics,
    ) -> None:
        """`config`: the config that the hub runs, as read from `source`."""
        self._config = config
        self._source = source
        self._runtime_files = runtime_files
        self._guard = guard
        self._notifier = notifier
        self._settings = settings
        self._metrics = metrics
        self._next_ns: int | None = None
        self._until_ns = 0
        self._show_config()

    @property
    def next_ns(self) -> int | None:
        """Return when `step` reads the file; None: not until it is requested."""
        return self._next_ns

    def request(self, now: int) -> None:
        """Request that the next `step` reads the file."""
        if self._next_ns is None:
            self._next_ns, self._until_ns = now, now + HALF_WRITTEN_NS

    def step(self, now: int) -> HubEvent | None:
        """Return what has changed, or why nothing has.

        None: nothing is requested, or the file is read again soon.
        """
        if self._next_ns is None or now < self._next_ns:
            return None
        notice = self._read()
        if notice.is_bad and now < self._until_ns and _was_changed_just_now(self._source):
            self._next_ns = now + READ_AGAIN_NS
            return None
        self._next_ns = None
        return notice

    def _read(self) -> HubEvent:
        try:
            found = changes(self._config, _checked(self._source))
            allowed = allowed_by(found.config.security)
            receiver = receiver_of(found.config)
            self._runtime_files.save(found.config)
        except (ConfigError, OSError) as error:
            self._metrics.config_successful.set(0)
            return HubEvent("config_refused", f"{error}; the present config stays in use")
        self._config = found.config
        self._settings.apply(found)
        self._guard.allow(allowed)
        self._notifier.send_to(receiver)
        self._show_config()
        return HubEvent("config_reloaded", f"{self._source.path} is applied: {found}")

    def _show_config(self) -> None:
        """Show in the metrics which config is in use, and since when."""
        self._metrics.config_info.clear()
        self._metrics.config_info.labels(self._config.sha256).set(1)
        self._metrics.config_timestamp.set(wall_s())
        self._metrics.config_successful.set(1)


def _was_changed_just_now(source: ConfigSource) -> bool:
    """Return whether a file was just changed, or is absent: some editors write another file and rename it."""
    try:
        changed_s = max(file.stat().st_mtime for file in source.files())
        return abs(wall_s() - changed_s) < HALF_WRITTEN_NS / NANOSECONDS
    except (ConfigError, OSError):  # ConfigError: so is the folder of drop-ins
        return True


def _checked(source: ConfigSource) -> Config:
    """Return the config of `source`, with every secret that it names checked. Raises ConfigError."""
    config = load_config(source.path, source.settings)
    check_passwords(config)
    return config
