"""`edged trace`: what every process of a daemon does, on one time line."""

import argparse
import json
import sys
from pathlib import Path

from edged.cli.daemon_client import ADDRESS_HELP, Recording, connect_daemon, record
from edged.cli.options import above_zero
from edged.cli.trace.timeline import trace_file
from edged.errors import ConfigError, EdgedError
from edged.messages import TraceRequest
from edged.messages.recording import LONGEST_TRACE_S

SECONDS = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which daemon, for how long, and where to."""
    parser.add_argument("where", nargs="?", metavar="CONFIG", help=f"{ADDRESS_HELP} (default: the demo's)")
    parser.add_argument(
        "--seconds",
        type=above_zero("seconds", LONGEST_TRACE_S),
        default=SECONDS,
        metavar="S",
        help=f"how long (default: {SECONDS:g})",
    )
    parser.add_argument("--layers", action="store_true", help="time each kernel too, which costs a little")
    out = "where to write it, for https://ui.perfetto.dev or chrome://tracing (default: trace.json)"
    parser.add_argument("--out", type=Path, default=Path("trace.json"), metavar="FILE.json", help=out)


def run(arguments: argparse.Namespace) -> int:
    """Write the file and say what is in it."""
    _check_place(arguments.out)
    with connect_daemon(arguments.where, "trace") as daemon:
        recording = record(daemon, TraceRequest(seconds=arguments.seconds, layers=arguments.layers))
    trace = trace_file(recording)
    _write(arguments.out, json.dumps(trace, ensure_ascii=False))
    facts = trace["otherData"]
    print(f"{arguments.out}: {facts['frames']} frames, {len(trace['traceEvents'])} events")
    _complain(recording)
    return 0


def _complain(recording: Recording) -> None:
    if recording.ended and recording.ended.missed:
        print(f"edged: {recording.ended.missed} messages are missing: this process was too slow", file=sys.stderr)


def _check_place(path: Path) -> None:
    """Before anybody is asked for anything."""
    if not path.parent.is_dir() or path.is_dir():
        raise ConfigError(f"--out {path}: expected the name of a file in a folder that is there")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise EdgedError(f"{path} cannot be written: {error.strerror}") from None
