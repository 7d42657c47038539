"""`edged check`: what a config would run, and everything that is in its way."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from edged.cli.check.finding import Finding
from edged.cli.check.hosts import (
    address_finding,
    elsewhere,
    group_findings,
    link_findings,
    listens_at,
    security_finding,
    this_host,
    tls_finding,
)
from edged.cli.check.pipeline import camera_finding, model_findings, taught_findings, worker_findings
from edged.config import Config
from edged.config.load import load_config
from edged.energy.find import find_rails
from edged.errors import ConfigError
from edged.system.paths import state_directory
from edged.system.plain_text import printable_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("config", type=Path, metavar="CONFIG", help="YAML file")
    parser.add_argument(
        "--host",
        metavar="NAME",
        help="check what this host does; default: its own name, if the file has it, else the hub",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print all findings; 2 if one of them is an error."""
    config = load_config(arguments.config)
    host = this_host(config, arguments.host)
    findings = list(findings_at(config, host) if host else findings_of(config))
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{finding.level:8} {finding.what:{width}}  {printable_lines(finding.text)}")
    errors = sum(finding.level == "error" for finding in findings)
    program = "`edged camera` or `edged worker`" if host else "`edged run`"
    verdict = f"{program} would fail, {errors} error{'s' * (errors > 1)} above" if errors else "ready to run"
    print(f"{arguments.config}: {verdict}{f' on {host}' * bool(host)}")
    return ConfigError.exit_code if errors else 0


def findings_at(config: Config, host: str) -> Iterator[Finding]:
    """Everything that the cameras and workers of another host would meet there."""
    for name, camera in config.cameras.items():
        if camera.host == host:
            yield camera_finding(name, camera)
    if any(worker.host == host for worker in config.workers):
        yield from model_findings(config)
    yield from worker_findings(config, host)
    yield from link_findings(config, host)


def findings_of(config: Config) -> Iterator[Finding]:
    """Everything that `edged run` would meet, in the order of the file.

    Opens no network connection but to https:// and rtsps:// cameras, whose certificates it verifies.
    """
    for name, camera in config.cameras.items():
        yield elsewhere(f"camera {name}", camera.host, name) if camera.host else camera_finding(name, camera)
    yield from model_findings(config)
    yield from taught_findings(config)
    yield from worker_findings(config)
    yield from group_findings(config)
    if config.security:
        yield security_finding(config.security)
    yield from link_findings(config, None)
    addresses = {
        "link.address": listens_at(config),
        "publish.address": config.publish.address,
        "publish.replay": config.publish.replay,
        "metrics.address": config.metrics.address,
    }
    for key, address in addresses.items():
        if address:
            yield address_finding(key, address)
    if config.metrics.tls:
        yield tls_finding(config.metrics.tls)
    yield journal_finding(config)
    yield energy_finding(config)


def journal_finding(config: Config) -> Finding:
    """Whether the journal's folder can be made or written."""
    folder = config.journal.path.parent if config.journal.path else state_directory()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Finding("ok", "journal", f"{config.journal.path or folder}")
    return Finding("error", "journal", f"{folder}: {existing} is no folder that this user may write to")


def energy_finding(config: Config) -> Finding:
    """Which rails are read, and why others are not."""
    borne = tuple(
        dict.fromkeys(rail for worker in config.workers if not worker.host for rail in worker.rails or ())
    )
    rails = find_rails(config.energy, borne or None)
    names = ", ".join(rail.name for rail in rails.rails) or ("" if rails.method == "estimated" else "not measured")
    is_short = rails.unreadable or rails.missing or rails.not_borne
    level: Literal["ok", "warning"] = "warning" if is_short else "ok"
    return Finding(level, "energy", ": ".join(filter(None, (names, rails.note))))
