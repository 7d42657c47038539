"""The process that tests a device: runs the steps of a request, and adds a line of JSON for each to its report.

Two small networks with random weights serve to compare every variant of their convolutions with the reference.
"""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from edged.config import ModelConfig, Precision, WorkerConfig
from edged.engine.apart import read_request
from edged.engine.device import Device
from edged.engine.instruction_trials import with_instructions
from edged.engine.launch_cost import launch_costs
from edged.engine.opencl import cl, in_one_line
from edged.engine.peaks import CHAINS, PeakBench, Peaks, measure
from edged.engine.planner import make_plan
from edged.engine.selection import Chooser
from edged.engine.tuning_records import chooser_for, chooser_named
from edged.engine.verifying import Verification
from edged.errors import EdgedError
from edged.model.activations import RELU, RELU6
from edged.model.graph import Graph
from edged.model.model_part import ModelPart, whole_model
from edged.model.network_builder import NetworkBuilder
from edged.model.package import Input, load_model
from edged.runtime.proven import open_proven

SIDE = 32  # of their pictures
LAUNCHES = 60
TURNS = 5  # the best one counts: other load can only slow a run down
LONG_ENOUGH_S = 0.5  # of timing `digits`
PICTURES = 2
NETWORKS = {"digits": None, "mobilenetv2": 224, "resnet50": 120}  # to estimate, with the side of their pictures

Figures = Mapping[str, float]


def plain_network() -> Graph:
    """Build convolutions of 5×5, 3×3 and 1×1 with a sum, a pool and a dense layer."""
    builder = NetworkBuilder("plain", SIDE, SIDE)
    builder.conv("stem", 16, 5, 2, activation=RELU)
    builder.max_pool("pool", 2, 2)
    block = builder.conv("in", 32, 1, activation=RELU)
    wide = builder.conv("wide", 32, 3, activation=RELU)
    builder.add("sum", wide, block)
    builder.mean("mean")
    builder.dense("scores", 10)
    return builder.graph()


def mobile_network() -> Graph:
    """Build convolutions by channel and in groups between those of 1×1."""
    builder = NetworkBuilder("mobile", SIDE, SIDE)
    builder.conv("stem", 8, 3, 2, activation=RELU6)
    builder.conv("expand", 24, 1, activation=RELU6)
    builder.conv("depthwise", 24, 3, groups=24, activation=RELU6)
    builder.conv("project", 8, 1)
    builder.conv("grouped", 16, 3, groups=2, activation=RELU)
    builder.mean("mean")
    builder.dense("scores", 10)
    return builder.graph()


