"""What another config changes of a daemon that runs: what takes effect at once, and what needs a restart."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from edged.config import Camera, Config, Snapshot

# Keys of the file that take effect at once, with all that lies below them. The others hold what is open or shared
# for the life of a hub: sockets, the journal's file, the model that every prediction is of.
LIVE = (
    "cameras",
    "workers",
    "segments",
    "freshness",
    "recovery",
    "security.allow",
    "security.cameras",
    "security.workers",
    "publish.top",
    "journal.max_predictions",
    "journal.max_megabytes",
    "journal.max_age_days",
    "journal.max_wait_s",
    "journal.sync_s",
    "energy",
)

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """From one config to the next.

    `config`: the next one as far as it takes effect at once, what runs after the change. `settings` and `restart`
    are dotted keys of the file. A camera that another host reads from now on is removed and added. `snapshots`:
    cameras of which nothing else has changed, which go on as they are.
    """

    config: Config
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    snapshots: tuple[str, ...]
    settings: tuple[str, ...]
    restart: tuple[str, ...]

    def __str__(self) -> str:
        """For people, in one line."""
        parts = {
            "cameras added": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "snapshots": self.snapshots,
            "settings": self.settings,
        }
        told = [f"{what}: {', '.join(which)}" for what, which in parts.items() if which]
        if self.restart:
            told.append(f"only after a restart: {', '.join(self.restart)}")
        return "; ".join(told) or "nothing has changed"


def changes(before: Config, after: Config) -> Changes:
    """What `after` changes of a hub that runs by `before`."""
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


def _with_snapshot(camera: Camera, snapshot: Snapshot | None) -> Camera:
    return camera.model_copy(update={"snapshot": snapshot})


def _with_live_keys(before: Config, after: Config) -> Config:
    """`before` with the values that `after` has under the live keys."""
    values: Values = {}
    for section, _, key in (live.partition(".") for live in LIVE):
        old, new = values.get(section, getattr(before, section)), getattr(after, section)
        if old is None or new is None:  # a section that may be absent comes and goes with a restart
            continue
        values[section] = old.model_copy(update={key: getattr(new, key)}) if key else new
    return before.model_copy(update=values)


def _differences(before: Values, after: Values, place: str = "") -> Iterator[str]:
    """The dotted keys under which two dumps differ, in the order of the file."""
    for key in before | after:
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{place}{key}.")
        elif old != new:
            yield f"{place}{key}"
