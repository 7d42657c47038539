"""The time of a convolution's operation over many images: NumPy, naive OpenCL, PyTorch and edged in turn.

In a process of its own: PoCL asks for its threads only once. Images and weights lie where each wants them before
the clock starts: for OpenCL the device's own clock tells, for the others the host's.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from edged.engine.choice import Chooser
from edged.engine.device import find_device
from edged.engine.records import chooser_for
from edged.engine.rules import Rules
from edged.engine.runtime import Runtime
from edged.model.graph import Conv, Float32, Graph
from edged.model.reference import Array
from edged.model.shapes import make_graph
from tests.perf.peers.turns import FEWEST
from tests.perf.training.case import load_case

BATCH = 250  # images at a time

Timed = Callable[[Float32], tuple[float, Array]]  # seconds for a batch, and the output


@dataclass(frozen=True)
class Layer:
    """A convolution and the shape of its input."""

    operator: Conv
    shape: tuple[int, ...]

    @property
    def graph(self) -> Graph:
        return make_graph(self.operator.name, self.operator.inputs[0], self.shape, [self.operator])


def main(task: dict[str, Any], output: Path) -> None:
    """Write the seconds of each contender's rounds over all images as JSON, a layer a line."""
    network = load_case(task["case"]).network
    layers = [Layer(one, network.shapes[one.inputs[0]]) for one in network.operators if isinstance(one, Conv)]
    output.write_text("\n".join(json.dumps(task | _measured(layer, task)) for layer in layers))


def _measured(layer: Layer, task: dict[str, Any]) -> dict[str, Any]:
    conv, graph = layer.operator, layer.graph
    batch = np.random.default_rng(0).standard_normal((BATCH, *layer.shape), np.float32)
    contenders = prepared(layer, task["threads"], task["device"])
    outputs = [timed(batch)[1] for timed in contenders.values()]
    for found in outputs:
        np.testing.assert_allclose(found, outputs[0], rtol=0, atol=1e-4 * float(np.ptp(outputs[0])))
    rounds = range(-(-task["images"] // BATCH))
    turns: dict[str, list[list[float]]] = {name: [] for name in contenders}
    for _ in range(FEWEST):
        for name, timed in contenders.items():
            turns[name].append([sum(timed(batch)[0] for _ in rounds)])
    macs = conv.weight[0].size * int(np.prod(graph.shapes[graph.output]))
    channels, height, width = layer.shape
    what = (
        f"{channels}×{height}×{width}, {conv.weight.shape[2]}×{conv.weight.shape[3]} to {len(conv.bias)} channels"
    )
    return {"layer": what, "flops": 2 * macs * task["images"], "turns": turns}


def prepared(layer: Layer, threads: int, device: str) -> dict[str, Timed]:
    """All who take part."""
    found = find_device(device)
    return {
        "numpy, tap by tap": partial(_by_taps, layer.operator),
        "opencl-naive": _on_device(layer.graph, device, Rules("naive")),
        "pytorch": _by_pytorch(layer.operator, threads),
        "edged": _on_device(layer.graph, device, chooser_for(found)),
    }


def _by_taps(conv: Conv, x: Float32) -> tuple[float, Array]:
    """A matrix product of all pixels a tap, as NumPy's own BLAS does it; no patches are laid out."""
    start = time.perf_counter()
    top, left, bottom, right = conv.pads
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    height = (padded.shape[2] - conv.weight.shape[2]) // conv.strides[0] + 1
    width = (padded.shape[3] - conv.weight.shape[3]) // conv.strides[1] + 1
    out = np.broadcast_to(conv.bias[:, None], (len(x), len(conv.bias), height * width)).copy()
    for row, column in np.ndindex(*conv.weight.shape[2:]):
        rows = slice(row, row + height * conv.strides[0], conv.strides[0])
        columns = slice(column, column + width * conv.strides[1], conv.strides[1])
        pixels = padded[:, :, rows, columns].reshape(len(x), x.shape[1], -1)
        out += conv.weight[:, :, row, column] @ pixels
    return time.perf_counter() - start, out.reshape(len(x), -1, height, width)


def _on_device(graph: Graph, device: str, chooser: Chooser) -> Timed:
    runtime = Runtime(graph, None, find_device(device), batch=BATCH, chooser=chooser, is_part=True)

    def timed(x: Float32) -> tuple[float, Array]:
        result = runtime.submit(x).wait()
        return result.forward_s, result.outputs

    return timed


def _by_pytorch(conv: Conv, threads: int) -> Timed:
    """Its images lie as [n, height, width, channels], which is the quicker of its two."""
    import torch

    torch.set_num_threads(threads)
    weight, bias = torch.from_numpy(conv.weight.copy()), torch.from_numpy(conv.bias.copy())
    weight = weight.contiguous(memory_format=torch.channels_last)

    def timed(x: Float32) -> tuple[float, Array]:
        image = torch.from_numpy(x).contiguous(memory_format=torch.channels_last)
        with torch.inference_mode():
            start = time.perf_counter()
            out = torch.nn.functional.conv2d(image, weight, bias, conv.strides, conv.pads[:2])
            return time.perf_counter() - start, out.numpy()

    return timed


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
