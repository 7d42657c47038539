"""`edged teach --list`, `--versions`: what was recorded, and what was trained."""

import argparse
import shutil
import sys
import time
from pathlib import Path

from edged.cli.teach.folder import Place, place_of, tell_about
from edged.errors import ConfigError, EdgedError
from edged.model.head_versions import Version, load_promoted
from edged.system.atomic_file import FOR_ALL, replace_file
from edged.teach.pictures import contact_sheet, shows_colours, side_by_side
from edged.teach.store import Store
from edged.teach.store_crop import Crop, Pixels
from edged.teach.store_files import StoreError
from edged.teach.store_manifest import MEGABYTE, counts
from edged.teach.versions import versions_in

COLUMNS = 12  # of a picture
ON_SHEET = 48  # crops of a label


def run(arguments: argparse.Namespace) -> int:
    """Print it."""
    place = place_of(arguments)
    if arguments.versions:
        return _versions(place)
    store = Store.read(place.folder)
    tell_about(store)
    _labels(store)
    if arguments.sheet:
        _sheet(arguments.sheet, store)
    return 0


def _labels(store: Store) -> None:
    if not store.crops:
        print(f"no crops yet in {store.folder}: `edged teach CONFIG --camera NAME --label LABEL` records some")
    for label, count in counts(store.crops).items():
        ours = [crop for crop in store.crops if crop.label == label]
        cameras = ", ".join(sorted({crop.camera for crop in ours if crop.camera})) or "an unknown camera"
        print(
            f"{label}: {count.crops} crops, {count.held_back} of them held back, {count.nbytes / MEGABYTE:.2f} MB,"
            f" from {cameras}, {_at(ours[0].recorded_at)} to {_at(ours[-1].recorded_at)}"
        )
        if shows_colours(sys.stdout):
            width = shutil.get_terminal_size().columns
            newest = ours[-max(1, min(8, width // (COLUMNS + 1))) :]
            pictures = [pixels for _, pixels in _whole(store, newest)]
            print("\n".join(side_by_side(pictures, COLUMNS)))
    nbytes = sum(crop.nbytes for crop in store.crops)
    limits = f"{store.limits.crops} a label and {store.limits.megabytes:g} MB may be kept"
    print(f"{len(store.crops)} crops, {nbytes / MEGABYTE:.2f} MB; {limits}, then the oldest go")


def _whole(store: Store, crops: list[Crop]) -> list[tuple[Crop, Pixels]]:
    """Those that can be read."""
    read = []
    for crop in crops:
        try:
            read.append((crop, store.pixels(crop)))
        except StoreError as error:
            print(f"edged: warning: {error}", file=sys.stderr)
    return read


def _sheet(path: Path, store: Store) -> None:
    """Of each label as many as there is room for, spread over all of them."""
    rows = {}
    for label in counts(store.crops):
        ours = [crop for crop in store.crops if crop.label == label]
        step = -(-len(ours) // ON_SHEET)
        rows[label] = [(pixels, crop.held_back) for crop, pixels in _whole(store, ours[::step])]
    if not any(rows.values()):
        raise EdgedError("there are no crops to draw a sheet of")
    try:
        with replace_file(path.absolute(), FOR_ALL) as file:
            file.write(contact_sheet(rows))
    except OSError as error:
        raise ConfigError(f"--sheet {path} cannot be written: {error.strerror}") from None
    print(f"{path}: those with a frame are held back")


def _versions(place: Place) -> int:
    promoted = load_promoted(place.folder)
    if promoted.version is None:
        print(f"the config's model answers: {place.config.model.path or place.config.model.name}")
    versions = versions_in(place.folder)
    for version in versions:
        print(f"{_line(version)}{', answers now' if version.sha256 == promoted.version else ''}")
    if not versions:
        print(f"no versions yet in {place.folder}: `edged teach CONFIG --train` makes one")
    return 0


def _line(version: Version) -> str:
    judged = version.held_back
    share = (
        f"{judged['right']} of {judged['crops']} held-back crops right" if judged.get("crops") else "not judged"
    )
    return (
        f"{version.sha256[:12]}  {_at(version.trained_at)}  {', '.join(version.labels)}; {share}; "
        f"on {version.base.name} {version.base.sha256[:12]}"
    )


def _at(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
