"""`edged tune`: finds the fastest kernels for a network on a device, and keeps what it found."""

import argparse
import os
import signal
import sys
from types import FrameType

from edged import config
from edged.cli.model_options import add_model_options, add_plan_options, given_model
from edged.errors import ConfigError
from edged.runtime.select import is_numpy, opencl_device

NICE = 19  # the lowest priority


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    add_plan_options(parser, precision="how numbers are stored, as in the config")
    minutes = "how long to try; a later run goes on where this one ended (default: 10)"
    parser.add_argument("--minutes", type=float, default=10, metavar="N", help=minutes)
    again = "forget what is known of this network's shapes, refusals too"
    parser.add_argument("--again", action="store_true", help=again)
    serving = "lowest priority, and a pause after each try as long as the try"
    parser.add_argument("--while-serving", action="store_true", help=serving)
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Tune, then say what it brought."""
    if not arguments.minutes > 0:
        raise ConfigError("expected --minutes above 0")
    if is_numpy(config.Worker(device=arguments.device)):
        raise ConfigError(
            "device numpy has no variants to choose from: name an OpenCL device, see `edged devices`"
        )
    if arguments.while_serving:
        os.nice(NICE)  # before the driver starts its threads: they inherit it
    signal.signal(signal.SIGTERM, _interrupt)  # so that the try under way is not blamed for our end
    model = given_model(arguments)
    device = opencl_device(arguments.device)
    from edged.cli.tune.session import Session

    session = Session(model, device, arguments.batch, arguments.precision)
    try:
        session.tune(arguments.minutes * 60, again=arguments.again, pause=arguments.while_serving)
    except KeyboardInterrupt:
        print(
            f"edged: stopped; {session.record} keeps what was found, a later run goes on from it", file=sys.stderr
        )
        raise
    print(session.verdict())
    return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
