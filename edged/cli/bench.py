"""`edged bench`: how long a network takes on a device, from one job's submission to its result."""

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edged import config
from edged.cli.bench_report import Timing, as_json, as_table, report
from edged.cli.model_options import add_model_options, model_config
from edged.errors import ConfigError
from edged.model.package import Model, load_model
from edged.worker.runtime import ModelRuntime, is_numpy, open_runtime

TURN = 10  # runs of one plan before the next has its turn
WARM_UP_RUNS = 2  # at each turn, since the other has filled the caches
ENOUGH_S = 20.0  # a plan that is slow to compare with is not run more often than this allows, but FEWEST times
FEWEST = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    device = "as in the config, or numpy (default: auto)"
    parser.add_argument("--device", default="auto", metavar="NAME", help=device)
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="frames of a job (default: 1)")
    parser.add_argument("--runs", type=int, default=50, metavar="N", help="jobs to time (default: 50)")
    variants = "variant of the convolutions: auto (default), vector, general, naive"
    parser.add_argument("--conv", default="auto", metavar="VARIANT", help=variants)
    parser.add_argument("--compare", metavar="VARIANT", help="time this variant too, in turn with the first")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the timing of one variant or two."""
    if arguments.runs < 1 or not 1 <= arguments.batch <= 64:
        raise ConfigError("expected --runs of 1 or more, and --batch of 1 to 64")
    model = load_model(model_config(arguments))
    if model.random_weights:
        print(f"edged: {model.name} has random weights: for timing only, it recognises nothing", file=sys.stderr)
    variants = [arguments.conv, *([arguments.compare] if arguments.compare else [])]
    runtimes = [_open(model, arguments, variant) for variant in variants]
    timings = _time_in_turn(runtimes, _images(model, arguments.batch), arguments.runs)
    reports = [
        report(model, variant, runtime, arguments.batch, timing)
        for variant, runtime, timing in zip(variants, runtimes, timings, strict=True)
    ]
    print(as_json(reports) if arguments.json else as_table(reports))
    return 0


def _open(model: Model, arguments: argparse.Namespace, variant: str) -> ModelRuntime:
    worker = config.Worker(device=arguments.device, batch=arguments.batch)
    if variant == "auto":
        return open_runtime(model, worker)
    if is_numpy(worker):
        raise ConfigError("device numpy has no variants: leave --conv and --compare out")
    from edged.engine.device import find_device
    from edged.engine.rules import Rules
    from edged.engine.runtime import Runtime

    device = find_device(arguments.device)
    return Runtime(model.graph, model.input, device, batch=worker.batch, chooser=Rules(variant))


def _images(model: Model, frames: int) -> NDArray[np.uint8]:
    random = np.random.default_rng(0)
    return random.integers(0, 256, (frames, model.input.height, model.input.width, 3), np.uint8)


def _time_in_turn(runtimes: Sequence[ModelRuntime], images: NDArray[np.uint8], runs: int) -> list[Timing]:
    """Whatever else the machine does in the meantime meets all of them alike."""
    timings = [Timing() for _ in runtimes]
    for start in range(0, runs, TURN):
        for runtime, timing in zip(runtimes, timings, strict=True):
            for _ in range(WARM_UP_RUNS):
                _run(runtime, images, Timing())
            for _ in range(min(TURN, runs - start)):
                if len(timing.seconds) < FEWEST or sum(timing.seconds) < ENOUGH_S:
                    _run(runtime, images, timing)
    return timings


def _run(runtime: ModelRuntime, images: NDArray[np.uint8], timing: Timing) -> None:
    start = time.perf_counter()
    pending = runtime.submit(images)
    enqueued = time.perf_counter()
    pending.wait()
    timing.seconds.append(time.perf_counter() - start)
    timing.host_seconds.append(enqueued - start)
