"""The choice for a device that nobody has tuned for."""

from dataclasses import replace

import pytest

from edged.engine.device import Device
from edged.engine.layout import Element, Tensor
from edged.engine.selection import Rules
from edged.engine.variants.variant import Site
from edged.errors import ConfigError
from edged.model.graph import Conv
from tests.engine.lab import random
from tests.engine.records import BOARD


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


@pytest.mark.parametrize(
    ("gpu", "fp16", "element", "block"),
    [
        ("Mali-G610 r0p0", True, Element.FLOAT16, 8),  # 16 bytes
        ("Mali-G52 (Panfrost)", True, Element.FLOAT16, 8),
        ("Mali-G52 (Panfrost)", True, Element.FLOAT32, 4),
        ("Mali-G52 (Panfrost)", False, Element.FLOAT16, 4),  # half by half, as OpenCL C 1.2 has it
        ("Mali-T860", True, Element.FLOAT16, 8),
        ("NVIDIA H200", True, Element.FLOAT16, 4),
    ],
)
def test_a_block_of_a_mali_is_what_it_loads_at_once(gpu: str, fp16: bool, element: Element, block: int) -> None:
    assert Rules().channel_block(replace(BOARD, name=gpu, fp16=fp16), element) == block
