"""`edged tune`: find the fastest kernels for a network on a device, and remember them."""

import argparse
import json
import os

from edged import config
from edged.cli.model_options import add_model_options, add_plan_options, given_model
from edged.cli.options import add_duration, add_example, add_json
from edged.errors import ConfigError
from edged.runtime.select import device_for, is_numpy
from edged.system.terminal import interrupt_on_sigterm, note

NICE = 19  # the lowest priority


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, its execution plan and how long to try."""
    add_plan_options(parser)
    add_duration(parser, "time limit; a later run continues where this one ends (default: 10m)", default=600.0)
    again = "discard earlier results for the layers of this network, failures included"
    parser.add_argument("--again", action="store_true", help=again)
    serving = "run at the lowest priority, and pause after each try for as long as it took"
    parser.add_argument("--while-serving", action="store_true", help=serving)
    add_json(parser)
    add_model_options(parser)
    add_example(parser, "edged tune --model resnet50.onnx --device Mali --duration 20m")


def run(arguments: argparse.Namespace) -> int:
    """Tune, then print the time before and after."""
    if is_numpy(config.WorkerConfig(device=arguments.device)):
        raise ConfigError(
            "device numpy has no variants to choose from: give an OpenCL device (`edged devices` lists them)"
        )
    if arguments.while_serving:
        os.nice(NICE)  # before the driver starts its threads: they inherit it
    interrupt_on_sigterm()  # so that the current attempt is not recorded as a crash
    model = given_model(arguments)
    device = device_for(model.graph, arguments.device, arguments.precision)
    from edged.cli.tune.session import Session, verdict

    session = Session(model, device, arguments.batch, arguments.precision)
    try:
        session.tune(arguments.duration, again=arguments.again, pause=arguments.while_serving)
    except KeyboardInterrupt:
        note(f"stopped; the results are in {session.record}, and a later run continues from there")
        raise
    result = session.compare()
    print(json.dumps(result) if arguments.json else verdict(result))
    return 0
