"""The first kernel of every plan: convert the image's bytes to the network's input, or to the steps of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.device import Device
from edged.engine.launch import Images, Launch, Weights
from edged.engine.layout import Tensor, elements_of
from edged.engine.variants.pixelwise import Runs
from edged.model import reference
from edged.model.graph import Quantize
from edged.model.package import Input

BYTES = 256  # values of a byte


def prepare(images: Images, wanted: Input, target: Tensor, device: Device) -> Launch:
    """Compute input = (pixel × scale − mean) ÷ std as one multiplication and one addition by channel."""
    std = np.array(wanted.std)
    normalize = np.concatenate([wanted.scale / std, -np.array(wanted.mean) / std]).astype(np.float32)
    return _launch("prepare", images, wanted, Weights(lambda: normalize), target, device)


def prepare_steps(images: Images, wanted: Input, quantize: Quantize, target: Tensor, device: Device) -> Launch:
    """Look up the steps that `quantize` makes of the input of each byte."""
    table = Weights(lambda: _table(wanted, quantize, target), whole=target.dtype.type)
    return _launch("prepare_steps", images, wanted, table, target, device)


def _launch(
    kernel: str, images: Images, wanted: Input, constants: Weights, target: Tensor, device: Device
) -> Launch:
    runs = Runs(target, device)
    order = {"SWAP": int(wanted.color == "bgr"), "GRAY": int(wanted.color == "gray")}
    return Launch(
        kernel=kernel,
        operator="prepare",
        defines={**target.defines("OUT"), "RUN": runs.length, **order},
        arguments=(images, constants, target),
        items=runs.count,
        planes=target.blocks,
        group=runs.group,
    )


def _table(wanted: Input, quantize: Quantize, target: Tensor) -> NDArray[Any]:
    """Return the elements of the target, [channels, 256], for each byte of a pixel."""
    pixels = np.repeat(np.arange(BYTES, dtype=np.uint8), target.channels).reshape(1, BYTES, 1, target.channels)
    steps = reference.compute(quantize, reference.normalised(pixels, wanted))
    return elements_of(target, steps.reshape(target.channels, BYTES))
