"""`edged teach train`: train a head on the recorded labels, and compare it with the version that answers."""

import argparse
import json
import time
from typing import TYPE_CHECKING, Any

from edged.cli.teach.folder import Place, find_place_of, warn_about
from edged.cli.terminal import StatusLine, note, show, warn
from edged.errors import ModelError
from edged.model.head import features_of
from edged.model.head_versions import load_head, load_version
from edged.model.package import Model
from edged.system.plain_text import printable_lines
from edged.teach.device_choice import find_place, lower_priority
from edged.teach.examples import LabelledFeatures, check, split
from edged.teach.features import Vector, all_features
from edged.teach.fit import FitSettings, Verdict, fit, verdict_of_head, verdict_of_model, verdict_of_version
from edged.teach.store import CropStore
from edged.teach.versions import write_version

if TYPE_CHECKING:
    from edged.engine.device import Device


EVERY_S = 2.0  # between two lines of progress, without a terminal


def run(arguments: argparse.Namespace) -> int:
    """Train, evaluate and write a version, then print how it did."""
    place = find_place_of(arguments)
    store = CropStore.open(place.folder)
    warn_about(store)
    check(store)
    model = place.model()
    features_of(model.graph)
    given = {name: getattr(arguments, name) for name in ("hidden", "steps", "seed")}
    recipe = FitSettings(**{name: value for name, value in given.items() if value is not None})
    lower_priority()
    device = find_place(place.config.workers, arguments.device)
    train, held_back = split(store, features_with_progress(store, model, device))
    start = time.monotonic()
    head = fit(train, recipe, device)
    took_s = time.monotonic() - start
    verdict = verdict_of_head(head, train.labels, held_back)
    name, before = running_verdict(place, model, held_back)
    version = write_version(place.folder, model, head, train.labels, recipe.seed, as_object(verdict))
    where = device.name if device else "NumPy"
    if arguments.json:
        made = {"trained_on": len(train), "train_s": round(took_s, 3), "device": where}
        result = {**version.model_dump(by_alias=True), **made, "before": {"name": name, **as_object(before)}}
        print(json.dumps(result, ensure_ascii=False))
        return 0
    show(f"trained on {len(train)} crops of {len(train.labels)} labels in {took_s:.1f} s on {where}")
    _print_verdict(verdict, before, name, train.labels)
    show(f"version {version}\nnext: `edged teach shadow CONFIG`, or `edged teach promote CONFIG`")
    return 0


def features_with_progress(store: CropStore, model: Model, device: "Device | None") -> dict[str, Vector]:
    """Get the features of all crops. Missing ones are computed; a terminal shows how many are left."""
    known: dict[str, Vector] = {}
    line, announced = StatusLine(every_s=EVERY_S), False
    for todo, so_far in all_features(store, model, device):
        known = so_far
        if todo and not announced:
            note(f"computing the features of {todo} crops, not computed for {model.name} before")
            announced = True
        if todo:
            line.show(f"{todo} left")
    line.clear()
    return known


def running_verdict(place: Place, model: Model, held_back: LabelledFeatures) -> tuple[str, Verdict]:
    """Evaluate the version that answers now, and return its name too.

    The config's model stands in for a version that cannot be read.
    """
    try:
        sha256 = place.promoted_version()
        version = load_version(place.folder, sha256) if sha256 else None
        if version and version.base.sha256 == model.sha256:
            content = load_head(place.folder, version)
            return f"version {version.sha256[:12]}", verdict_of_version(version, content, held_back)
    except ModelError as error:
        warn(str(error))
    return f"the config's model, {model.name}", verdict_of_model(model, held_back)


def as_object(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict for JSON, as a version's file has it."""
    return {"crops": len(verdict.truth), "right": verdict.right, "accuracy": round(verdict.accuracy, 6)}


def _print_verdict(verdict: Verdict, before: Verdict, name: str, labels: tuple[str, ...]) -> None:
    if not verdict.truth:
        warn("no crop is held back, so the version was not evaluated: record more crops")
        return
    show(f"held-back crops right: {verdict}; what answers now ({name}): {before}\n")
    show(f"{printable_lines(verdict.table(labels))}\n")
