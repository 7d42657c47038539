"""`edged reload`: let the daemon that runs by a config read the file again."""

import argparse
import sys

from edged.cli.daemon_client import ADDRESS_HELP, connect_daemon
from edged.errors import ConfigError
from edged.messages import ReloadAnswer, ReloadRequest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which daemon."""
    parser.add_argument("config", nargs="?", metavar="CONFIG", help=f"{ADDRESS_HELP} (default: the demo's)")


def run(arguments: argparse.Namespace) -> int:
    """Print what has changed; 2 where the file is refused, by us or by the daemon."""
    with connect_daemon(arguments.config, "reload") as daemon:
        daemon.send(ReloadRequest())
        answer, _ = daemon.receive()
        if not isinstance(answer, ReloadAnswer):
            raise daemon.unexpected(answer)
        if not answer.accepted:
            raise ConfigError(answer.message)
    print(answer.message, file=sys.stderr)
    return 0
