"""Matrix products M×K×N of ResNet-50 at 120×120 on an OpenCL device: naive, by rules, tuned, and NumPy's BLAS.

A product is a 1×1 convolution: `weight` [M, K] times `x` [K, N], a channel a row of `x`.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edged.engine.device import Device
from edged.engine.layout import Element
from edged.engine.runtime import Runtime
from edged.engine.selection import Choice, Chooser, Listener, Rules, find_candidate
from edged.engine.tuning.attempt_log import AttemptLog
from edged.engine.tuning.rig import Rig
from edged.engine.tuning.task import touched_bytes, work_of
from edged.engine.tuning.tuner import Tuner
from edged.engine.variants.variant import Site
from edged.model.graph import Conv, Float32, Graph
from edged.model.model_part import inner_part
from edged.model.shapes import make_graph
from tools.reproduce.table import duration, table

PRODUCTS = {
    "the first convolution, 7×7": (64, 147, 60, 60),
    "a 3×3 convolution of stage 3": (256, 2304, 8, 8),
}  # M, K and the height and width whose product is N
NAME = "gemm"


@dataclass(frozen=True)
class Tuned:
    """Chooses the variant that the tuner has found for the product, and by rules for everything else."""

    best: Choice

    def channel_block(self, device: Device, element: Element = Element.FLOAT32) -> int:
        """Return the block size of the rules, by which the tuner laid out the tensors."""
        return Rules().channel_block(device, element)

    def choose(self, site: Site[Any]) -> Choice:
        found = find_candidate(site, self.best.variant.name, self.best.parameters)
        return found or Rules().choose(site)


def report(device: Device, minutes: float, runs: int) -> str:
    """Measure all products and return them as a table. Raises DeviceError."""
    rows = [_row(what, size, device, minutes * 60 / len(PRODUCTS), runs) for what, size in PRODUCTS.items()]
    head = ("product", "naive", "by rules", "tuned", "NumPy (BLAS)", "naive ÷ tuned", "tuned", "variant")
    return table(head, rows)


def product_graph(m: int, k: int, height: int, width: int) -> tuple[Graph, Float32]:
    """Return the product as a network of one convolution, and its input [1, K, height, width]."""
    random = np.random.default_rng(1)
    weight = random.standard_normal((m, k, 1, 1), np.float32) / np.float32(k**0.5)
    conv = Conv(NAME, ("x",), "y", weight, np.zeros(m, np.float32))
    return make_graph(NAME, "x", (k, height, width), [conv]), random.standard_normal(
        (1, k, height, width), np.float32
    )


def tune(graph: Graph, device: Device, seconds: float) -> Choice:
    """Try the variants of the product for so long and return the fastest, by rules where nothing is faster."""
    listener = Listener(Rules())
    Runtime(inner_part(graph), device, chooser=listener).close()
    works = work_of(listener.sites, {NAME: 1.0})
    [work] = [each for each in works if each.site.operator.name == NAME]
    with tempfile.TemporaryDirectory() as folder, AttemptLog(Path(folder) / "record.json", device) as notebook:
        rig = Rig(device, Path(folder) / "programs", touched_bytes(listener.sites))
        ends_at = time.monotonic() + seconds
        tuner = Tuner(rig, notebook, Rules(), [work], lambda: time.monotonic() > ends_at)
        for _ in tuner.tune():
            pass
        best = notebook.attempts_for(work.site).best
    found = find_candidate(work.site, best.variant, best.parameters) if best else None
    return found or Rules().choose(work.site)


def _row(what: str, size: tuple[int, int, int, int], device: Device, seconds: float, runs: int) -> tuple[str, ...]:
    m, k, height, width = size
    graph, x = product_graph(*size)
    best = tune(graph, device, seconds)
    choosers: list[Chooser] = [Rules("naive"), Rules(), Tuned(best)]
    timed = [_on_device(graph, x, device, chooser) for chooser in choosers]
    naive, by_rules, tuned, blas = in_turn([*timed, _by_blas(graph, x)], runs)
    gflops = 2 * m * k * height * width / tuned / 1e9
    product = f"{m}×{k}×{height * width} ({what})"
    times = (duration(naive), duration(by_rules), duration(tuned), duration(blas))
    return product, *times, f"{naive / tuned:.1f}", f"{gflops:.1f} GFLOP/s", f"`{best}`"


def in_turn(timed: Sequence[Callable[[], float]], runs: int) -> list[float]:
    """Return the median seconds of each, measured in turn, so that all see the same machine."""
    for each in timed:
        each()
    rounds = [[each() for each in timed] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def _on_device(graph: Graph, x: Float32, device: Device, chooser: Chooser) -> Callable[[], float]:
    """Seconds of the product's kernels by the device's clock. Checks the result once."""
    runtime = Runtime(inner_part(graph), device, chooser=chooser)
    truth = (_matrix(graph) @ x.reshape(x.shape[1], -1)).reshape(1, -1, *x.shape[2:])
    np.testing.assert_allclose(runtime.submit(x).wait().outputs, truth, rtol=0, atol=1e-3 * float(np.ptp(truth)))

    def seconds() -> float:
        return sum(one.seconds for one in runtime.submit(x).wait().kernels if one.operator == NAME)

    return seconds


def _by_blas(graph: Graph, x: Float32) -> Callable[[], float]:
    a, b = _matrix(graph), np.ascontiguousarray(x.reshape(x.shape[1], -1))

    def seconds() -> float:
        start = time.perf_counter()
        a @ b
        return time.perf_counter() - start

    return seconds


def _matrix(graph: Graph) -> Float32:
    [conv] = graph.operators
    assert isinstance(conv, Conv)
    return conv.weight[:, :, 0, 0]
