"""The command line: one module or package for each verb, imported only when the verb is called.

A verb's module has `add_arguments(parser)` and `run(arguments) -> exit code`. Each error has its exit code in
`edged.errors`; docs/reference/commands.md lists them all.
"""

import argparse
import errno
import importlib
import os
import signal
import sys
from collections.abc import Collection, Sequence
from contextlib import nullcontext, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from edged.cli.options import add_example, add_verbosity, leaf_parsers, log_level
from edged.cli.print_version import PrintVersion
from edged.cli.verbs import VERBS, GroupedHelp
from edged.errors import OUT_OF_MEMORY, ConfigError, EdgedError, OutputError
from edged.system import log
from edged.system.interruption import raise_if_interrupted
from edged.system.own_command import as_typed, examples_as_typed, name_config
from edged.system.plain_text import fitted, printable_lines
from edged.system.standard_streams import discard_unwritten, flush_standard_output, open_standard_streams
from edged.system.systemd import is_started_by_systemd
from edged.system.terminal import INDENT, compiling_shown, print_notes

PROCESSES = {"run", "demo", "serve", "camera", "worker"}
SERVICES = PROCESSES | {"bridge", "view"}  # they configure the log themselves, at level info
DAEMONS = {"run", "demo", "serve"}

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # errors of the device behind standard output

EX_CONFIG = 78  # sysexits.h; systemd's RestartPreventExitStatus= names it


def run_command_line(argv: Sequence[str]) -> int:
    """Run the verb that `argv` names and return the exit code."""
    open_standard_streams()
    try:
        if not argv:
            command_parser(()).print_help(sys.stderr)
            return ConfigError.exit_code
        unknown = _unknown_verb(argv[0])
        return print_error(unknown) if unknown else _run_verb(argv)
    finally:
        discard_unwritten()


class CommandParser(argparse.ArgumentParser):
    """Reports a wrong command line as edged does all problems, in one line."""

    def format_help(self) -> str:
        """Return the help, whose examples work as they are printed."""
        return examples_as_typed(super().format_help())

    def error(self, message: str) -> NoReturn:
        """Raises ConfigError, which names the command whose help has the options."""
        raise ConfigError(f"{message.removeprefix('argument ')}; see `{self.prog} --help`")


def command_parser(verbs: Collection[str] = tuple(VERBS)) -> CommandParser:
    """Build the parser of all verbs; only those of `verbs` are imported and get their arguments."""
    parser = CommandParser(prog="edged", description="Image classification appliance.")
    add_example(parser, "edged demo", "edged init", "edged VERB --help")
    parser.formatter_class = GroupedHelp
    parser.add_argument("--version", action=PrintVersion)
    parser.set_defaults(parser=parser)
    commands = parser.add_subparsers(title="commands", dest="verb", metavar="VERB", required=True)
    for verb, summary in VERBS.items():
        command = commands.add_parser(verb, help=summary, description=summary)
        if verb in verbs:
            module = importlib.import_module(module_of(verb))
            module.add_arguments(command)
            command.set_defaults(run=module.run)
            for leaf in leaf_parsers(command):
                add_verbosity(leaf)
                leaf.set_defaults(parser=leaf)
    return parser


def _run_verb(argv: Sequence[str]) -> int:
    if not DAEMONS.isdisjoint(argv[:1]):
        # a reload that is requested while the daemon starts waits until `edged.hub.signals` can take it
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        arguments = parsed(argv)
    except ConfigError as error:
        return print_error(error)
    _configure_output(arguments)
    name_config(getattr(arguments, "config", None))
    if arguments.verb not in PROCESSES:  # those handle signals of their own
        raise_if_interrupted()
    try:
        with nullcontext() if arguments.verb in PROCESSES else compiling_shown():
            code = int(arguments.run(arguments))
        flush_standard_output()
    except (EdgedError, MemoryError) as error:
        return print_error(error)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT  # as shells report it
    except BrokenPipeError:  # the reader of our output has exited, as in `edged subscribe | head`
        return 0
    except OSError as error:
        if error.errno not in NO_ROOM or error.filename is not None:
            raise
        return print_error(OutputError(f"the output cannot be written: {error.strerror}"))
    return code


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line, which begins with its verb. Raises ConfigError, SystemExit after --help."""
    arguments, unknown = command_parser(argv[:1]).parse_known_args(argv)
    if unknown:
        parser: CommandParser = arguments.parser  # of the command, where `parse_args` would name edged alone
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


def _unknown_verb(name: str) -> ConfigError | None:
    """Return the error for a verb that does not exist, with the most similar one."""
    if name in VERBS or (name.startswith("-") and name != "--"):
        return None
    similar = get_close_matches(name, VERBS, n=1)
    hint = f"did you mean `edged {similar[0]}`? " if similar else ""
    return ConfigError(f"there is no command {name!r}: {hint}`edged --help` lists all")


def _configure_output(arguments: argparse.Namespace) -> None:
    """Apply --verbose and --quiet: to notes, to log lines, and to the log lines of child processes."""
    print_notes(enabled=not arguments.quiet)
    level = log_level(arguments)
    if arguments.verb in SERVICES:
        if level:
            os.environ[log.LEVEL_VARIABLE] = level
        return
    log.configure(level, usual="warning")


def module_of(verb: str) -> str:
    """Name the module with `add_arguments` and `run`: `edged.cli.VERB`, or `command` in that package."""
    name = verb.replace("-", "_")
    is_package = (Path(__file__).parent / name / "command.py").is_file()
    return f"edged.cli.{name}.command" if is_package else f"edged.cli.{name}"


def print_error(error: EdgedError | MemoryError) -> int:
    """Print the error on standard error, and return its exit code."""
    text = "out of memory" if isinstance(error, MemoryError) else as_typed(printable_lines(str(error)))
    with suppress(OSError):  # the exit code is enough
        print(fitted(f"edged: {text}", sys.stderr, INDENT), file=sys.stderr, flush=True)
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    return EX_CONFIG if is_started_by_systemd() and isinstance(error, ConfigError) else error.exit_code
