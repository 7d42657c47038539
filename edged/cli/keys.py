"""`edged keys`: make the CURVE keys by which a hub admits peers of other hosts."""

import argparse
import json
from pathlib import Path

from edged.cli.options import add_example, add_json
from edged.transport.keys import load_public, new_pair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-commands `new` and `show`."""
    add_example(parser, "edged keys new alice", "edged keys show alice.pub")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    summary = "create a key pair: NAME.key, secret, and NAME.pub, public"
    new = actions.add_parser("new", help=summary, description=summary)
    new.add_argument("name", metavar="NAME", help="who will use the keys: a subscriber or a host")
    folder = "where to write both files (default: the current folder)"
    new.add_argument("--output", type=Path, default=Path(), metavar="FOLDER", help=folder)
    add_json(new)
    add_example(new, "edged keys new alice --output /etc/edged/keys")
    summary = "print a public key"
    show = actions.add_parser("show", help=summary, description=summary)
    show.add_argument("file", type=Path, metavar="FILE", help="a NAME.pub or NAME.key")
    add_json(show)
    add_example(show, "edged keys show alice.pub")


def run(arguments: argparse.Namespace) -> int:
    """Make or show keys; a secret is never printed."""
    if arguments.action == "show":
        public = load_public(arguments.file).decode()
        print(json.dumps({"public": public}) if arguments.json else public)
        return 0
    key, pub = new_pair(arguments.output, arguments.name)
    if arguments.json:
        print(json.dumps({"key": str(key), "pub": str(pub), "public": load_public(pub).decode()}))
        return 0
    print(f"{key}  secret: stays on the host of {arguments.name} (mode 0600)")
    print(f"{pub}  public: add it to `security.allow` of every hub that {arguments.name} subscribes to,")
    print("  or to `security.cameras` and `security.workers` for a host whose cameras and workers may join;")
    print("  a hub's: pass it to subscribers as --server-key, and to other hosts as `security.hub`")
    return 0
