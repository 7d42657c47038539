"""Run `edged eval` of a detector: find the boxes of all pictures, judge them, and print the figures."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from edged.cli.cluster_options import require, worker_config
from edged.cli.eval.box_report import BoxReport, Truth
from edged.cli.eval.kept_run import Answered, Evaluator, answered
from edged.cli.model_options import model_config
from edged.errors import ConfigError, DataError, ImageError, ModelError
from edged.evaluation.annotations import (
    BoxPicture,
    BoxPictures,
    annotated_pictures,
    annotations_beside,
    plain_pictures,
)
from edged.evaluation.detect import LEAST_SCORE, BoxAnswer, DeviceDetection, OnnxruntimeDetection, with_low_scores
from edged.evaluation.kept_answers import KeptAnswers
from edged.evaluation.mean_precision import PACKAGE
from edged.evaluation.onnxruntime_scores import OnnxruntimeNetwork
from edged.model.model_part import whole_model
from edged.model.package import Model, model_path
from edged.runtime.proven import open_proven
from edged.system.disk_cache import code_sha256
from edged.system.plain_text import counted, printable_json, printable_lines
from edged.system.terminal import note, warn

CODE = ("pictures", "runtime", "engine", "evaluation", "model", "detection")


def run_box_evaluation(model: Model, arguments: argparse.Namespace) -> int:
    """Print the figures of a detector; return the exit code. Raises EdgedError, KeyboardInterrupt."""
    assert model.detector, "a detector"  # noqa: S101
    if arguments.ray:
        raise ConfigError(f"--ray: {model.name} is a detector, which one machine evaluates: leave --ray out")
    require(PACKAGE, "mAP")
    data = _pictures(model, arguments)
    thresholds = model.detector.limits.thresholds
    least = LEAST_SCORE if arguments.threshold is None or not data.annotations else arguments.threshold
    judged = replace(model, detector=with_low_scores(model.detector, least))
    network = _onnxruntime(model, arguments, is_required=not data.annotations)
    device = open_proven(whole_model(judged), worker_config(arguments)).runtime
    found = _answered(judged, DeviceDetection(judged, device, arguments.batch), data, arguments)
    other = _answered(judged, OnnxruntimeDetection(judged, network), data, arguments) if network else None
    truth = Truth(data, thresholds, network.version if network else "")
    report = BoxReport(judged, device.device_name, arguments, truth, found, other)
    if arguments.json:
        print(printable_json(json.dumps(report.as_object(), ensure_ascii=False)))
    else:
        print(printable_lines(report.as_text()))
    return _report_unread(data, found.answers)


def _pictures(model: Model, arguments: argparse.Namespace) -> BoxPictures:
    annotations: Path | None = arguments.annotations or annotations_beside(arguments.data)
    upright, count = not arguments.no_exif, arguments.count
    if annotations is None:
        note("no annotations: the boxes of onnxruntime count as right; --annotations FILE.json names better ones")
        return plain_pictures(arguments.data, count, upright=upright)
    return annotated_pictures(arguments.data, annotations, model.labels, count, upright=upright)


def _onnxruntime(model: Model, arguments: argparse.Namespace, *, is_required: bool) -> OnnxruntimeNetwork | None:
    """Open the file with onnxruntime, to compare with. Raises DataError if that is impossible, and required."""
    try:
        return OnnxruntimeNetwork(model_path(model_config(arguments)), model.input)
    except ModelError as error:
        if is_required:
            raise DataError(f"{error}; or give --annotations FILE.json, so that it is not needed") from None
        note(f"not compared with onnxruntime: {error}")
        return None


def _answered(
    model: Model, evaluation: Evaluator[BoxPicture, BoxAnswer], data: BoxPictures, arguments: argparse.Namespace
) -> Answered[BoxAnswer]:
    """Find the boxes of the pictures that an interrupted run has not reached."""
    code = [code_sha256(f"edged.{part}") for part in CODE]
    plan = [*evaluation.key, arguments.precision, arguments.batch]
    key = [model.sha256, model.input.described, str(model.detector), *plan, data.fingerprint, code]
    kept = KeptAnswers(BoxAnswer, key)
    if arguments.restart:
        kept.restart()
    return answered(evaluation, data.pictures, kept, lambda _: evaluation.device)


def _report_unread(data: BoxPictures, answers: Sequence[BoxAnswer]) -> int:
    """Warn of pictures that were not evaluated; return the exit code."""
    unread = [answer for answer in answers if not answer.is_read]
    for answer in unread:
        warn(f"not evaluated: {answer.problem}")
    if data.missing:
        some = f"{counted(len(data.missing), 'picture')} of {data.annotations}"
        warn(f"not evaluated: {some} that are not in the folder, such as {data.missing[0]}")
    return ImageError.exit_code if unread or data.missing else 0
