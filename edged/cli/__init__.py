"""The command line: one small module a verb, imported only when it is called.

A verb's module has `add_arguments(parser)` and `run(arguments) -> exit code`.
"""

import argparse
import errno
import importlib
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from edged import __version__
from edged.cli.terminal import show_compiling
from edged.errors import OUT_OF_MEMORY, ConfigError, EdgedError, OutputError
from edged.system.plain_text import printable_lines
from edged.system.standard_streams import discard_unwritten, flush_standard_output, open_standard_streams
from edged.system.systemd import is_started_by_systemd

VERBS = {
    "run": "start the daemon: cameras, worker, prediction stream, metrics",
    "reload": "let the daemon read its config again",
    "check": "validate a config, its model, device and addresses; say what would run",
    "devices": "list OpenCL devices, cameras and power sensors",
    "subscribe": "print predictions as they are published",
    "top": "show what cameras and workers do, twice a second, in a terminal",
    "view": "show the cameras of a node on a page in the browser",
    "export": "take predictions out of the journal, as CSV, JSON lines or Parquet",
    "predict": "classify pictures without a daemon",
    "bench": "time a network on a device",
    "profile": "time each kernel of a network on a device",
    "trace": "record what cameras, hub, workers and devices do, on one time line",
    "teach": "teach the network that runs new labels, from its own cameras",
    "train": "let a network learn from pictures",
    "tune": "find the fastest kernels for a network on a device",
    "model": "write into a model's file what it says of itself: labels, how pictures are prepared",
    "plan-split": "say where to cut a network in parts for several workers",
    "keys": "make the keys of a hub or a subscriber",
    "config": "print the JSON Schema of the config file",
    "camera": "one camera process (the hub starts it)",
    "worker": "one worker process (the hub starts those of its own host)",
}

PROCESSES = {"run", "camera", "worker"}  # they log

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # where standard output goes

EX_CONFIG = 78  # sysexits.h; systemd's RestartPreventExitStatus= takes it


def run_command_line(argv: Sequence[str]) -> int:
    """Run the verb that `argv` names and return the exit code."""
    open_standard_streams()
    try:
        return _run_verb(argv)
    finally:
        discard_unwritten()


def _run_verb(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="edged", description="Image classification appliance.")
    parser.add_argument("--version", action="version", version=f"edged {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb, summary in VERBS.items():
        command = verbs.add_parser(verb, help=summary, description=summary)
        if argv and argv[0] == verb:
            module = importlib.import_module(module_of(verb))
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    arguments = parser.parse_args(argv)
    if arguments.verb not in PROCESSES:
        show_compiling()
    try:
        code = int(arguments.run(arguments))
        flush_standard_output()
    except (EdgedError, MemoryError) as error:
        return tell(error)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT  # as a shell would say it
    except BrokenPipeError:  # the reader of our output has gone: `edged subscribe | head`
        return 0
    except OSError as error:
        if error.errno not in NO_ROOM or error.filename is not None:
            raise
        return tell(OutputError(f"the output cannot be written: {error.strerror}"))
    return code


def module_of(verb: str) -> str:
    """Name the module with `add_arguments` and `run`: `edged.cli.VERB`, or `command` in that package."""
    name = verb.replace("-", "_")
    is_package = (Path(__file__).parent / name).is_dir()
    return f"edged.cli.{name}.command" if is_package else f"edged.cli.{name}"


def tell(error: EdgedError | MemoryError) -> int:
    """Print what is wrong; the exit code that says it too."""
    no_memory = isinstance(error, MemoryError)
    with suppress(OSError):  # the exit code says it too
        print(
            "edged: there is no more memory" if no_memory else f"edged: {printable_lines(str(error))}",
            file=sys.stderr,
            flush=True,
        )
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    return EX_CONFIG if is_started_by_systemd() and isinstance(error, ConfigError) else error.exit_code
