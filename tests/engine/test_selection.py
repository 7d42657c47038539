"""The choice for a device that nobody has tuned for."""

from dataclasses import replace

import pytest

from edged.engine.device import Device
from edged.engine.layout import Element, Tensor
from edged.engine.selection import Rules
from edged.engine.variants.conv_frequencies import CONV_FREQUENCIES
from edged.engine.variants.variant import Site
from edged.errors import ConfigError
from edged.model.graph import Conv
from tests.engine.lab import random
from tests.engine.records import BOARD


def test_an_unknown_variant_is_refused_with_those_that_there_are() -> None:
    there_are = "auto, bfloat16, vector, winograd, general, frequencies, depthwise, naive"
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
    ("gpu", "channels", "size", "chosen"),
    [
        ("Mali-T620 (Panfrost)", 64, 30, ("conv_frequencies", 4)),
        ("Mali-G610 r0p0", 64, 30, ("conv_frequencies", 4)),
        ("Mali-G610 r0p0", 256, 8, ("conv_frequencies", 2)),  # four times the weights take longer to read
        ("Mali-G610 r0p0", 512, 4, ("conv_general", None)),
        ("Mali-T620 (Panfrost)", 512, 4, ("conv_frequencies", 2)),  # which computes more slowly
        ("Mali-T620 (Panfrost)", 64, 1, ("conv_general", None)),
        ("NVIDIA H200", 64, 30, ("conv_general", None)),
    ],
)
def test_a_mali_multiplies_frequencies_where_their_weights_are_read_in_less_time(
    gpu: str, channels: int, size: int, chosen: tuple[str, int | None]
) -> None:
    conv = Conv("conv", ("x",), "y", random(channels, channels, 3, 3), random(channels), pads=(1, 1, 1, 1))
    x = Tensor("x", 1, channels, size, size, block=4)

    choice = Rules().choose(Site(conv, (x,), x, replace(BOARD, name=gpu, compute_units=4)))

    assert (choice.variant.name, choice.parameters.get("OUTPUT")) == chosen


def test_frequencies_of_halves_are_of_small_tiles() -> None:
    conv = Conv("conv", ("x",), "y", random(64, 64, 3, 3), random(64), pads=(1, 1, 1, 1))
    x = Tensor("x", 1, 64, 30, 30, block=8, element=Element.FLOAT16)
    site = Site(conv, (x,), x, replace(BOARD, name="Mali-G52 (Panfrost)", fp16=True), half_weights=True)

    assert {parameters["OUTPUT"] for parameters in CONV_FREQUENCIES.parameters(site)} == {2}


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
