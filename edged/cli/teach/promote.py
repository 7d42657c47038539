"""`edged teach promote` and `rollback`: change the version that answers; a running daemon loses no frame."""

import argparse
import json
from typing import Any

from edged.cli.daemon_client import connect_daemon
from edged.cli.teach.folder import Place, find_place_of
from edged.cli.teach.train import as_object, features_with_progress, running_verdict
from edged.cli.terminal import note, show, warn
from edged.errors import EdgedError, ModelError
from edged.messages.message import as_dict
from edged.messages.teaching import PromoteAnswer, PromoteRequest
from edged.model.head_versions import PromotedRecord, Version, load_head, load_promoted, save_promoted
from edged.teach.device_choice import find_place, lower_priority
from edged.teach.examples import split
from edged.teach.fit import verdict_of_version
from edged.teach.store import CropStore
from edged.teach.versions import find_version

PROMOTION_LIMIT_S = 60.0  # the workers load the head first


def run(arguments: argparse.Namespace) -> int:
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
        tell = note if arguments.json else show
        tell(f"held-back crops right: version {version}: {after}; what answers now ({name}): {before}")
        problem = f"version {version} is worse than what answers now" if after.right < before.right else ""
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
    try:
        save_promoted(place.folder, after)
    except OSError as error:
        raise EdgedError(f"{place.folder} cannot be written: {error.strerror}; nothing has changed") from None
    what = f"version {after.version[:12]}" if after.version else "the config's model"
    message = f"no edged runs with {place.file}: {what} answers from its next start on"
    return PromoteAnswer(accepted=True, message=message, version=after.version or "")
