"""`edged reload`: let the daemon that runs by a config read the file again."""

import argparse
import os
import sys
from pathlib import Path

import zmq

from edged.cli.run import config_or_demo
from edged.config_file import load_config
from edged.errors import ConfigError, EdgedError
from edged.hub.private import link_address
from edged.messages import Reloaded, ReloadRequest, decode, encode
from edged.paths import journal_path, runtime_directory

ANSWER_S = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which daemon."""
    parser.add_argument(
        "config", type=Path, nargs="?", metavar="CONFIG", help="the file that `edged run` was started with"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what has changed; 2 where the file is refused, by us or by the daemon."""
    path = config_or_demo(arguments.config)
    config = load_config(path)
    folder = runtime_directory(journal_path(config.node, config.journal.path))
    if not folder.is_dir():
        raise EdgedError(
            f"no edged runs by {path} ({folder} is absent): has the file another node or journal now?"
        )
    answer = _ask(link_address(folder))
    if not answer.accepted:
        raise ConfigError(answer.message)
    print(answer.message, file=sys.stderr)
    return 0


def _ask(address: str) -> Reloaded:
    with zmq.Context() as context, context.socket(zmq.DEALER) as hub:
        hub.setsockopt(zmq.LINGER, 0)
        hub.setsockopt(zmq.IDENTITY, f"reload/{os.getpid()}".encode())
        hub.connect(address)
        hub.send(encode(ReloadRequest()))
        if not hub.poll(round(ANSWER_S * 1000)):
            raise EdgedError(f"the edged at {address} does not answer within {ANSWER_S:g} s: see its log")
        answer = decode(hub.recv_multipart()[0])
    if not isinstance(answer, Reloaded):
        raise EdgedError(f"the edged at {address} answers with a {answer.kind}: is it another version?")
    return answer
