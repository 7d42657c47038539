"""The command line's words for the profile of a worker that runs."""

import argparse

from edged.cli.numbers import above_zero, positive
from edged.errors import ConfigError
from edged.messages.recording import LONGEST_PROFILE_S

# What is the worker's own matter, and what these are where nobody has named them.
ITS_OWN = {"device": "auto", "batch": 1, "precision": "fp32", "conv": "auto", "compare": None, "model": "digits"}
OF_A_WORKER = ("worker", "frames", "seconds")
FRAMES, SECONDS = 100, 60.0


def add_attach_options(parser: argparse.ArgumentParser) -> None:
    """--attach and what belongs to it."""
    parser.add_argument(
        "--attach",
        nargs="?",
        const="",
        metavar="CONFIG",
        help="profile a worker of the daemon that runs by this file, or whose private link is at this ipc:// "
        "address (default: the demo's), while it serves",
    )
    parser.add_argument("--worker", metavar="NAME", help="with --attach: which, where several serve")
    parser.add_argument(
        "--frames", type=positive, metavar="N", help=f"with --attach: end after so many (default: {FRAMES})"
    )
    parser.add_argument(
        "--seconds",
        type=above_zero("seconds", LONGEST_PROFILE_S),
        metavar="S",
        help=f"with --attach: end after so long in any case (default: {SECONDS:g})",
    )


def check_attach_options(arguments: argparse.Namespace) -> None:
    """Raises ConfigError for what does not go together."""
    if arguments.attach is None:
        if given := [name for name in OF_A_WORKER if getattr(arguments, name) is not None]:
            raise ConfigError(f"--{given[0]} is for --attach: which daemon?")
        return
    if given := [name for name, default in ITS_OWN.items() if getattr(arguments, name, default) != default]:
        raise ConfigError(f"--attach profiles a worker as it runs: leave --{given[0]} out")
    if arguments.trace:
        raise ConfigError("--attach has no --trace: `edged trace --layers` shows the kernels with all around them")
