"""Sites to tune for."""

from typing import Any

from edged.engine.device import Device
from edged.engine.layout import Tensor
from edged.engine.variants.variant import Site
from edged.model.activations import RELU
from tests.engine.networks import conv


def conv_site(device: Device, name: str = "conv", outputs: int = 9) -> Site[Any]:
    """A 3×3 convolution of 5 channels of 6×7 pixels."""
    operator = conv(name, ("x",), (5, outputs), 3, activation=RELU)
    return Site(operator, (Tensor("x", 1, 5, 6, 7, 4),), Tensor(name, 1, outputs, 6, 7, 4), device)
