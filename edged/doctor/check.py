"""List what a config would run, and everything that would make it fail, for `edged check` and `edged init`."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from edged.config import Config
from edged.config.load import ConfigSource
from edged.config.running_daemon import running_config
from edged.config.valid_parts import ValidParts, valid_parts
from edged.doctor.check_hosts import (
    address_finding,
    addresses_of,
    elsewhere,
    group_findings,
    link_findings,
    notify_finding,
    security_finding,
    this_host,
    tls_finding,
)
from edged.doctor.finding import Finding
from edged.energy.find import find_rails
from edged.system.paths import journal_path, state_directory


@dataclass(frozen=True)
class Checked:
    """The findings of a config. `host`: the one that was checked, None for the hub's."""

    findings: tuple[Finding, ...]
    host: str | None

    @property
    def errors(self) -> int:
        """Return how many findings are errors."""
        return sum(finding.level == "error" for finding in self.findings)


def check_config(
    source: ConfigSource, host: str | None = None, *, is_quick: bool = False, is_offline: bool = False
) -> Checked:
    """Check a config for a host: the named one, this one if the config has it, or the hub's.

    See `findings_of` for the options. Raises ConfigError for a file that cannot be read, and an unknown host.
    """
    parts = valid_parts(source)
    host = this_host(parts.config, host)
    if host:
        of_config = findings_at(parts, host, is_quick=is_quick, is_offline=is_offline)
    else:
        of_config = findings_of(parts, is_quick=is_quick, is_offline=is_offline)
    mistakes = [Finding("error", "config", mistake) for mistake in parts.mistakes]
    return Checked((*source_findings(source), *mistakes, *of_config), host)


def source_findings(source: ConfigSource) -> Iterator[Finding]:
    """Name the drop-ins, variables and settings that a config is from besides its file."""
    file, *others = source.names()
    if others:
        yield Finding("ok", "config", ", ".join((file, *others)))


def findings_at(
    parts: ValidParts, host: str, *, is_quick: bool = False, is_offline: bool = False
) -> Iterator[Finding]:
    """Check the cameras and workers of another host. See `findings_of`."""
    from edged.doctor.check_pipeline import camera_findings, model_findings, worker_findings

    config = parts.config
    here = {name: camera for name, camera in config.cameras.items() if camera.host == host}
    yield from camera_findings(here, is_offline=is_offline).values()
    if parts.has("model") and any(worker.host == host for worker in config.workers):
        yield from model_findings(config)
    yield from worker_findings(parts, host, is_quick=is_quick)
    if parts.has("link", "security"):
        yield from link_findings(config, host)


def findings_of(parts: ValidParts, *, is_quick: bool = False, is_offline: bool = False) -> Iterator[Finding]:
    """Check everything that `edged run` would open and that is valid, in the order of the file.

    Opens network connections to cameras alone; `is_offline`: to those of https:// and rtsps:// alone, whose
    certificates it verifies. `is_quick`: see `worker_findings`.
    """
    from edged.doctor.check_pipeline import (
        camera_findings,
        model_findings,
        state_findings,
        taught_findings,
        worker_findings,
    )

    config = parts.config
    cameras = {name: camera for name, camera in config.cameras.items() if parts.has(f"camera {name}")}
    here = {name: camera for name, camera in cameras.items() if not camera.host}
    found = camera_findings(here, is_offline=is_offline)
    for name, camera in cameras.items():
        yield elsewhere(f"camera {name}", camera.host, name) if camera.host else found[name]
    if parts.has("model"):
        yield from model_findings(config)
        yield from taught_findings(config)
    yield from state_findings(config)
    yield from worker_findings(parts, is_quick=is_quick)
    if parts.has("workers"):
        yield from group_findings(config)
    if config.security:
        yield security_finding(config.security)
    if parts.has("link", "security"):
        yield from link_findings(config, None)
    running = running_config(config)
    if running and parts.is_whole:
        yield daemon_finding(running, config)
    yield from address_findings(parts, running)
    if config.metrics.tls:
        yield tls_finding(config.metrics.tls)
    if config.notify and parts.has("notify"):
        yield notify_finding(config.notify)
    if parts.has("journal"):
        yield journal_finding(config)
    if parts.has("energy"):
        yield energy_finding(config)


def daemon_finding(running: Config, config: Config) -> Finding:
    """Compare the config of the running daemon with this one, and name both by the hash that its metrics show."""
    from edged.hub.reload import changes

    if running == config:
        return Finding("ok", "daemon", f"runs with this config, sha256 {config.sha256[:12]}")
    change = f"`edged reload CONFIG` would change it: {changes(running, config)}"
    return Finding("ok", "daemon", f"runs with other settings than this file, and goes on; {change}")


def address_findings(parts: ValidParts, running: Config | None) -> Iterator[Finding]:
    """Check whether the hub could listen now. `running`: the config of the daemon that already does."""
    used = addresses_of(running) if running else {}
    for key, address in addresses_of(parts.config).items():
        if not parts.has(key.partition(".")[0]):
            continue
        if address and used.get(key) == address:
            yield Finding("ok", key, f"{address} is that of the running daemon")
        elif address:
            yield address_finding(key, address)


def journal_finding(config: Config) -> Finding:
    """Check that the journal's folder exists or can be made and is writable, and that no newer edged wrote it."""
    from edged.hub.journal.schema import NewerLayout, refuse_newer_file

    folder = config.journal.path.parent if config.journal.path else state_directory()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        return Finding("error", "journal", f"{folder}: {existing} is not a folder that this user may write to")
    path = journal_path(config.node, config.journal.path)
    try:
        refuse_newer_file(path)
    except (NewerLayout, OSError) as error:
        return Finding("error", "journal", f"{path} cannot be used: {error}")
    return Finding("ok", "journal", f"{config.journal.path or folder}")


def energy_finding(config: Config) -> Finding:
    """List the power rails that are read, and why others are not."""
    attributed = tuple(
        dict.fromkeys(rail for worker in config.workers if not worker.host for rail in worker.rails or ())
    )
    rails = find_rails(config.energy, attributed or None)
    names = ", ".join(rail.name for rail in rails.rails) or ("" if rails.method == "estimated" else "not measured")
    is_short = rails.unreadable or rails.missing or rails.unread_attributed
    level: Literal["ok", "warning"] = "warning" if is_short else "ok"
    return Finding(level, "energy", ": ".join(filter(None, (names, rails.note))))
