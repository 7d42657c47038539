"""`edged demo`: the daemon with a camera that draws digits, and the bundled model that reads them."""

import argparse

from edged.cli import run as daemon
from edged.cli.options import add_example, add_settings, packaged_demo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    daemon.add_limits(parser)
    add_settings(parser)
    add_example(parser, "edged demo", "edged demo --count 300 --json")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo's config, which is part of the package."""
    arguments.config = packaged_demo()
    return daemon.run(arguments)
