"""edged and onnxruntime on the same network, in turn: `python -m tests.perf.against_onnxruntime --help`.

Both get two threads (PoCL: one a compute unit). They take turns of a few runs, in an order that rotates, so that
whatever else the machine does meets all alike: believe the ratio, not the milliseconds.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from edged.engine.device import find_device
from edged.engine.rules import Rules
from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.cost import macs
from edged.model.graph import Graph
from edged.model.package import Input
from edged.model.resnet import BLOCKS, random_resnet
from tests.perf.onnx_export import export

WARM_UP_RUNS = 3
TURN = 5

Contender = Callable[[], reference.Array]


def main() -> None:
    """Print a line a contender: milliseconds, and the ratio of each round to onnxruntime's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--depth", type=int, default=50, choices=BLOCKS)
    parser.add_argument("--size", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2, help="of onnxruntime; PoCL: POCL_MAX_PTHREAD_COUNT")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--conv", default="auto")
    arguments = parser.parse_args()

    network = random_resnet(arguments.depth, arguments.size, arguments.size)
    wanted = Input(arguments.size, arguments.size, "rgb", 1 / 255, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))
    images = np.random.default_rng(0).integers(0, 256, (1, arguments.size, arguments.size, 3), np.uint8)
    runtime = Runtime(network, wanted, find_device(arguments.device), chooser=Rules(arguments.conv))
    contenders = {
        "onnxruntime": _onnxruntime(network, reference.prepare(images, wanted), arguments.threads),
        f"edged {arguments.conv}": _edged(runtime, images),
    }
    scores = {name: run() for name, run in contenders.items()}
    times = _time_in_turn(contenders, arguments.rounds)

    print(
        f"resnet{arguments.depth} at {arguments.size}: {macs(network) / 1e6:.0f} MMAC, {arguments.rounds} rounds"
    )
    peer, peer_scores = times["onnxruntime"], scores["onnxruntime"]
    for name, seconds in times.items():
        ratios = np.percentile(np.array(seconds) / np.array(peer), (25, 50, 75))
        error = np.abs(scores[name] - peer_scores).max() / np.ptp(peer_scores)
        print(
            f"{name:14} median {statistics.median(seconds) * 1e3:7.2f} ms, min {min(seconds) * 1e3:7.2f} ms, "
            f"ratio {ratios[1]:.2f} (quartiles {ratios[0]:.2f} {ratios[2]:.2f}), error {error:.1e} of the range"
        )


def _onnxruntime(network: Graph, x: reference.Array, threads: int) -> Contender:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(export(network), options, providers=["CPUExecutionProvider"])
    return lambda: np.asarray(session.run(None, {network.input: x})[0])


def _edged(runtime: Runtime, images: NDArray[np.uint8]) -> Contender:
    return lambda: runtime.submit(images).wait().outputs


def _time_in_turn(contenders: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Seconds of each round by contender.

    A turn's first runs are not timed: the other's threads still spin on the cores then, waiting for work.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for turn in range(-(-rounds // TURN)):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            for _ in range(WARM_UP_RUNS):
                contenders[name]()
            times[name] += [_seconds(contenders[name]) for _ in range(TURN)]
    return times


def _seconds(contender: Contender) -> float:
    start = time.perf_counter()
    contender()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
