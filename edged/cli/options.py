"""Command-line options that several verbs share: numbers, and the address and keys of a hub."""

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path

from edged.config import MAX_BATCH, Publish
from edged.transport.address import ZMQ_ADDRESS

DEMO = Path("configs/demo.yaml")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def add_example(parser: argparse.ArgumentParser, *commands: str) -> None:
    """End the help of `parser` with examples: complete command lines."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    lines = "\n".join(f"  {command}" for command in commands)
    parser.epilog = f"{'examples' if len(commands) > 1 else 'example'}:\n{lines}"


def add_json(parser: argparse.ArgumentParser, what: str = "one JSON object") -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help=f"print {what}")


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add CONFIG, the file that `edged run` takes."""
    what = f"the config, a YAML file (default: {DEMO} if it exists)"
    parser.add_argument("config", type=Path, nargs="?", metavar="CONFIG", help=what)


def leaf_parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """List the parsers of all sub-commands, each with its options; `parser` itself if it has no sub-commands."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [leaf for group in groups for each in group.choices.values() for leaf in leaf_parsers(each)] or [parser]


def above_zero(of_what: str, most: float = math.inf) -> Callable[[str], float]:
    """For a number of so many seconds, watts …; at most `most`."""

    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if 0 < value <= most and math.isfinite(value):
            return value
        end = f" and up to {most:g}" if math.isfinite(most) else ""
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of {of_what} above 0{end}")

    return number


seconds = above_zero("seconds")


def ago(text: str) -> float:
    """Seconds, from a number with its unit."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time like 30s, 5m, 2h or 1d")
    return float(match[1]) * UNITS[match[2]]


def positive(text: str) -> int:
    """A whole number from 1 up."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return number


def frames(text: str) -> int:
    """A number of frames that a job may have."""
    number = positive(text)
    if number > MAX_BATCH:
        raise argparse.ArgumentTypeError(f"expected 1 to {MAX_BATCH} frames, found {text}")
    return number


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
