"""`edged config schema`: the JSON Schema of the config file, for editors."""

import argparse

from edged.config.load import json_schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One choice, so that `edged config` can learn more later."""
    parser.add_argument("what", choices=["schema"], help="schema: print the JSON Schema of the config file")


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    print(json_schema(), end="")
    return 0
