"""`edged doctor`: what is wrong with this board, and how to fix it."""

import argparse
import getpass
import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from edged.camera.discover import list_cameras
from edged.cli.check.finding import running_config
from edged.cli.doctor.collect.devices import read_devices
from edged.cli.doctor.collect.service import check_config, read_unit, read_workers
from edged.cli.doctor.collect.system import read_drivers, read_system
from edged.cli.doctor.facts import Facts
from edged.cli.doctor.judge.board import judge
from edged.cli.doctor.report import check_name, page, without_paths, without_secrets, write_bundle
from edged.cli.options import add_example, add_json, config_or_demo
from edged.cli.slow_steps import SlowSteps
from edged.cli.terminal import note
from edged.config import EnergyConfig
from edged.config.load import ConfigSource
from edged.config.valid_parts import ValidParts, valid_parts
from edged.energy.find import find_rails
from edged.errors import ConfigError
from edged.messages.message import as_dict
from edged.system.own_command import as_typed
from edged.system.paths import cache_directory, journal_path, own_cache
from edged.system.plain_text import printable_json

INSTALLED = Path("/etc/edged/edged.yaml")
TO_FIX = 1  # exit code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the config and where the result goes."""
    what = f"the config (default: {INSTALLED} if it exists, else that of `edged run`)"
    parser.add_argument("config", type=Path, nargs="?", metavar="CONFIG", help=what)
    bundle = "also write an archive of the page, all facts and the config without secrets, to attach to a report"
    parser.add_argument("--bundle", type=Path, metavar="FILE.tar.gz", help=bundle)
    add_json(parser, "the facts and the judgement as one JSON object")
    add_example(parser, "edged doctor", "edged doctor edged.yaml --bundle board.tar.gz")


def run(arguments: argparse.Namespace) -> int:
    """Print the page; exit code 1 if something must be fixed."""
    if arguments.bundle:
        check_name(arguments.bundle)
    facts = _collect(arguments.config or (INSTALLED if INSTALLED.exists() else config_or_demo(None)))
    judgements = judge(facts)
    text = as_typed(page(judgements))
    report: dict[str, Any] = {"facts": _as_object(facts), "judgements": [asdict(each) for each in judgements]}
    print(printable_json(json.dumps(report, ensure_ascii=False, default=str)) if arguments.json else text)
    if arguments.bundle:
        write_bundle(arguments.bundle, text, report)
        note(f"wrote {arguments.bundle}, which holds no passwords, keys or pictures: check it before you send it")
    return TO_FIX if any(each.level == "fix" for each in judgements) else 0


def _collect(file: Path) -> Facts:
    """Read everything, the slow self-test of devices last."""
    source = ConfigSource(file.absolute())
    parts, problem = _load(source)
    config = parts.config if parts else None
    steps = SlowSteps()
    steps.begin("reading the system")
    is_named = parts is not None and parts.has("node", "journal")
    journal = journal_path(config.node, config.journal.path) if config and is_named else None
    rails = find_rails(config.energy if config else EnergyConfig())
    unit = read_unit()
    running = running_config(config) if config and is_named else None  # None for another user's: then by the unit
    workers = read_workers(running or (config if unit and unit.is_active and not problem else None))
    steps.begin("checking the config, with the model on each device; the first time, kernels compile")
    checked = check_config(source.path) if config else ()
    with own_cache():
        devices, devices_problem = read_devices(steps.begin)
    steps.end()
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


def _as_object(facts: Facts) -> dict[str, Any]:
    return {**asdict(facts), "system": {**asdict(facts.system), "host": as_dict(facts.system.host)}}
