"""`edged trace`: record all processes of a daemon on one time line."""

import argparse
import json
from pathlib import Path

from edged.cli.daemon_client import add_daemon, connect_daemon, record
from edged.cli.options import add_duration, add_example, add_json, duration
from edged.errors import ConfigError, EdgedError
from edged.messages import TraceRequest
from edged.messages.recording import LONGEST_TRACE_S
from edged.system.files import writing
from edged.system.plain_text import counted
from edged.system.terminal import warn
from edged.tracing.otlp import check_installed, collector_url, send_frames
from edged.tracing.timeline import frame_ways, trace_file

SECONDS = 5.0
VIEWER = "https://ui.perfetto.dev"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the daemon, the duration and the file."""
    add_daemon(parser)
    length = f"how long to record (default: {SECONDS:g}s)"
    add_duration(parser, length, type=duration(LONGEST_TRACE_S), default=SECONDS)
    parser.add_argument(
        "--layers", action="store_true", help="time each kernel too, which slows the worker slightly"
    )
    output = f"trace file, for {VIEWER} or chrome://tracing (default: trace.json)"
    parser.add_argument("--output", type=Path, default=Path("trace.json"), metavar="FILE.json", help=output)
    otlp = "also send each frame as a trace to an OpenTelemetry collector (OTLP over HTTP)"
    parser.add_argument("--otlp", metavar="URL", help=otlp)
    add_json(parser)
    add_example(
        parser,
        "edged trace edged.yaml --duration 5s --output trace.json",
        "edged trace edged.yaml --otlp http://127.0.0.1:4318",
    )


def run(arguments: argparse.Namespace) -> int:
    """Record, write the file, and print how much is in it. Raises ConfigError, EdgedError."""
    _check_output(arguments.output)
    collector = collector_url(arguments.otlp) if arguments.otlp else None
    if collector:
        check_installed()
    with connect_daemon(arguments.config, "trace", arguments.settings) as daemon:
        recording = record(daemon, TraceRequest(seconds=arguments.duration, layers=arguments.layers))
    trace = trace_file(recording)
    _write(arguments.output, json.dumps(trace, ensure_ascii=False))
    facts = trace["otherData"]
    missed = recording.ended.missed if recording.ended else 0
    counts = {"frames": facts["frames"], "events": len(trace["traceEvents"]), "missed": missed}
    if missed:
        warn(f"{counted(missed, 'message')} missing: this process was too slow")
    spans = send_frames(collector, facts["node"], frame_ways(recording)) if collector else 0
    if arguments.json:
        print(json.dumps({"file": str(arguments.output), **counts, **({"spans": spans} if collector else {})}))
    else:
        found = f"{counted(counts['frames'], 'frame')}, {counted(counts['events'], 'event')}"
        print(f"{arguments.output}: {found}; open it with {VIEWER}")
        if collector:
            print(f"{collector}: {counted(spans, 'span')}")
    return 0


def _check_output(path: Path) -> None:
    """Raises ConfigError, before anything is recorded, for a path that cannot be written."""
    if not path.parent.is_dir() or path.is_dir():
        raise ConfigError(f"--output {path}: expected a file name in an existing folder")


def _write(path: Path, text: str) -> None:
    with writing(path, EdgedError):
        path.write_text(text, "utf-8")
