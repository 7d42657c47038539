"""`edged teach train`, `promote` and `rollback`: train a version, compare it, and change the one that answers.

A running daemon changes its version without losing a frame.
"""

import argparse
import json
from typing import TYPE_CHECKING, Any

from edged.cli.daemon_client import connect_daemon
from edged.cli.teach_folder import Place, find_place_of, warn_about
from edged.errors import EdgedError, ModelError
from edged.messages.message import as_dict
from edged.messages.teaching import PromoteAnswer, PromoteRequest
from edged.model.head import features_of
from edged.model.head_versions import (
    PromotedRecord,
    Version,
    load_head,
    load_promoted,
    load_version,
    save_promoted,
)
from edged.model.package import Model
from edged.system.files import writing
from edged.system.plain_text import counted, printable_lines
from edged.system.terminal import StatusLine, note, show, warn
from edged.teach.device_choice import find_place, lower_priority
from edged.teach.features import Vector, all_features
from edged.teach.fit import (
    FitSettings,
    LabelledFeatures,
    Verdict,
    check,
    fit,
    split,
    verdict_of_head,
    verdict_of_model,
    verdict_of_version,
)
from edged.teach.store import CropStore
from edged.teach.versions import find_version, write_version

if TYPE_CHECKING:
    from edged.engine.device import Device

EVERY_S = 2.0  # between two lines of progress, without a terminal

PROMOTION_LIMIT_S = 60.0  # the workers load the head first


def train_version(arguments: argparse.Namespace) -> int:
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
    fitted = fit(train, recipe, device)
    head = fitted.head
    verdict = verdict_of_head(head, train.labels, held_back)
    name, before = running_verdict(place, model, held_back)
    version = write_version(place.folder, model, head, train.labels, recipe.seed, as_object(verdict))
    where = device.name if device else "NumPy"
    if arguments.json:
        made = {"trained_on": len(train), "train_s": round(fitted.train_s, 3), "device": where}
        made["compile_s"] = round(fitted.compile_s, 3)
        result = {**version.model_dump(by_alias=True), **made, "before": {"name": name, **as_object(before)}}
        print(json.dumps(result, ensure_ascii=False))
        return 0
    crops = f"{counted(len(train), 'crop')} of {counted(len(train.labels), 'label')}"
    compiled = f", after {fitted.compile_s:.1f} s to compile its kernels" if fitted.compile_s else ""
    show(f"trained on {crops} in {fitted.train_s:.1f} s on {where}{compiled}")
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
            note(f"computing the features of {counted(todo, 'crop')}, not computed for {model.name} before")
            announced = True
        if todo:
            line.show(f"{todo} left")
    line.clear()
    return known


def running_verdict(place: Place, model: Model, held_back: LabelledFeatures) -> tuple[str, Verdict]:
    """Evaluate the current version, and return its name too.

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
    show(f"held-back crops right: {verdict}; the current model ({name}): {before}\n")
    show(f"{printable_lines(verdict.table(labels))}\n")


def change_version(arguments: argparse.Namespace) -> int:
    """Evaluate and promote a version, or roll back."""
    place, evaluation = find_place_of(arguments), {}
    request = PromoteRequest(roll_back=True)
    if arguments.action == "promote":
        version = find_version(place.folder, arguments.version)
        load_head(place.folder, version)
        evaluation = _check_better(place, version, arguments)
        request = PromoteRequest(version=version.sha256)
    answer = _apply(arguments, place, request)
    if arguments.json:
        print(json.dumps({**as_dict(answer), **evaluation}, ensure_ascii=False))
    else:
        show(answer.message)
    return 0


def _check_better(place: Place, version: Version, arguments: argparse.Namespace) -> dict[str, Any]:
    """Compare the version with the one that answers, on the held-back crops. Returns the result for JSON.

    Raises ModelError if it is worse, or cannot be compared, unless --force is given.
    """
    model = place.model()
    if version.base.sha256 != model.sha256:
        raise ModelError(
            f"version {version} was trained on the model {version.base.name} {version.base.sha256[:12]}, "
            f"but {place.file} has {model.name} {model.sha256[:12]}: train one for it"
        )
    store, evaluation = CropStore.read(place.folder), {}
    if not any(crop.held_back for crop in store.crops):
        problem = "there are no held-back crops to evaluate it with"
    else:
        lower_priority()
        _, held_back = split(store, features_with_progress(store, model, find_place(place.config.workers, None)))
        after = verdict_of_version(version, load_head(place.folder, version), held_back)
        name, before = running_verdict(place, model, held_back)
        evaluation = {"held_back": as_object(after), "before": {"name": name, **as_object(before)}}
        output = note if arguments.json else show
        output(f"held-back crops right: version {version}: {after}; the current model ({name}): {before}")
        problem = f"version {version} is worse than the current model" if after.right < before.right else ""
    if problem and not arguments.force:
        raise ModelError(f"not promoted: {problem}; --force promotes it anyway")
    if problem:
        warn(problem)
    return evaluation


def _apply(arguments: argparse.Namespace, place: Place, request: PromoteRequest) -> PromoteAnswer:
    if not place.daemon_runs():
        return _without_daemon(place, request)
    with connect_daemon(arguments.config, "teach", arguments.settings) as daemon:
        daemon.send(request)
        answer, _ = daemon.receive(PROMOTION_LIMIT_S)
        if not isinstance(answer, PromoteAnswer):
            raise daemon.unexpected(answer)
    if not answer.accepted:
        raise EdgedError(answer.message)
    return answer


def _without_daemon(place: Place, request: PromoteRequest) -> PromoteAnswer:
    record = load_promoted(place.folder)
    after: PromotedRecord = record.promote(request.version) if request.version else record.roll_back()
    with writing(place.folder, EdgedError, "nothing has changed"):
        save_promoted(place.folder, after)
    what = f"version {after.version[:12]}" if after.version else "the config's model"
    message = f"no running edged uses {place.file}: {what} answers from its next start on"
    return PromoteAnswer(accepted=True, message=message, version=after.version or "")
