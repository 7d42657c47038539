"""`edged profile`: time each kernel of a network, and compare it with the roofline of the device."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

from edged import config
from edged.cli.model_options import add_model_options, add_plan_options, add_variants, given_model, variants_of
from edged.cli.options import add_example, add_json, positive
from edged.cli.pictures import random_images
from edged.cli.profile.attach import add_attach_options, check_attach_options
from edged.errors import ConfigError
from edged.model.model_part import whole_model
from edged.model.package import Model
from edged.runtime.proven import open_proven
from edged.runtime.select import is_numpy, opencl_device
from edged.system.files import writing
from edged.system.machine_state import LEFT_OUT, Account, Machine, in_one_state, watch
from edged.system.terminal import EVERY_S, StatusLine, note, show

if TYPE_CHECKING:
    from edged.cli.profile.report import Report
    from edged.engine.profile import Profile
    from edged.engine.runtime import Runtime


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, its execution plan, the files to write and --attach."""
    add_plan_options(parser)
    add_variants(parser, compare="compare with this variant, layer by layer")
    parser.add_argument("--runs", type=positive, default=30, metavar="N", help="jobs to time (default: 30)")
    trace = "also write a trace of a few jobs, for https://ui.perfetto.dev or chrome://tracing"
    parser.add_argument("--trace", type=Path, metavar="FILE.json", help=trace)
    roofline = "also draw the layers under the roofline of the device"
    parser.add_argument("--roofline", type=Path, metavar="FILE.svg", help=roofline)
    add_json(parser)
    add_model_options(parser)
    add_attach_options(parser)
    attached = "edged profile --attach edged.yaml --count 200"
    add_example(parser, "edged profile --model resnet50 --size 120 --roofline roofline.svg", attached)


def run(arguments: argparse.Namespace) -> int:
    """Print the profile of one or two plans, or of a running worker; write the requested files."""
    _check(arguments)
    return _attach(arguments) if arguments.attach is not None else _profile_here(arguments)


def _attach(arguments: argparse.Namespace) -> int:
    from edged.cli.profile.attach import attach

    attached = attach(arguments)
    _write(arguments, attached.report)
    if arguments.json:
        print(json.dumps(attached.as_object()))
    else:
        show(attached.as_table())
    return 0


def _profile_here(arguments: argparse.Namespace) -> int:
    model = given_model(arguments)
    device = opencl_device(arguments.device)
    from edged.cli.profile.report import Report, Subject
    from edged.engine.peaks import keep_peaks, measure

    variants = variants_of(arguments)
    with watch(computes=device.kind == "cpu") as machine:
        profiles = [_profile(model, variant, arguments, machine) for variant in variants]
        account = Account.of(*([run.state for run in profile.runs] for profile in profiles))
        peaks, turns = in_one_state(machine, lambda: measure(device), account.state)
    if turns[-1].state not in LEFT_OUT:
        keep_peaks(device, peaks)
    reports = [
        Report(
            Subject.of(model, device, arguments.precision, variant),
            peaks,
            profile.those(account.counts),
            account,
            turns[-1].state,
        )
        for variant, profile in zip(variants, profiles, strict=True)
    ]
    _write(arguments, reports[0])
    if arguments.json:
        compared = {"compared": reports[1].as_object()} if arguments.compare else {}
        print(json.dumps(reports[0].as_object() | compared))
    else:
        show(reports[0].compared_with(reports[1]) if arguments.compare else reports[0].as_table())
    return 0


def _check(arguments: argparse.Namespace) -> None:
    check_attach_options(arguments)
    if is_numpy(config.WorkerConfig(device=arguments.device)):
        raise ConfigError(
            "device numpy has no kernels to profile; `edged bench --device numpy` times it as a whole"
        )
    if arguments.roofline and arguments.roofline.suffix != ".svg":
        raise ConfigError(f"--roofline {arguments.roofline}: expected the name of an .svg file")
    for file in filter(None, (arguments.trace, arguments.roofline)):
        with writing(file):
            file.parent.stat()  # before a profile is made that would be lost


def _profile(model: Model, variant: str, arguments: argparse.Namespace, machine: Machine) -> "Profile":
    from edged.engine.profile import profile

    batch = arguments.batch
    worker = config.WorkerConfig(device=arguments.device, batch=batch, precision=arguments.precision)
    runtime = cast("Runtime", open_proven(whole_model(model), worker, conv=variant).runtime)  # numpy was rejected
    line, runs = StatusLine(every_s=EVERY_S), arguments.runs
    try:
        return profile(
            runtime,
            runtime.costs,
            random_images(model.input, batch),
            runs,
            lambda done: line.show(f"edged: timing {model.name}, variant {variant}: {done} of {runs} runs"),
            machine,
        )
    finally:
        line.clear()
        runtime.close()


def _write(arguments: argparse.Namespace, report: "Report") -> None:
    """Write the requested files. Raises ConfigError if one cannot be written."""
    from edged.cli.profile.exports import roofline, trace

    files = ((arguments.trace, trace), (arguments.roofline, roofline))
    for path, draw in files:
        if path is not None:
            with writing(path):
                path.write_text(draw(report), "utf-8")
            note(f"wrote {path}")
