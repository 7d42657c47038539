"""The two convolutions of `fashion-conv` on all test pictures of Fashion-MNIST, with the time of each."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.engine.selection import Chooser, Rules
from edged.engine.tuning_records import chooser_for
from edged.errors import DataError
from edged.model import reference
from edged.model.graph import Conv, Graph
from edged.model.model_part import ModelPart
from edged.model.package import Input
from edged.train.build import build
from edged.train.config import load_training
from edged.train.idx import IMAGES, read_array
from tools.reproduce.table import duration, table

BATCH = 250
CLASSES = 10


def report(folder: Path, device: Device) -> str:
    """Time both convolutions over the pictures in `folder` and return a table. Raises DataError, DeviceError."""
    pictures = pictures_in(folder)
    training, file = load_training("fashion-conv")
    assert training.input
    network, wanted = build(training, CLASSES, 1, file), training.input.as_input()
    convolutions = [each for each in network.operators if isinstance(each, Conv)]
    naive = seconds_of(network, wanted, pictures, device, Rules("naive"))
    ours = seconds_of(network, wanted, pictures, device, chooser_for(device))
    rows = [
        (
            f"{conv.weight.shape[1]} to {conv.weight.shape[0]} channels, {_size(network, conv)}",
            duration(naive[conv.name]),
            duration(ours[conv.name]),
            f"{naive[conv.name] / ours[conv.name]:.1f}",
            f"{_flops(network, conv) * len(pictures) / ours[conv.name] / 1e9:.1f} GFLOP/s",
        )
        for conv in convolutions
    ]
    return table((f"convolution, {len(pictures):,} pictures", "naive", "edged", "naive ÷ edged", "edged"), rows)


def pictures_in(folder: Path) -> NDArray[np.uint8]:
    """Return the test pictures, uint8 [n, 28, 28]. Raises DataError where they are missing or damaged."""
    for path in (folder / f"t10k-{IMAGES}", folder / f"t10k-{IMAGES}.gz"):
        if path.exists():
            return read_array(path, axes=3)
    raise DataError(f"{folder}: has no t10k-{IMAGES}, plain or as .gz: name the folder of Fashion-MNIST")


def seconds_of(
    network: Graph, wanted: Input, pictures: NDArray[np.uint8], device: Device, chooser: Chooser
) -> dict[str, float]:
    """Return the seconds of each operator over all pictures, by the device's clock. Checks the first scores."""
    runtime = Runtime(ModelPart(network, wanted), device, batch=BATCH, chooser=chooser)
    frames = np.repeat(pictures[..., np.newaxis], 3, axis=3)
    truth = reference.run(network, reference.prepare(frames[:1], wanted))
    np.testing.assert_allclose(runtime.submit(frames[:1]).wait().outputs, truth, rtol=0, atol=1e-3)
    runtime.submit(frames[:BATCH]).wait()
    seconds: dict[str, float] = {}
    for begin in range(0, len(frames), BATCH):
        for one in runtime.submit(frames[begin : begin + BATCH]).wait().kernels:
            seconds[one.operator] = seconds.get(one.operator, 0) + one.seconds
    runtime.close()
    return seconds


def _size(network: Graph, conv: Conv) -> str:
    _, height, width = network.shapes[conv.inputs[0]]
    return f"{conv.weight.shape[2]}×{conv.weight.shape[3]} on {height}×{width}"


def _flops(network: Graph, conv: Conv) -> int:
    """Return the operations of one picture: two for each multiply-accumulate."""
    return int(2 * conv.weight[0].size * np.prod(network.shapes[conv.output]))
