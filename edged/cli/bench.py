"""`edged bench`: how long a network takes on a device, from a job's submission to its result; how exact it is."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from edged import config
from edged.cli.bench_error import Errors, errors_of
from edged.cli.bench_images import pictures_of, random_images
from edged.cli.bench_report import as_json, as_table, report
from edged.cli.bench_timing import time_in_turn
from edged.cli.model_options import add_model_options, model_config
from edged.errors import ConfigError
from edged.model.package import Model, load_model
from edged.worker.numpy_runtime import NumpyRuntime
from edged.worker.runtime import ModelRuntime, is_numpy, opencl_devices

if TYPE_CHECKING:
    from edged.engine.choice import Chooser
    from edged.engine.device import Device

RANDOM_IMAGES = 8  # to measure errors with, where no pictures are given


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    device = "as in the config, or numpy (default: auto)"
    parser.add_argument("--device", default="auto", metavar="NAME", help=device)
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="frames of a job (default: 1)")
    parser.add_argument("--runs", type=int, default=50, metavar="N", help="jobs to time (default: 50)")
    variants = "variant of the convolutions, such as vector, general, naive; auto (default) takes what is tuned"
    parser.add_argument("--conv", default="auto", metavar="VARIANT", help=variants)
    parser.add_argument("--compare", metavar="VARIANT", help="time this variant too, in turn with the first")
    precision = "as in the config (default: fp32); if given, prints the error of each layer too"
    parser.add_argument("--precision", choices=get_args(config.Precision), help=precision)
    images = "pictures to measure the errors with (default: random images)"
    parser.add_argument("--images", type=Path, metavar="FOLDER", help=images)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the timing of one variant or two, and the errors of the first."""
    _check(arguments)
    model = load_model(model_config(arguments))
    if model.random_weights:
        print(f"edged: {model.name} has random weights: for timing only, it recognises nothing", file=sys.stderr)
    variants = [arguments.conv, *([arguments.compare] if arguments.compare else [])]
    runtimes = [_open(model, arguments, variant) for variant in variants]
    errors = _errors(model, arguments) if arguments.precision or arguments.images else None
    timings = time_in_turn(runtimes, random_images(model.input, arguments.batch), arguments.runs)
    reports = [
        report(model, variant, _precision(arguments), runtime, arguments.batch, timing)
        for variant, runtime, timing in zip(variants, runtimes, timings, strict=True)
    ]
    if arguments.json:
        print(as_json(reports, errors))
    else:
        print(as_table(reports), *([errors.as_table()] if errors else []), sep="\n\n")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.runs < 1 or not 1 <= arguments.batch <= 64:
        raise ConfigError("expected --runs of 1 or more, and --batch of 1 to 64")
    if _is_numpy(arguments):
        if arguments.conv != "auto" or arguments.compare:
            raise ConfigError("device numpy has no variants: leave --conv and --compare out")
        if arguments.precision or arguments.images:
            raise ConfigError(
                "device numpy computes in fp32, and is what errors are measured against: "
                "leave --precision and --images out"
            )


def _open(model: Model, arguments: argparse.Namespace, variant: str) -> ModelRuntime:
    if _is_numpy(arguments):
        return NumpyRuntime(model.graph, model.input)
    device, chooser = _way(arguments, variant)
    from edged.engine.runtime import Runtime

    precision = _precision(arguments)
    return Runtime(model.graph, model.input, device, batch=arguments.batch, precision=precision, chooser=chooser)


def _errors(model: Model, arguments: argparse.Namespace) -> Errors:
    device, chooser = _way(arguments, arguments.conv)
    from edged.engine.layer_outputs import LayerOutputs

    outputs = LayerOutputs(model.graph, model.input, device, _precision(arguments), chooser)
    if arguments.images is None:
        return errors_of(model, outputs, random_images(model.input, RANDOM_IMAGES))
    return errors_of(model, outputs, pictures_of(arguments.images, model.input), str(arguments.images))


def _way(arguments: argparse.Namespace, variant: str) -> "tuple[Device, Chooser]":
    """The device, and what decides between its variants. Raises DeviceError, or ConfigError for the variant."""
    opencl_devices()
    from edged.engine.device import find_device
    from edged.engine.records import chooser_for
    from edged.engine.rules import Rules

    device = find_device(arguments.device)
    return device, chooser_for(device) if variant == "auto" else Rules(variant)


def _precision(arguments: argparse.Namespace) -> config.Precision:
    precision: config.Precision = arguments.precision or "fp32"
    return precision


def _is_numpy(arguments: argparse.Namespace) -> bool:
    return is_numpy(config.Worker(device=arguments.device))