class SelfTest:
    """The steps by name. What one of them measures, later ones use."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._peaks = Peaks(0, 0)
        self._launch_s = 0.0

    def run(self, step: str) -> Figures:
        """Run a step. Raises EdgedError, cl.Error."""
        steps: Mapping[str, Callable[[], Figures]] = {
            "peaks": self._measure_peaks,
            "launches": self._measure_launches,
            "digits": self._time_digits,
            "estimates": self._estimate,
        }
        if step in steps:
            return steps[step]()
        network, variant = step.split()
        graph = plain_network() if network == "plain" else mobile_network()
        if variant == "halves":
            return self._compare(graph, chooser_for(self._device), "fp16" if self._device.fp16 else "fp16-weights")
        return self._compare(graph, chooser_named(variant, self._device), "fp32")

    def _measure_peaks(self) -> Figures:
        self._peaks = measure(self._device)
        return {"flops_per_s": self._peaks.flops_per_s, "bytes_per_s": self._peaks.bytes_per_s}

    def _measure_launches(self) -> Figures:
        """Measure a launch among others, and one by itself until the host knows that it has ended."""
        bench = PeakBench(self._device)
        kernel = bench.kernel("peak_flops", CHAINS=CHAINS, MULTIPLY_ADD="mad")
        out = bench.buffer(bench.group * bench.width * 4)  # a kernel does not keep its buffers
        kernel.set_args(out, np.int32(0), np.float32(0), np.float32(0))
        many, one = (min(_launch_s(bench, kernel, count) for _ in range(TURNS)) for count in (LAUNCHES, 1))
        self._launch_s = many / LAUNCHES
        return {"launch_s": self._launch_s, "alone_s": one}

    def _time_digits(self) -> Figures:
        """Prove `digits` as a worker does, and time it as a stream of frames."""
        model = load_model(ModelConfig(name="digits"))
        runtime = open_proven(
            whole_model(model), WorkerConfig(device=f"{self._device.platform} {self._device.name}")
        ).runtime
        images = np.random.default_rng(0).integers(0, 256, (1, *runtime_shape(model.input)), np.uint8)
        try:
            times: list[float] = []
            end = time.perf_counter() + LONG_ENOUGH_S
            while time.perf_counter() < end or len(times) < TURNS:
                start = time.perf_counter()
                runtime.submit(images).wait()
                times.append(time.perf_counter() - start)
        finally:
            runtime.close()
        return {"seconds": float(np.median(times))}

    def _compare(self, graph: Graph, chooser: Chooser, precision: Precision) -> Figures:
        """Compare each layer with the reference. Raises EdgedError if one is wrong."""
        model_input = Input(SIDE, SIDE, "rgb", 1 / 255, (0.5,) * 3, (0.25,) * 3)
        verification = Verification(
            ModelPart(graph, model_input), self._device, precision=precision, chooser=chooser
        )
        images = np.random.default_rng(0).integers(0, 256, (PICTURES, *runtime_shape(model_input)), np.uint8)
        try:
            for _ in verification.compare(images):
                pass
        finally:
            verification.close()
        if wrong := verification.first_wrong:
            raise EdgedError(
                f"{wrong.variant} computes layer {wrong.layer} wrongly: error {wrong.own:.1e} of its range"
            )
        if not verification.is_trusted:
            raise EdgedError(f"scores differ by {verification.scores_error:.1e} of their range")
        return {"error": verification.scores_error, "layers": len(verification.layers)}

    def _estimate(self) -> Figures:
        """Estimate frames per second: of each launch the longest of arithmetic, memory and its own cost."""
        if not self._peaks.flops_per_s:  # a step before this one has ended the process that measured them
            self._measure_peaks()
        if not self._launch_s:
            self._measure_launches()
        peaks, launch_s = self._peaks, self._launch_s
        return {name: 1 / self._bound_s(peaks, launch_s, name, side) for name, side in NETWORKS.items()}

    def _bound_s(self, peaks: Peaks, launch_s: float, name: str, side: int | None) -> float:
        model = load_model(ModelConfig(name=name, size=side) if side else ModelConfig(name=name))
        plan = make_plan(ModelPart(model.graph, model.input), self._device, chooser=chooser_for(self._device))
        costs = launch_costs(model.graph, plan)
        return sum(max(launch_s, peaks.least_s(2 * cost.macs, cost.nbytes)) for cost in costs)


def runtime_shape(model_input: Input) -> tuple[int, int, int]:
    """Return the shape of a picture for this input: height, width, RGB."""
    return model_input.height, model_input.width, 3


def _launch_s(bench: PeakBench, kernel: Any, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        cl.enqueue_nd_range_kernel(bench.queue, kernel, (bench.group,), (bench.group,))
    bench.queue.finish()
    return time.perf_counter() - start


def main() -> None:
    """Run the steps that the request names, and append the result of each to its report."""
    device, request = read_request()
    test = SelfTest(with_instructions(device))
    report = Path(request["report"])
    for step in request["steps"].split(" / "):
        try:
            line = {"step": step, "figures": dict(test.run(step))}
        except (EdgedError, cl.Error, MemoryError) as error:
            line = {"step": step, "problem": in_one_line(error)}
        with report.open("a") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
