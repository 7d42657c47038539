"""`edged reload`: make the daemon of a config read the file again."""

import argparse
import json
import sys

from edged.cli.daemon_client import add_daemon, connect_daemon
from edged.cli.options import add_example, add_json
from edged.errors import ConfigError
from edged.messages import ReloadAnswer, ReloadRequest
from edged.messages.message import as_dict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the daemon's config or address."""
    add_daemon(parser)
    add_json(parser)
    add_example(parser, "edged reload edged.yaml", "edged reload edged.yaml --json")


def run(arguments: argparse.Namespace) -> int:
    """Print what has changed. Raises ConfigError if this process or the daemon rejects the file."""
    with connect_daemon(arguments.config, "reload", arguments.settings) as daemon:
        daemon.send(ReloadRequest())
        answer, _ = daemon.receive()
        if not isinstance(answer, ReloadAnswer):
            raise daemon.unexpected(answer)
        if not answer.accepted:
            raise ConfigError(answer.message)
    if arguments.json:
        print(json.dumps(as_dict(answer), ensure_ascii=False))
    else:
        print(answer.message, file=sys.stderr)
    return 0
