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


def prepare(images: Images, model_input: Input, target: Tensor, device: Device) -> Launch:
    """Compute input = (pixel × scale − mean) ÷ std as one multiplication and one addition by channel."""
    std = np.array(model_input.std)
    normalize = np.concatenate([model_input.scale / std, -np.array(model_input.mean) / std]).astype(np.float32)
    return _launch("prepare", images, model_input, Weights(lambda: normalize), target, device)


def prepare_steps(
    images: Images, model_input: Input, quantize: Quantize, target: Tensor, device: Device
) -> Launch:
    """Look up the steps that `quantize` makes of the input of each byte."""
    table = Weights(lambda: _table(model_input, quantize, target), whole=target.dtype.type)
    return _launch("prepare_steps", images, model_input, table, target, device)


def _launch(
    kernel: str, images: Images, model_input: Input, constants: Weights, target: Tensor, device: Device
) -> Launch:
    runs = Runs(target, device)
    order = {"SWAP": int(model_input.color == "bgr"), "GRAY": int(model_input.color == "gray")}
    return Launch(
        kernel=kernel,
        operator="prepare",
        defines={**target.defines("OUT"), "RUN": runs.length, **order},
        arguments=(images, constants, target),
        items=runs.count,
        planes=target.blocks,
        group=runs.group,
    )


def _table(model_input: Input, quantize: Quantize, target: Tensor) -> NDArray[Any]:
    """Return the elements of the target, [channels, 256], for each byte of a pixel."""
    pixels = np.repeat(np.arange(BYTES, dtype=np.uint8), target.channels).reshape(1, BYTES, 1, target.channels)
    steps = reference.compute(quantize, reference.normalised(pixels, model_input))
    return elements_of(target, steps.reshape(target.channels, BYTES))
