"""`edged teach forget` and `repair`: remove crops, or move damaged ones out of the way."""

import argparse
import json
from pathlib import Path

from edged.cli.teach.folder import find_place_of, warn_about
from edged.teach.store import CropStore
from edged.teach.store_crop import Crop


def run(arguments: argparse.Namespace) -> int:
    """Remove the named crops, or move the damaged ones to `damaged/`."""
    store = CropStore.open(find_place_of(arguments).folder)
    warn_about(store)
    if arguments.action == "forget":
        _print_removed(store, store.forget(arguments.label), as_json=arguments.json)
    else:
        _print_moved(store, store.repair(), as_json=arguments.json)
    return 0


def _print_removed(store: CropStore, removed: list[Crop], *, as_json: bool) -> None:
    if as_json:
        files = [crop.file for crop in removed]
        found = {"folder": str(store.folder), "removed": files, "crops": len(store.crops)}
        print(json.dumps(found, ensure_ascii=False))
        return
    print(f"{len(removed)} crops removed; {len(store.crops)} are left in {store.folder}")


def _print_moved(store: CropStore, moved: list[Path], *, as_json: bool) -> None:
    if as_json:
        found = {"folder": str(store.folder), "damaged": list(map(str, moved)), "crops": len(store.crops)}
        print(json.dumps(found, ensure_ascii=False))
        return
    for path in moved:
        print(f"damaged, moved to {path}")
    print(f"{len(store.crops)} crops are whole" + (f", {len(moved)} files are damaged" if moved else ""))
