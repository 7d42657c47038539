"""The choice for a device that nobody has tuned for."""

import pytest

from edged.engine.device import Device
from edged.engine.layout import Tensor
from edged.engine.selection import Rules
from edged.engine.variants.variant import Site
from edged.errors import ConfigError
from edged.model.graph import Conv
from tests.engine.lab import random


def test_an_unknown_variant_is_refused_with_those_that_there_are() -> None:
    there_are = "auto, bfloat16, vector, winograd, general, depthwise, naive"
    with pytest.raises(ConfigError, match=f"'fancy'; there are: {there_are}"):
        Rules("fancy")


CPU = Device("a platform", "a CPU", "cpu", "OpenCL 1.2", "1", 4, 2**30, 16, 128, True, False, (0, 0))


@pytest.mark.parametrize(
    ("channels", "size", "variant"),
    [(64, 56, "conv_winograd"), (128, 15, "conv_winograd"), (512, 4, "conv_vector")],
)
def test_winograd_is_for_images_that_use_its_many_weights_often(channels: int, size: int, variant: str) -> None:
    conv = Conv("conv", ("x",), "y", random(channels, channels, 3, 3), random(channels), pads=(1, 1, 1, 1))
    x = Tensor("x", 1, channels, size, size, block=16)

    assert Rules().choose(Site(conv, (x,), x, CPU)).variant.name == variant
