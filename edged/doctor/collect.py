"""Collect the facts of this host, the config and the running daemon; nothing here judges them."""

import getpass
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from edged.camera.discover import list_cameras
from edged.config import EnergyConfig
from edged.config.load import ConfigSource
from edged.config.running_daemon import running_config
from edged.config.valid_parts import ValidParts, valid_parts
from edged.doctor.collect_devices import read_devices
from edged.doctor.collect_service import read_unit, read_workers, run_check
from edged.doctor.collect_system import read_drivers, read_system
from edged.doctor.facts import Facts
from edged.doctor.redaction import without_paths, without_secrets
from edged.energy.find import find_rails
from edged.errors import ConfigError
from edged.system.paths import cache_directory, journal_path, own_cache


def collect(file: Path, begin: Callable[[str], None]) -> Facts:
    """Read everything, the slow self-test of devices last. `begin`: called with what a slow step does."""
    source = ConfigSource(file.absolute())
    parts, problem = _load(source)
    config = parts.config if parts else None
    begin("reading the system")
    is_named = parts is not None and parts.has("node", "journal")
    journal = journal_path(config.node, config.journal.path) if config and is_named else None
    rails = find_rails(config.energy if config else EnergyConfig())
    unit = read_unit()
    running = running_config(config) if config and is_named else None  # None for another user's: then by the unit
    workers = read_workers(running or (config if unit and unit.is_active and not problem else None))
    begin("checking the config, with the model on each device; the first time, kernels compile")
    checked = run_check(source.path) if config else ()
    with own_cache():
        devices, devices_problem = read_devices(begin)
    folders = {"caches": cache_directory()} | ({"journal": journal.parent} if journal else {})
    return Facts(
        system=read_system(folders),
        drivers=read_drivers(os.environ),
        devices=devices,
        devices_problem=devices_problem,
        cameras=list_cameras(),
        rails=tuple(rail.name for rail in (*rails.rails, *rails.others)),
        unreadable_rails=rails.unreadable,
        rails_note=rails.note,
        user=getpass.getuser(),
        unit=unit,
        config_file=str(source.path),
        config_problem=without_paths(problem, config),
        config=without_secrets(config) if config and not problem else {},
        overrides=tuple(source.names()[1:]),
        checked=tuple(replace(each, text=without_paths(each.text, config)) for each in checked),
        workers=workers,
    )


def _load(source: ConfigSource) -> tuple[ValidParts | None, str]:
    """Return what of the config is valid, None if nothing is, and what is wrong with it."""
    parts = None
    try:
        parts = valid_parts(source)
        source.load()
    except ConfigError as error:
        return parts, str(error)
    return parts, ""
