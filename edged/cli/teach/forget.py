"""`edged teach --forget`, `--repair`: fewer crops."""

import argparse

from edged.cli.teach.folder import place_of, tell_about
from edged.teach.store import Store


def run(arguments: argparse.Namespace) -> int:
    """Remove them, or set aside those that are damaged."""
    store = Store.open(place_of(arguments).folder)
    tell_about(store)
    if arguments.forget is not None:
        gone = store.forget(arguments.forget)
        print(f"{len(gone)} crops removed; {len(store.crops)} are left in {store.folder}")
        return 0
    moved = store.repair()
    for path in moved:
        print(f"set aside: {path}")
    print(f"{len(store.crops)} crops are whole" + (f", {len(moved)} files are set aside" if moved else ""))
    return 0
