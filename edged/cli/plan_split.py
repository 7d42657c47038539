"""`edged plan-split`: where to cut a network in parts for the workers that there are, and what that will give."""

import argparse
import functools
import json
import sys
from pathlib import Path

from edged.cli.numbers import seconds
from edged.cli.split_hub import in_place_of_the_hub
from edged.cli.split_report import Report
from edged.cli.split_session import measure, try_each
from edged.cli.split_text import as_text
from edged.cli.split_ways import Ways
from edged.cli.split_yaml import lines_of
from edged.config import Config
from edged.config_file import load_config
from edged.errors import ConfigError

FEWEST, MOST = 2, 6  # units: each order of them is looked at


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which workers, and how long to measure them."""
    config = "the config of a hub, which must not run meanwhile; its workers on other hosts are waited for"
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help=config)
    wait = "that all workers may take to be there (default: 60)"
    parser.add_argument("--wait", type=seconds, default=60.0, metavar="SECONDS", help=wait)
    each = "that each measurement takes (default: 2)"
    parser.add_argument("--for", type=seconds, default=2.0, dest="for_s", metavar="SECONDS", help=each)
    parser.add_argument("--try", action="store_true", dest="tries", help="run each way, and say what came out")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Measure, predict, and try where that is asked for."""
    config = load_config(arguments.config).model_copy(update={"segments": ()})
    groups = groups_of(config)
    if not FEWEST <= len(groups) <= MOST:
        raise ConfigError(
            f"{arguments.config}: workers: has {len(groups)} groups (a worker without one is a group); "
            f"expected {FEWEST} to {MOST}"
        )
    tell = functools.partial(print, "edged:", file=sys.stderr, flush=True)
    with in_place_of_the_hub(config, tell) as team:
        team.gather([name for names in groups.values() for name in names], arguments.wait)
        frames = min(hello.batch for hello in team.hellos.values())
        ways = Ways(measure(team, groups, frames, arguments.for_s))
        tried = try_each(team, ways, frames, arguments.for_s) if arguments.tries else {}
        each = list(tried) or [*ways.unsplit, *ways.split]
        report = Report(team.hellos, ways, frames, each, tried)
    best = ways.split[0]
    lines = lines_of(config, best)
    if arguments.json:
        print(json.dumps(report.as_object() | {"config": lines}))
    else:
        print(as_text(report), f"# {best.title}", lines, sep="\n")
    return 0


def groups_of(config: Config) -> dict[str, list[str]]:
    """The names of the workers that serve together, by that of their group, or by the only one's own."""
    groups: dict[str, list[str]] = {}
    for index, worker in enumerate(config.workers):
        name = config.worker_name(index)
        groups.setdefault(worker.group or name, []).append(name)
    return groups
