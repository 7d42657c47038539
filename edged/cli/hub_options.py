"""How a subscriber reaches a hub: its address, and the keys where it asks for them."""

import argparse
import re
from pathlib import Path

from edged.address import ZMQ_ADDRESS
from edged.config import Publish


def add_hub_options(parser: argparse.ArgumentParser) -> None:
    """`address`, `key` and `server_key`."""
    default = Publish().address
    parser.add_argument(
        "address", type=address, nargs="?", default=default, metavar="ADDRESS", help=f"default: {default}"
    )
    parser.add_argument("--key", type=Path, metavar="NAME.key", help="our secret, where the hub asks for one")
    parser.add_argument("--server-key", type=Path, metavar="HUB.pub", help="the hub's public key, with --key")


def address(text: str) -> str:
    """Of a stream, or of a journal's answers."""
    if not re.fullmatch(ZMQ_ADDRESS, text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an address like tcp://127.0.0.1:5570")
    return text
