"""`edged check`: list what a config would run, and everything that would make it fail."""

import argparse

from edged.cli.findings import print_check
from edged.cli.options import add_config, add_example, add_host, add_json, add_quick, config_or_demo
from edged.config.load import ConfigSource


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the config, and the host to check."""
    add_config(parser)
    add_host(parser, "this host's own name if the config has it, else the hub's host")
    add_quick(parser)
    parser.add_argument(
        "--offline", action="store_true", help="do not contact network cameras: each is watched for a second"
    )
    add_json(parser)
    add_example(
        parser, "edged check edged.yaml", "edged check edged.yaml --host big", "edged check edged.yaml --quick"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print all findings; exit code 2 if one of them is an error."""
    source = ConfigSource(arguments.config or config_or_demo(None), tuple(arguments.settings))
    return print_check(
        source, arguments.host, is_quick=arguments.quick, is_offline=arguments.offline, as_json=arguments.json
    )
