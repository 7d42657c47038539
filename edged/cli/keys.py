"""`edged keys`: who may subscribe from other hosts."""

import argparse
from pathlib import Path

from edged.transport.keys import load_public, new_pair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do with which key."""
    parser.add_argument("action", choices=["new", "show"], help="make a pair of keys, or print a public key")
    parser.add_argument("name", metavar="NAME", help="new: whose keys; show: a NAME.pub or NAME.key")
    parser.add_argument(
        "--directory", type=Path, default=Path(), metavar="FOLDER", help="where to write them (default: here)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Never prints a secret."""
    if arguments.action == "show":
        print(load_public(Path(arguments.name)).decode())
        return 0
    key, pub = new_pair(arguments.directory, arguments.name)
    print(f"{key}  secret: stays on the host of {arguments.name} (mode 0600)")
    print(f"{pub}  public: into `security.allow` of every hub that {arguments.name} may subscribe to,")
    print("  or `security.cameras` and `security.workers`, if it is a host whose cameras and workers may join it;")
    print("  a hub's: to its subscribers as --server-key, to other hosts as `security.hub`")
    return 0
