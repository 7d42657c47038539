"""`edged plan-split`: where to cut a network in parts for the workers that there are, and what that will give."""

import argparse
import functools
import json
import sys
from itertools import groupby
from pathlib import Path

from edged.cli.numbers import seconds
from edged.cli.split_hub import in_place_of_the_hub
from edged.cli.split_report import Report
from edged.cli.split_session import measure, slower_now, try_each
from edged.cli.split_text import as_text
from edged.cli.split_ways import Ways
from edged.cli.split_yaml import lines_of
from edged.config import Config
from edged.config_file import load_config
from edged.errors import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which workers, and how long to measure them."""
    config = "the config of a hub, which must not run meanwhile; its workers on other hosts are waited for"
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help=config)
    wait = "that all workers may take to be there (default: 60)"
    parser.add_argument("--wait", type=seconds, default=60.0, metavar="SECONDS", help=wait)
    each = "that each measurement takes (default: 3)"
    parser.add_argument("--for", type=seconds, default=3.0, dest="for_s", metavar="SECONDS", help=each)
    parser.add_argument("--try", action="store_true", dest="tries", help="run each way, and say what came out")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Measure, predict, and try where that is asked for."""
    config = load_config(arguments.config).model_copy(update={"segments": ()})
    groups = groups_of(config)
    if len(groups) < 2:
        raise ConfigError(f"{arguments.config}: workers: has one worker, or one group alone; a split takes two")
    tell = functools.partial(print, "edged:", file=sys.stderr, flush=True)
    with in_place_of_the_hub(config) as team:
        team.gather([name for names in groups.values() for name in names], arguments.wait, tell)
        frames = min(hello.batch for hello in team.hellos.values())
        ways = Ways(measure(team, groups, frames, arguments.for_s, tell))
        split = ways.split()
        each = [*ways.unsplit(), *split]
        tried = try_each(team, each, frames, arguments.for_s, tell) if arguments.tries else {}
        slower = slower_now(team, ways.units, frames, arguments.for_s) if arguments.tries else {}
        report = Report(team.hellos, ways, frames, each, tried, slower)
    lines = lines_of(config, split[0])
    if arguments.json:
        print(json.dumps(report.as_object() | {"config": lines}))
    else:
        print(as_text(report), f"# {split[0].title}", lines, sep="\n")
    return 0


def groups_of(config: Config) -> dict[str, list[str]]:
    """The names of the workers that serve together, by that of their group, or by the only one's own."""
    places = range(len(config.workers))
    runs = groupby(places, lambda index: config.workers[index].group or config.worker_name(index))
    return {str(group): [config.worker_name(index) for index in run] for group, run in runs}
