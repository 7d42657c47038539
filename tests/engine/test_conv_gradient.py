"""The gradients of a convolution, by its input and by its weights."""

from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.gradients.conv_gradient import conv_gradient, halo_of_given
from edged.engine.gradients.grouped_conv import is_depthwise
from edged.engine.gradients.slope import Slope
from edged.engine.launch import Argument, Resident
from edged.engine.layout import Halo, Tensor
from edged.engine.variants.conv_depthwise import pack_depthwise
from edged.engine.variants.convolution import halo_of_window, pack_weights
from edged.engine.variants.variant import Site
from edged.model.activations import LINEAR, RELU
from edged.model.graph import Conv
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close, random
from tests.train.reference.backward import backward, forward

SAME = (1, 1, 1, 1)
CONVOLUTIONS: dict[str, tuple[tuple[int, int], tuple[int, int], dict[str, Any]]] = {
    "3x3": ((5, 7), (6, 7), {"pads": SAME}),
    "3x3 by two": ((5, 7), (7, 6), {"pads": SAME, "strides": (2, 2)}),
    "1x1 by two": ((17, 3), (5, 5), {"kernel": (1, 1), "strides": (2, 2)}),
    "1x1 by two of a pixel": ((5, 3), (1, 1), {"kernel": (1, 1), "strides": (2, 2)}),
    "5x3 dilated, lopsided": ((3, 6), (9, 8), {"kernel": (5, 3), "pads": (2, 1, 0, 3), "dilations": (1, 2)}),
    "7x7 by three": ((1, 5), (11, 13), {"kernel": (7, 7), "strides": (3, 2), "pads": (3, 2, 1, 0)}),
    "no padding": ((4, 4), (5, 5), {}),
}
ORDINARY = {"3x3", "1x1 by two", "5x3 dilated, lopsided"}
EACH_WITH_A_BLOCK = [
    pytest.param(name, block, marks=[] if name in ORDINARY else pytest.mark.deep)
    for name, block in zip(CONVOLUTIONS, cycle((16, 4, 8)), strict=False)
]


def slope_of(lab: Lab, conv: Conv, x: NDArray[Any], block: int, input_block: int, ends: bool) -> Slope[Conv]:
    """`conv` in its place for frames x; the gradient by its input has a sum and a mask to take in if it `ends`."""
    output = forward(conv, x)

    def tensor(name: str, shape: tuple[int, ...], block: int, halo: Halo) -> Tensor:
        frames, channels, height, width = shape
        return Tensor(name, frames, channels, height, width, block, halo)

    bare = tensor("x", x.shape, input_block, Halo()), tensor("y", output.shape, block, Halo(0, 1))
    source = tensor("x", x.shape, input_block, halo_of_window(Site(conv, bare[:1], bare[1], lab.device), {}))
    site = Site(conv, (source,), bare[1], lab.device)
    sizes = {"weight": packed(site).nbytes, "bias": bare[1].blocks * block * 4}
    return Slope(
        conv,
        source,
        bare[1],
        tensor("given", output.shape, block, halo_of_given(conv, source, bare[1])),
        tensor("wanted", x.shape, input_block, Halo(1, 0, 0, 2)) if input_block > 1 else None,
        lab.device,
        tensor("plus", x.shape, input_block, Halo(0, 1)) if ends else None,
        RELU if ends else LINEAR,
        {role: Resident(f"parameter {role}", size) for role, size in sizes.items()},
        {role: Resident(f"gradient {role}", size) for role, size in sizes.items()},
    )


@pytest.mark.parametrize(("name", "block"), EACH_WITH_A_BLOCK)
def test_the_gradients_are_those_of_the_reference(lab: Lab, name: str, block: int) -> None:
    channels, size, attributes = CONVOLUTIONS[name]
    conv = conv_of(channels, **attributes)
    x = np.maximum(random(3, channels[0], *size), 0)

    check(lab, conv, x, slope_of(lab, conv, x, block, block, ends=True))


