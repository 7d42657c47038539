"""Convolutions of any shape, for hypothesis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.engine.variants.variant import AnyVariant
from edged.model import reference
from edged.model.activations import LINEAR, RELU, Activation
from edged.model.graph import Conv
from tests.engine.lab import CLOSE, Float32, Lab, random

BLOCKS = (1, 4, 8, 16)


@dataclass(frozen=True, eq=False)
class Case:
    """A convolution with its inputs and the layout in which it runs."""

    conv: Conv
    inputs: tuple[Float32, ...]
    block: int
    input_block: int

    def expected(self) -> NDArray[np.float64]:
        """In float64."""
        return np.asarray(reference.compute(self.conv, *(x.astype(np.float64) for x in self.inputs)))

    def check(self, lab: Lab, variant: AnyVariant) -> None:
        """`variant` computes what the reference does."""
        found = lab.compute(variant, self.conv, self.inputs, block=self.block, input_block=self.input_block)
        expected = self.expected()
        assert np.abs(found - expected).max() <= CLOSE * max(np.abs(expected).max(), self.spread())

    def spread(self) -> float:
        """√Σ term²: the range that such sums have, even where the only one there is cancels out to nearly 0."""
        conv = replace(self.conv, weight=self.conv.weight**2, bias=self.conv.bias**2)
        return float(np.sqrt(reference.compute(conv, *(x**2 for x in self.inputs)).max()))


def case(
    channels: tuple[int, int],
    size: tuple[int, int],
    kernel: tuple[int, int] = (3, 3),
    *,
    frames: int = 1,
    block: int = 4,
    input_block: int | None = None,
    residual: bool = False,
    **attributes: Any,
) -> Case:
    """A convolution with random weights. `attributes` are those of `Conv`."""
    inputs, outputs = channels
    groups = attributes.get("groups", 1)
    weight = random(outputs, inputs // groups, *kernel)
    conv = Conv("conv", ("x",), "y", weight, random(outputs), **attributes)
    x = random(frames, inputs, *size)
    if not residual:
        return Case(conv, (x,), block, input_block or block)
    shape = reference.compute(conv, x).shape
    conv = replace(conv, inputs=("x", "residual"))
    return Case(conv, (x, random(*shape)), block, input_block or block)


# How a convolution may end: one activation of each form.
ENDINGS = (LINEAR, RELU, Activation("clip", -1.0, 6.0), Activation("hard_swish"), Activation("silu"))


@st.composite
def cases(draw: st.DrawFn, blocks: tuple[int, ...] = BLOCKS) -> Case:
    """1 to 70 channels, odd sizes, strides, dilations, groups, asymmetric padding, 1 to 3 frames."""
    groups = draw(st.sampled_from((1, 1, 1, 2, 3, 5)))
    channels = tuple(groups * draw(st.integers(1, 70 // groups)) for _ in range(2))
    kernel = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    dilations = draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    size = draw(st.tuples(st.integers(1, 19), st.integers(1, 19)))
    pads = draw(st.tuples(*[st.integers(0, 3)] * 4))
    covered = [size[i] + pads[i] + pads[i + 2] - dilations[i] * (kernel[i] - 1) for i in (0, 1)]
    assume(min(covered) >= 1)
    block = draw(st.sampled_from(blocks))
    return case(
        (channels[0], channels[1]),
        size,
        kernel,
        frames=draw(st.integers(1, 3)),
        block=block,
        input_block=draw(st.sampled_from((block, 1))),
        residual=draw(st.booleans()),
        strides=draw(st.tuples(st.integers(1, 3), st.integers(1, 3))),
        pads=pads,
        dilations=dilations,
        groups=groups,
        activation=draw(st.sampled_from(ENDINGS)),
    )


@st.composite
def of_tiles(draw: st.DrawFn, most_channels: int, blocks: Sequence[int]) -> tuple[Case, int, int]:
    """A convolution of 3×3 in square tiles of its output, their side, and how many cover the output.

    Odd sizes, asymmetric padding, 1 to 3 frames.
    """
    side = draw(st.sampled_from((2, 4)))
    size, pads = draw(st.tuples(*[st.integers(1, 19)] * 2)), draw(st.tuples(*[st.integers(0, 3)] * 4))
    outputs = [size[axis] + pads[axis] + pads[axis + 2] - 2 for axis in (0, 1)]
    assume(min(outputs) >= side)
    convolution = case(
        draw(st.tuples(*[st.integers(1, most_channels)] * 2)),
        size,
        frames=draw(st.integers(1, 3)),
        block=draw(st.sampled_from(blocks)),
        residual=draw(st.booleans()),
        pads=pads,
        activation=draw(st.sampled_from(ENDINGS)),
    )
    return convolution, side, ceil_div(outputs[0], side) * ceil_div(outputs[1], side)
