"""`edged run`: the daemon."""

import argparse
import json
import logging
import os
import sys
import time
from pathlib import Path

from edged.cli.options import DEMO, add_config, add_duration, add_example, add_json, config_or_demo, positive
from edged.client.node_state import NodeState
from edged.config.load import ConfigSource
from edged.errors import ConfigError, OutputError
from edged.hub.stats.summary import Limits, summary_text
from edged.hub.wiring import run_hub
from edged.system import log
from edged.system.plain_text import fitted
from edged.system.standard_streams import LineWriter, encoder_of, is_gone
from edged.system.terminal import is_terminal

LOGGED_LINE_S = 60.0  # between two status lines of a camera where no terminal shows them
SUMMARY_S = 2.0
SUMMARY_INDENT = 10  # the width of its names
STDOUT, STDERR = 1, 2

events = logging.getLogger("edged.run")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the config, and when to exit."""
    add_config(parser)
    add_limits(parser)
    add_example(parser, "edged run edged.yaml", "edged run configs/demo.yaml --count 300 --json")


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add when to exit, and --json."""
    parser.add_argument("--count", type=positive, metavar="N", help="exit after N predictions")
    add_duration(parser, "exit this long after the first worker is ready")
    add_json(parser, "the summary as one JSON object; status lines go to standard error")


def run(arguments: argparse.Namespace) -> int:
    """Run until all sources end, a limit is reached or a signal arrives; then print the summary."""
    errors = LineWriter(STDERR, encoder_of(sys.stderr))
    output = LineWriter(STDOUT, encoder_of(sys.stdout), _log_lost_lines)
    log.configure(writer=errors)
    source = ConfigSource(_config_to_run(arguments.config), tuple(arguments.settings))
    config = source.load()
    if config.log.format != "text":
        os.environ[log.FORMAT_VARIABLE] = config.log.format  # for all processes of this host
        log.configure(writer=errors)
    lines, stream = (errors, sys.stderr) if arguments.json else (output, sys.stdout)
    below = None if arguments.json or arguments.quiet or config.log.format != "text" else _rows_below(output)
    start = time.monotonic()
    try:
        report = run_hub(
            config,
            source,
            Limits(arguments.count, arguments.duration),
            show=lines.write,
            line_every_s=0.0 if stream and stream.isatty() else LOGGED_LINE_S,  # None: closed
            show_state=below.show if below else None,
        )
    finally:
        if below:
            output.keep_below(None)
            output.flush()
        errors.flush()  # before the summary
    text = summary_text(report, time.monotonic() - start)
    output.write(json.dumps(report) if arguments.json else fitted(text, sys.stdout, SUMMARY_INDENT))
    _check_written(output)
    return 0


class RowsBelow:
    """The state of the node in the lowest rows of the terminal, below the lines that scroll; drawn with rich."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False)
        self._known: NodeState | None = None

    def show(self, known: NodeState) -> None:
        """Show this state from now on."""
        self._known = known

    def draw(self) -> bytes:
        """Return the rows, in as many columns as the terminal has now."""
        from edged.cli.status_rows import status_rows

        if self._known is None:
            return b""
        columns, rows = os.get_terminal_size(STDOUT)
        with self._console.capture() as drawn:
            self._console.print(status_rows(self._known, columns or 80, rows or 24), end="", soft_wrap=True)
        return drawn.get().encode(sys.stdout.encoding, "replace")


def _rows_below(output: LineWriter) -> RowsBelow | None:
    """Return the rows of status that `output` keeps below its lines, log lines among them.

    None where standard output and error are not one terminal: lines are printed instead.
    """
    if not (is_terminal() and sys.stderr and sys.stderr.isatty() and os.ttyname(STDOUT) == os.ttyname(STDERR)):
        return None
    os.environ[log.BELOW_VARIABLE] = "1"  # for the log lines of all processes of this host
    log.configure(writer=output)
    below = RowsBelow()
    output.keep_below(below.draw)
    return below


def _log_lost_lines(error: OSError) -> None:
    events.warning("status lines cannot be written to standard output (%s); the daemon continues", error.strerror)


def _check_written(output: LineWriter) -> None:
    """Raises OutputError if the summary was not written, unless its reader is gone."""
    if not output.flush(SUMMARY_S):
        raise OutputError(f"the summary was not written within {SUMMARY_S:g} s: no process reads standard output")
    if output.error and not is_gone(output.error):
        raise OutputError(f"the summary cannot be written: {output.error.strerror}")


def _config_to_run(path: Path | None) -> Path:
    """Return the given config, or that of the demo in a checkout. Raises ConfigError."""
    if path is None and not DEMO.is_file():
        raise ConfigError(
            "no config is given: `edged run FILE` runs one, `edged init` writes one, `edged demo` needs none"
        )
    return config_or_demo(path)
