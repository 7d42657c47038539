"""`edged bench`: measure the time, energy and accuracy of a network on a device."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from edged import config
from edged.cli.bench.accuracy import accuracy_of, known_pictures
from edged.cli.bench.energy import add_energy_options, energy_of, is_energy_known
from edged.cli.bench.report import Report, as_json, as_table, energy_and_accuracy, report
from edged.cli.bench.timing import settle, time_in_turn
from edged.cli.model_options import (
    add_model_options,
    add_plan_options,
    add_variants,
    given_model,
    show_preparation,
    variants_of,
)
from edged.cli.options import add_example, add_json, positive
from edged.cli.pictures import chosen_of, random_images
from edged.errors import ConfigError
from edged.model.graph import Quantize
from edged.model.model_part import whole_model
from edged.model.package import Model
from edged.runtime.base import ModelRuntime
from edged.runtime.numpy_runtime import NumpyRuntime
from edged.runtime.proven import open_proven
from edged.runtime.select import is_numpy, opencl_device
from edged.system.machine_state import Account, watch
from edged.system.terminal import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, its execution plan and what to measure."""
    precision = "as in the config (the error of each layer: edged verify)"
    add_plan_options(parser, device="device, as in the config, or numpy", precision=precision)
    parser.set_defaults(precision=None)  # not given
    add_variants(parser, compare="compare with this variant, timed in turn with the first")
    parser.add_argument("--runs", type=positive, default=50, metavar="N", help="jobs to time (default: 50)")
    images = "with --energy: pictures for the accuracy, in a folder for each label (default: synthetic digits)"
    parser.add_argument("--images", type=Path, metavar="FOLDER", help=images)
    add_energy_options(parser)
    add_json(parser)
    add_model_options(parser)
    add_example(parser, "edged bench --model resnet50 --size 120", "edged bench --device numpy --runs 10 --json")


def run(arguments: argparse.Namespace) -> int:
    """Print the times of one or two variants; with --energy, also their joules and accuracy."""
    _check(arguments)
    model = given_model(arguments)
    show_preparation(model)
    variants = variants_of(arguments)
    runtimes = [_open(model, arguments, variant) for variant in variants]
    with watch(computes=_is_numpy(arguments) or opencl_device(arguments.device).kind == "cpu") as machine:
        timings = time_in_turn(runtimes, random_images(model.input, arguments.batch), arguments.runs, machine)
    account = Account.of(*(timing.states for timing in timings))
    reports = [
        report(model, variant, _precision(arguments), runtime, arguments.batch, timing, account)
        for variant, runtime, timing in zip(variants, runtimes, timings, strict=True)
    ]
    if arguments.energy:
        _add_energy(reports, runtimes, model, arguments)
    if arguments.json:
        print(as_json(reports))
    else:
        show(as_table(reports, account))
    return 0


def _add_energy(
    reports: Sequence[Report], runtimes: Sequence[ModelRuntime], model: Model, arguments: argparse.Namespace
) -> None:
    """Add the energy of a frame and the accuracy of each variant to `reports`, to the first also by precision."""
    known = known_pictures(model, arguments.images)
    others = _in_other_precisions(model, arguments)
    every = [*runtimes, *others.values()]
    energy = energy_of(every, random_images(model.input, arguments.batch), arguments)
    found = [
        energy_and_accuracy(energy, plan, accuracy_of(runtime, known, model, arguments.batch) if known else None)
        for runtime, plan in zip(every, energy.plans, strict=True)
    ]
    for row, figures in zip(reports, found, strict=False):
        row.update(figures)
    if others:
        reports[0]["by_precision"] = dict(zip([_precision(arguments), *others], found, strict=True))


def _in_other_precisions(model: Model, arguments: argparse.Namespace) -> dict[config.Precision, ModelRuntime]:
    """Open the network in all precisions but the first, unless one was chosen or nothing would differ."""
    is_one = arguments.precision or arguments.compare or _is_numpy(arguments)
    if (
        is_one
        or not is_energy_known(arguments)
        or any(isinstance(each, Quantize) for each in model.graph.operators)
    ):
        return {}
    return {
        precision: _open(model, arguments, arguments.conv, precision)
        for precision in get_args(config.Precision)
        if precision != _precision(arguments)
    }


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be measured, before anything is compiled. Raises ConfigError."""
    if _is_numpy(arguments):
        if arguments.conv != "auto" or arguments.compare:
            raise ConfigError("device numpy has no variants: remove --conv and --compare")
        if arguments.precision:
            raise ConfigError("device numpy computes in fp32: remove --precision")
    if arguments.images and not arguments.energy:
        raise ConfigError(
            "--images is for the accuracy, which --energy measures: add --energy, or see the error of each layer "
            "by `edged verify MODEL --images FOLDER`"
        )
    if arguments.images:
        chosen_of(arguments.images)


def _open(
    model: Model, arguments: argparse.Namespace, variant: str, precision: config.Precision | None = None
) -> ModelRuntime:
    """Open the device as a worker does: compared with the reference, in the faster form of launching."""
    if _is_numpy(arguments):
        return NumpyRuntime(whole_model(model))
    chosen = precision or _precision(arguments)
    worker = config.WorkerConfig(device=arguments.device, batch=arguments.batch, precision=chosen)
    runtime = open_proven(whole_model(model), worker, conv=variant).runtime
    if runtime.compose():
        settle(runtime, random_images(model.input, arguments.batch))
    return runtime


def _precision(arguments: argparse.Namespace) -> config.Precision:
    precision: config.Precision = arguments.precision or "fp32"
    return precision


def _is_numpy(arguments: argparse.Namespace) -> bool:
    return is_numpy(config.WorkerConfig(device=arguments.device))
