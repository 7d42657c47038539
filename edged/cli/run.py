"""`edged run`: the daemon."""

import argparse
import functools
import json
import sys
import time
from pathlib import Path

from edged import log
from edged.cli.numbers import positive, seconds
from edged.config_file import load_config
from edged.errors import ConfigError
from edged.hub.figures.report import summary_text
from edged.hub.hub import run_hub
from edged.hub.limits import Limits
from edged.systemd import is_journal

JOURNAL_LINE_S = 60.0
DEMO = Path("configs/demo.yaml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The config, and when to end."""
    parser.add_argument(
        "config", type=Path, nargs="?", metavar="CONFIG", help=f"the YAML file (default: {DEMO}, where it is)"
    )
    parser.add_argument("--count", type=positive, metavar="N", help="end after N predictions")
    parser.add_argument(
        "--duration", type=seconds, metavar="SECONDS", help="end so long after the first worker was ready"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the summary as one JSON object; lines to stderr"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run until the end, a limit or a signal, then print the summary."""
    log.configure()
    path = config_or_demo(arguments.config)
    config = load_config(path)
    lines = sys.stderr if arguments.json else sys.stdout
    start = time.monotonic()
    report = run_hub(
        config,
        path,
        Limits(arguments.count, arguments.duration),
        show=functools.partial(print, file=lines, flush=True),
        line_every_s=JOURNAL_LINE_S if is_journal(lines) else 0.0,
    )
    print(json.dumps(report) if arguments.json else summary_text(report, time.monotonic() - start), flush=True)
    return 0


def config_or_demo(path: Path | None) -> Path:
    """The absolute path of the config that the user has named, or of the demo's. Raises ConfigError."""
    if path is None and not DEMO.is_file():
        raise ConfigError(
            f"no config given, and there is no {DEMO} here: name a file, as in `edged run edged.yaml`"
        )
    return (path or DEMO).absolute()
