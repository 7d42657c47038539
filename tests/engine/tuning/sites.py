"""Sites to tune for, and variants that must never be chosen: a wrong one, and one that no driver compiles."""

from dataclasses import replace
from typing import Any

from edged.engine.device import Device
from edged.engine.launch import Launch
from edged.engine.layout import Tensor
from edged.engine.variants.conv_general import CONV_GENERAL
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.activations import RELU
from tests.engine.networks import conv


def conv_site(device: Device, name: str = "conv", outputs: int = 9) -> Site[Any]:
    """A 3×3 convolution of 5 channels of 6×7 pixels."""
    operator = conv(name, ("x",), (5, outputs), 3, activation=RELU)
    return Site(operator, (Tensor("x", 1, 5, 6, 7, 4),), Tensor(name, 1, outputs, 6, 7, 4), device)


def _shifted(site: Site[Any], parameters: Parameters) -> tuple[Launch, ...]:
    (launch,) = CONV_GENERAL.launches(site, parameters)
    return (replace(launch, defines={**launch.defines, "PAD_LEFT": launch.defines["PAD_LEFT"] + 1}),)


def _no_source(site: Site[Any], parameters: Parameters) -> tuple[Launch, ...]:
    (launch,) = CONV_GENERAL.launches(site, parameters)
    return (replace(launch, defines={**launch.defines, "vector": 0}),)


CONV_WRONG = Variant("conv_wrong", _shifted, CONV_GENERAL.parameters)
CONV_BROKEN = Variant("conv_broken", _no_source, CONV_GENERAL.parameters)
