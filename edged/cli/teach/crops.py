"""`edged teach list`, `versions`, `forget` and `repair`: list what is recorded and trained, or remove crops."""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

from edged.arithmetic import ceil_div
from edged.cli.teach_folder import Place, find_place_of, warn_about
from edged.errors import EdgedError
from edged.model.head_versions import Version, load_promoted
from edged.system.files import FOR_ALL, replace_file, writing
from edged.system.plain_text import counted
from edged.system.terminal import note, show, warn
from edged.teach.listing import store_as_object, versions_as_object
from edged.teach.pictures import contact_sheet, shows_colours, side_by_side
from edged.teach.store import CropStore
from edged.teach.store_crop import Crop, Pixels
from edged.teach.store_files import MEGABYTE, StoreError, counts
from edged.teach.versions import versions_in

COLUMNS = 12  # pixels of a picture on the sheet
ON_SHEET = 48  # crops shown for each label


def run(arguments: argparse.Namespace) -> int:
    """Print the crops or the versions, or remove crops."""
    if arguments.action in {"forget", "repair"}:
        return _remove(arguments)
    place = find_place_of(arguments)
    if arguments.action == "versions":
        _print_versions(place, as_json=arguments.json)
        return 0
    store = CropStore.read(place.folder)
    warn_about(store)
    if arguments.json:
        print(json.dumps(store_as_object(store), ensure_ascii=False))
    else:
        _print_labels(store)
    if arguments.sheet:
        _draw_sheet(arguments.sheet, store)
    return 0


def _print_labels(store: CropStore) -> None:
    if not store.crops:
        show(
            f"no crops in {store.folder}: record some with `edged teach record CONFIG --camera NAME --label LABEL`"
        )
    for label, count in counts(store.crops).items():
        ours = [crop for crop in store.crops if crop.label == label]
        cameras = ", ".join(sorted({crop.camera for crop in ours if crop.camera})) or "an unknown camera"
        period = f"{_format_time(ours[0].recorded_at)} to {_format_time(ours[-1].recorded_at)}"
        show(
            f"{label}: {counted(count.crops, 'crop')}, {count.held_back} of them held back,"
            f" {count.nbytes / MEGABYTE:.2f} MB, from {cameras}, {period}"
        )
        if shows_colours(sys.stdout):
            width = shutil.get_terminal_size().columns
            newest = ours[-max(1, min(8, width // (COLUMNS + 1))) :]
            pictures = [pixels for _, pixels in _read_crops(store, newest)]
            print("\n".join(side_by_side(pictures, COLUMNS)))
    nbytes = sum(crop.nbytes for crop in store.crops)
    limits = f"{store.limits.crops} crops a label and {store.limits.megabytes:g} MB in all"
    crops = counted(len(store.crops), "crop")
    show(f"{crops}, {nbytes / MEGABYTE:.2f} MB; above {limits}, the oldest are removed")


def _read_crops(store: CropStore, crops: list[Crop]) -> list[tuple[Crop, Pixels]]:
    """Read the pixels of these crops; a damaged one is left out with a warning."""
    read = []
    for crop in crops:
        try:
            read.append((crop, store.pixels(crop)))
        except StoreError as error:
            warn(str(error))
    return read


def _draw_sheet(path: Path, store: CropStore) -> None:
    """Draw up to ON_SHEET crops of each label, spread evenly over all of them. Raises ConfigError, EdgedError."""
    rows = {}
    for label in counts(store.crops):
        ours = [crop for crop in store.crops if crop.label == label]
        step = ceil_div(len(ours), ON_SHEET)
        rows[label] = [(pixels, crop.held_back) for crop, pixels in _read_crops(store, ours[::step])]
    if not any(rows.values()):
        raise EdgedError("there are no crops to draw")
    with writing(f"--sheet {path}"), replace_file(path.absolute(), FOR_ALL) as file:
        file.write(contact_sheet(rows))
    note(f"wrote {path}; crops with a frame are held back")


def _print_versions(place: Place, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(versions_as_object(place.folder), ensure_ascii=False))
        return
    promoted = load_promoted(place.folder).version
    versions = versions_in(place.folder)
    if promoted is None:
        print(f"the config's model answers: {place.config.model.path or place.config.model.name}")
    for version in versions:
        show(f"{_line(version)}{'; current' if version.sha256 == promoted else ''}")
    if not versions:
        show(f"no versions in {place.folder}: train one with `edged teach train CONFIG`")


def _line(version: Version) -> str:
    judged = version.held_back
    share = (
        f"{judged['right']} of {judged['crops']} held-back crops right" if judged.get("crops") else "not evaluated"
    )
    return (
        f"{version.sha256[:12]}  {_format_time(version.trained_at)}  {', '.join(version.labels)}; {share}; "
        f"on {version.base.name} {version.base.sha256[:12]}"
    )


def _format_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _remove(arguments: argparse.Namespace) -> int:
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
    show(f"{counted(len(removed), 'crop')} removed; {len(store.crops)} are left in {store.folder}")


def _print_moved(store: CropStore, moved: list[Path], *, as_json: bool) -> None:
    if as_json:
        found = {"folder": str(store.folder), "damaged": list(map(str, moved)), "crops": len(store.crops)}
        print(json.dumps(found, ensure_ascii=False))
        return
    for path in moved:
        print(f"damaged, moved to {path}")
    show(f"{len(store.crops)} crops are whole" + (f", {len(moved)} files are damaged" if moved else ""))
