"""The time of a convolution's operation over many images: NumPy, naive OpenCL, PyTorch and edged in turn.

In a process of its own: PoCL asks for its threads only once. Images and weights lie where each wants them before
the clock starts: on an OpenCL device, where the layers before leave them, and its own clock tells; else the
host's.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.training.case import load_case
from edged.engine.device import find_device
from edged.engine.runtime import Runtime
from edged.engine.selection import Chooser, Rules
from edged.engine.tuning_records import chooser_for
from edged.model import reference
from edged.model.graph import Conv, Float32, Graph
from edged.model.model_part import inner_part
from edged.model.package import Input
from edged.model.reference import Array
from edged.model.shapes import make_graph

BATCH = 250  # images at a time
ROUNDS = 3  # over all images, of who takes less than the budget for one

Timed = Callable[[], tuple[float, Array]]  # seconds for a batch, and the output


@dataclass(frozen=True, eq=False)
class Layer:
    """A convolution, the network up to it, and a batch: `frames` uint8 [n, height, width, 3].

    `x` is what it reads, `truth` what the reference makes of that.
    """

    conv: Conv
    graph: Graph
    model_input: Input
    frames: NDArray[np.uint8]
    x: Float32
    truth: Array

    @property
    def flops(self) -> int:
        """Of an image, two a multiply-accumulate."""
        return int(2 * self.conv.weight[0].size * np.prod(self.graph.shapes[self.graph.output]))

    def __str__(self) -> str:
        channels, height, width = self.x.shape[1:]
        outputs, _, rows, columns = self.conv.weight.shape
        return f"{channels}×{height}×{width}, {rows}×{columns} to {outputs} channels"


def main(task: dict[str, Any], output: Path) -> None:
    """Write the seconds of each contender's rounds over all images as JSON, a layer a line."""
    output.write_text("\n".join(json.dumps(task | _measured(layer, task)) for layer in layers_of(task["case"])))


def layers_of(name: str, images: int = BATCH) -> Iterator[Layer]:
    """The convolutions of a named network, with so many images."""
    case = load_case(name)
    network, some = case.network, case.images[:images]
    tensors = reference.run_all(network, reference.normalised(some, case.model_input))
    frames = np.repeat(some, 3, axis=3) if some.shape[3] == 1 else some
    shape = network.shapes[network.input]
    for index, operator in enumerate(network.operators):
        if isinstance(operator, Conv):
            before = make_graph(name, network.input, shape, network.operators[: index + 1])
            x, truth = tensors[operator.inputs[0]], tensors[operator.output]
            yield Layer(operator, before, case.model_input, frames, np.ascontiguousarray(x), truth)


def _measured(layer: Layer, task: dict[str, Any]) -> dict[str, Any]:
    contenders = prepared(layer, task["threads"], task["device"])
    for timed in contenders.values():
        np.testing.assert_allclose(timed()[1], layer.truth, rtol=0, atol=1e-4 * float(np.ptp(layer.truth)))
    batches = -(-task["images"] // BATCH)
    turns: dict[str, list[list[float]]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, timed in contenders.items():
            if not turns[name] or turns[name][0][0] < task["budget_s"]:
                turns[name].append([sum(timed()[0] for _ in range(batches))])
    return {"layer": str(layer), "flops": layer.flops * task["images"], "turns": turns}


def prepared(layer: Layer, threads: int, device: str) -> dict[str, Timed]:
    """All who take part."""
    return {
        "numpy, tap by tap": partial(by_taps, layer.conv, layer.x),
        "opencl-naive": _on_device(layer, device, Rules("naive")),
        "pytorch": _by_pytorch(layer, threads),
        "edged": _on_device(layer, device, chooser_for(find_device(device))),
    }


def by_taps(conv: Conv, x: Float32) -> tuple[float, Array]:
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


def _on_device(layer: Layer, device: str, chooser: Chooser) -> Timed:
    """Of the network up to the convolution, its own kernels alone."""
    found = find_device(device)
    runtime = Runtime(inner_part(layer.graph, layer.model_input), found, batch=BATCH, chooser=chooser)

    def timed() -> tuple[float, Array]:
        result = runtime.submit(layer.frames).wait()
        return sum(one.seconds for one in result.kernels if one.operator == layer.conv.name), result.outputs

    return timed


def _by_pytorch(layer: Layer, threads: int) -> Timed:
    """Its images lie as [n, height, width, channels], which is the quicker of its two."""
    import torch

    torch.set_num_threads(threads)
    conv = layer.conv
    weight, bias = torch.from_numpy(conv.weight.copy()), torch.from_numpy(conv.bias.copy())
    weight = weight.contiguous(memory_format=torch.channels_last)
    image = torch.from_numpy(layer.x).contiguous(memory_format=torch.channels_last)

    def timed() -> tuple[float, Array]:
        with torch.inference_mode():
            start = time.perf_counter()
            out = torch.nn.functional.conv2d(image, weight, bias, conv.strides, conv.pads[:2])
            return time.perf_counter() - start, out.numpy()

    return timed


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
