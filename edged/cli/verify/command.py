"""`edged verify`: whether a device may be trusted with a network."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edged import config
from edged.cli.model_options import (
    add_input_options,
    add_plan_options,
    given_model,
    model_config,
    show_preparation,
)
from edged.cli.options import add_example, add_json, positive
from edged.cli.pictures import pictures_of, random_images
from edged.errors import ConfigError, DeviceError
from edged.evaluation.onnxruntime_scores import OtherScores, onnxruntime_scores
from edged.model.model_part import whole_model
from edged.model.package import Model
from edged.runtime.proven import proven_chooser
from edged.runtime.select import device_for, is_numpy
from edged.system.files import writing
from edged.system.plain_text import counted, printable_json, printable_lines
from edged.system.terminal import StatusLine, note

if TYPE_CHECKING:
    from edged.cli.verify.report import VerifyReport
    from edged.engine.verifying import Verification

RANDOM_IMAGES = 2
MOST = 16  # pictures of a folder, if not given: the reference computes each of them in float64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, its execution plan and the pictures."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model")
    add_plan_options(parser)
    images = "folder of pictures to compare (default: random images)"
    parser.add_argument("--images", type=Path, metavar="FOLDER", help=images)
    count = f"compare at most N pictures of the folder, evenly spaced (default: {MOST})"
    parser.add_argument("--count", type=positive, default=MOST, metavar="N", help=count)
    html = "also write a page with a chart of the errors and the pictures with their answers"
    parser.add_argument("--html", type=Path, metavar="FILE.html", help=html)
    add_input_options(parser, "input of the model, if its file does not describe it")
    add_json(parser)
    add_example(
        parser,
        "edged verify digits",
        "edged verify net.onnx --device Mali --images photos --html net.html",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the errors of all layers; the exit code is that of a device error if it is not to be trusted."""
    if is_numpy(config.WorkerConfig(device=arguments.device)):
        raise ConfigError("device numpy is the reference: give an OpenCL device (`edged devices` lists them)")
    model = given_model(arguments)
    show_preparation(model)
    images = _images(model, arguments)
    from edged.cli.verify.report import VerifyReport

    verification = _open(model, arguments)
    try:
        scores = _compare(verification, images)
    finally:
        verification.close()
    report = VerifyReport(model, arguments, verification, scores, _other(model, arguments, images))
    if arguments.json:
        print(printable_json(json.dumps(report.as_object(), ensure_ascii=False, allow_nan=False)))
    else:
        print(printable_lines(report.as_text()))
    if arguments.html:
        _write_page(arguments.html, report, images)
    return 0 if report.is_trusted else DeviceError.exit_code


def _images(model: Model, arguments: argparse.Namespace) -> NDArray[np.uint8]:
    if arguments.images:
        return pictures_of(arguments.images, model.input, arguments.count)
    note("random images are compared; give --images FOLDER for pictures as your cameras see them")
    return random_images(model.input, RANDOM_IMAGES)


def _open(model: Model, arguments: argparse.Namespace) -> "Verification":
    """Choose the variants that a worker would use there, and prepare the device."""
    device = device_for(model.graph, arguments.device, arguments.precision)
    from edged.engine.verifying import Verification

    chooser, precision, batch = proven_chooser(device), arguments.precision, arguments.batch
    verification = Verification(whole_model(model), device, precision=precision, chooser=chooser, batch=batch)
    for excluded in chooser.excluded_variants:
        note(f"left out, as it was found wrong before: {excluded}")
    return verification


def _compare(verification: "Verification", images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Compare all pictures, and return the scores of the device."""
    line, scores = StatusLine(), []
    for job in verification.compare(images):
        scores.append(job)
        line.show(f"edged: compared {verification.pictures} of {counted(len(images), 'picture')}")
    line.clear()
    return np.concatenate(scores)


def _other(model: Model, arguments: argparse.Namespace, images: NDArray[np.uint8]) -> OtherScores | None:
    """Return the scores of onnxruntime for the same pictures; None for a model without a file."""
    path = model_config(arguments).path
    return onnxruntime_scores(path, model.input, images) if path else None


def _write_page(path: Path, report: "VerifyReport", images: NDArray[np.uint8]) -> None:
    from edged.cli.verify.report import page

    with writing(f"--html {path}"):
        path.write_text(page(report, images), "utf-8")
    note(f"wrote {path}")