def test_images_need_no_gradient_and_are_not_padded_to_a_block(lab: Lab) -> None:
    conv = conv_of((3, 9), (5, 5), strides=(2, 2), pads=(2, 2, 2, 2))
    x = random(2, 3, 9, 8)

    check(lab, conv, x, slope_of(lab, conv, x, 16, 1, ends=False))


@pytest.mark.deep
def test_shares_of_the_rows_are_added_up(lab: Lab) -> None:
    conv = conv_of((5, 7), pads=SAME)
    x = random(4, 5, 6, 7)
    slope = slope_of(lab, conv, x, 4, 4, ends=False)

    assert "sum_shares" in [launch.kernel for launch in conv_gradient(slope)]
    check(lab, conv, x, slope)


DEPTHWISE: dict[str, dict[str, Any]] = {
    "3x3": {"pads": SAME},
    "5x5 by two": {"kernel": (5, 5), "strides": (2, 2), "pads": (2, 2, 2, 2)},
    "7x7 by three, dilated, lopsided": {
        "kernel": (7, 4),
        "strides": (3, 1),
        "pads": (3, 2, 1, 0),
        "dilations": (1, 2),
    },
}


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "block"), [("3x3", 16), ("5x5 by two", 4), ("7x7 by three, dilated, lopsided", 8)]
)
def test_a_convolution_of_each_channel_by_itself(lab: Lab, name: str, block: int) -> None:
    conv = conv_of((1, 21), **DEPTHWISE[name], groups=21)
    x = np.maximum(random(3, 21, 9, 8), 0)

    check(lab, conv, x, slope_of(lab, conv, x, block, block, ends=True))


@pytest.mark.deep
def test_shares_of_the_rows_of_a_depthwise_convolution_are_added_up(lab: Lab) -> None:
    conv = conv_of((1, 5), pads=SAME, groups=5)
    x = random(4, 5, 6, 7)
    slope = slope_of(lab, conv, x, 4, 4, ends=False)

    assert "sum_shares" in [launch.kernel for launch in conv_gradient(slope)]
    check(lab, conv, x, slope)


def conv_of(channels: tuple[int, int], kernel: tuple[int, int] = (3, 3), **attributes: Any) -> Conv:
    weight = random(channels[1], channels[0], *kernel)
    return Conv("conv", ("x",), "y", weight, random(channels[1]), **attributes)


def check(lab: Lab, conv: Conv, x: NDArray[Any], slope: Slope[Conv]) -> None:
    """What the kernels make of a random gradient is what the reference makes of it."""
    output = forward(conv, x.astype(np.float64))
    given, others = random(*output.shape), random(*x.shape)
    site = Site(conv, (slope.source,), slope.output, lab.device)
    arrays: dict[Argument, NDArray[Any]] = {
        slope.source: x,
        slope.output_gradient: given,
        slope.parameters["weight"]: packed(site),
    }
    if slope.plus:
        arrays[slope.plus] = others
    bench = Bench(lab, conv_gradient(slope), arrays)

    bench.run()

    expected = backward(conv, given.astype(np.float64), output, x.astype(np.float64))
    weight = bench.floats(slope.gradients["weight"])
    of_weight = expected.arrays["weight"].astype(np.float32)
    there = packed(Site(replace(conv, weight=of_weight), (slope.source,), slope.output, lab.device))
    assert_close(weight, there.reshape(-1))
    bias = bench.floats(slope.gradients["bias"])
    assert_close(bias[: len(conv.bias)], expected.arrays["bias"])
    assert not bias[len(conv.bias) :].any()
    if slope.input_gradient:
        mask = (x > 0) | (slope.source_activation == LINEAR)
        assert_close(
            bench.image(slope.input_gradient), (expected.inputs[0] + (others if slope.plus else 0)) * mask
        )


def packed(site: Site[Conv]) -> NDArray[np.float32]:
    return pack_depthwise(site) if is_depthwise(site) else pack_weights(site)
