"""Quantized convolutions, and steps for them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from edged.engine.layout import Element
from edged.engine.variants.variant import AnyVariant
from edged.model import reference
from edged.model.activations import RELU, Activation
from edged.model.graph import Float32, QuantizedConv
from tests.engine.lab import RANDOM, Lab

BLOCKS = (4, pytest.param(8, marks=pytest.mark.deep), 16)


def steps(*shape: int, largest: int = 255) -> Float32:
    """Random steps up to `largest` from zero."""
    return RANDOM.integers(-largest, largest + 1, shape).astype(np.float32)


def conv(
    channels: tuple[int, int], window: tuple[int, int], *, largest: int = 255, **attributes: Any
) -> QuantizedConv:
    """A quantized convolution with random weights up to `largest` from zero, in bytes if they fit."""
    inputs, outputs = channels
    shape = (outputs, inputs // attributes.get("groups", 1), *window)
    numbers = RANDOM.integers(-largest, largest + 1, shape)
    weight = numbers.astype(np.int16) if largest > 127 else numbers.astype(np.int8)
    bias = RANDOM.integers(-(2**20), 2**20, outputs).astype(np.int32)
    factor = RANDOM.uniform(1e-5, 1e-4, outputs).astype(np.float32)
    return QuantizedConv("conv", ("x",), "y", weight, bias, factor, **attributes)


def added(operator: QuantizedConv, *, is_first: bool) -> QuantizedConv:
    """The same with a second input, which is added."""
    fused = replace(operator, inputs=("x", "z"), own_bounds=(-100, 155), is_first=is_first)
    return replace(fused, factors=(0.731, 1.37))


INTO_STEPS: dict[str, Any] = {"pads": (1, 1, 1, 1), "bounds": (-6, 249), "scale": 0.05}
DEPTHWISE = conv((24, 24), (3, 3), pads=(1, 1, 1, 1), groups=24, bounds=(0, 255))
SUMMED = conv((20, 21), (3, 3), pads=(1, 1, 1, 1), bounds=(0, 255))
CONVOLUTIONS = {
    "3x3": (conv((20, 21), (3, 3), pads=(1, 1, 1, 1), bounds=(0, 255)), (2, 20, 9, 11)),
    "1x1": (conv((33, 24), (1, 1), bounds=(-128, 127)), (1, 33, 8, 5)),
    "strides": (conv((16, 8), (5, 3), strides=(2, 3), pads=(2, 0, 1, 1), bounds=(-3, 200)), (1, 16, 12, 13)),
    "depthwise": (DEPTHWISE, (1, 24, 7, 7)),
    "depthwise sum": (added(DEPTHWISE, is_first=True), (1, 24, 7, 7)),
    "steps of SiLU": (conv((20, 21), (3, 3), activation=Activation("silu"), **INTO_STEPS), (2, 20, 9, 11)),
    "depthwise steps of SiLU": (
        conv((24, 24), (3, 3), groups=24, activation=Activation("silu"), **INTO_STEPS),
        (1, 24, 7, 7),
    ),
    "to floats": (conv((8, 10), (2, 2), activation=RELU), (1, 8, 6, 6)),
    "sum": (added(SUMMED, is_first=True), (2, 20, 9, 11)),
    "sum of another": (added(SUMMED, is_first=False), (2, 20, 9, 11)),
    "one pixel": (conv((70, 10), (1, 1), bounds=(-128, 127)), (3, 70, 1, 1)),
}
ORDINARY = {"3x3", "depthwise sum", "steps of SiLU"}
EACH_CONVOLUTION = [
    name if name in ORDINARY else pytest.param(name, marks=pytest.mark.deep) for name in CONVOLUTIONS
]


def in_bytes(operator: QuantizedConv) -> QuantizedConv:
    """The same with weights that fit into bytes."""
    return replace(operator, weight=(operator.weight // 2).astype(np.int8))


def assert_exact(lab: Lab, variant: AnyVariant, name: str, *, element: Element, **layout: Any) -> None:
    """One of `CONVOLUTIONS` gives what the reference does, bit by bit; with bytes alone, if the element is one.

    Of steps of an activation hardly any may be the next one: its last bits differ between devices.
    """
    operator, shape = CONVOLUTIONS[name]
    x = steps(*shape)
    if element is Element.BYTE:
        operator, x = in_bytes(operator), np.abs(x) - 100
    layout |= {"element": element}
    residual = [steps(len(x), len(operator.bias), *shape[2:], largest=100) for _ in operator.inputs[1:]]
    found = lab.compute(variant, operator, [x, *residual], **layout)
    expected = reference.compute(operator, x, *residual)
    differences = np.abs(found - expected)
    assert differences.max() <= (operator.activation.kind == "silu")
    assert (differences > 0).mean() < 0.01
