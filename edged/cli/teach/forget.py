"""`edged teach forget` and `repair`: remove crops, or move damaged ones out of the way."""

import argparse

from edged.cli.teach.folder import find_place_of, warn_about
from edged.teach.store import CropStore


def run(arguments: argparse.Namespace) -> int:
    """Remove the named crops, or move the damaged ones to `damaged/`."""
    store = CropStore.open(find_place_of(arguments).folder)
    warn_about(store)
    if arguments.action == "forget":
        removed = store.forget(arguments.label)
        print(f"{len(removed)} crops removed; {len(store.crops)} are left in {store.folder}")
        return 0
    moved = store.repair()
    for path in moved:
        print(f"damaged, moved to {path}")
    print(f"{len(store.crops)} crops are whole" + (f", {len(moved)} files are damaged" if moved else ""))
    return 0
