"""`edged config schema`: print the JSON Schema of the config file, for editors."""

import argparse

from edged.cli.options import add_example
from edged.config.load import json_schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_example(parser, "edged config schema > edged.schema.json")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    summary = "print the JSON Schema of the config file"
    add_example(actions.add_parser("schema", help=summary, description=summary), "edged config schema")


def run(arguments: argparse.Namespace) -> int:
    print(json_schema(), end="")
    return 0
