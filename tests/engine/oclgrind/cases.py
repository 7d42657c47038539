"""Small operators of every kind: Oclgrind interprets each instruction."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from edged.engine.device import Device
from edged.engine.layout import Element
from edged.engine.variants.variant import Site
from edged.model.activations import RELU
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    Combine,
    Concat,
    Conv,
    Dense,
    Dequantize,
    Flatten,
    GridSample,
    GroupNorm,
    Int32,
    Interpolate,
    Join,
    LayerNorm,
    LocalResponseNorm,
    MaxPool,
    Operator,
    Product,
    Quantize,
    QuantizedAdd,
    Rearrange,
    ReduceChannels,
    SelectChannels,
    Softmax,
)
from tests.engine.lab import Float32, output_of, random, tensor_of
from tests.engine.shapes import case
from tests.engine.steps import added, conv, steps


def _table(size: int, side: int) -> tuple[Int32, Float32]:
    """Where so many pixels lie among those of a side, two each, and their weights."""
    places = np.linspace(0, side - 1, 2 * size).astype(np.int32).reshape(size, 2)
    return places, random(size, 2)


CONVOLUTIONS = (
    case((5, 6), (7, 9), block=4, pads=(1, 1, 1, 1), frames=2, residual=True, activation=RELU),
    case((3, 17), (9, 8), (5, 3), block=8, input_block=1, strides=(2, 2), pads=(2, 1, 0, 3)),
    case((6, 10), (6, 5), block=4, groups=2, dilations=(2, 1), pads=(2, 1, 2, 1)),
    case((17, 17), (5, 6), block=16, groups=17, pads=(1, 1, 1, 1)),
    case((18, 5), (4, 4), (1, 1), block=16),
)
OTHERS: tuple[tuple[Operator, tuple[int, ...]], ...] = (
    (Add("add", ("x", "z"), "y", activation=RELU), (2, 5, 3, 7)),
    (AveragePool("pool", ("x",), "y", (3, 2), (2, 1), (0, 1, 2, 0)), (2, 5, 7, 6)),
    (Dense("dense", ("x",), "y", random(9, 21), random(9), activation=RELU), (2, 21)),
    (Flatten("flatten", ("x",), "y"), (2, 5, 3, 4)),
    (MaxPool("pool", ("x",), "y", (3, 2), (2, 1), (0, 1, 2, 0)), (2, 5, 7, 6)),
    (Activate("relu", ("x",), "y", RELU), (2, 5, 3, 7)),
    (Combine("combine", ("x", "z"), "y", "divide"), (2, 5, 3, 7)),
    (Concat("concat", ("x", "z"), "y"), (2, 5, 3, 7)),
    (LocalResponseNorm("norm", ("x",), "y", 3), (2, 5, 3, 4)),
    (GroupNorm("norm", ("x",), "y", 2, random(6), random(6)), (2, 6, 3, 4)),
    (GridSample("sample", ("x", "z"), "y", 2, align_corners=False), (2, 2, 4, 3)),
    (Interpolate("resize", ("x",), "y", *_table(4, 3), *_table(5, 4)), (2, 5, 3, 4)),
    (Join("join", ("x", "z"), "y", 2), (2, 5, 3, 4)),
    (Join("join", ("x",), "y", 1, random(5, 2, 4), 1), (2, 5, 3, 4)),
    (LayerNorm("norm", ("x",), "y", random(5), random(5)), (2, 5, 3, 4)),
    (Product("product", ("x", "z"), "y"), (2, 5, 3, 5)),
    (Rearrange("turn", ("x",), "y", (12, 5, 1), (12, 5), (1, 12)), (2, 5, 3, 4)),
    (Rearrange("cut", ("x",), "y", (16, 1, 4), (64,), (1,), 64), (2, 32, 1, 4)),
    (ReduceChannels("reduce", ("x",), "y", "maximum"), (2, 5, 3, 4)),
    (SelectChannels("select", ("x",), "y", (4, 0, 2)), (2, 5, 3, 7)),
    (Softmax("softmax", ("x",), "y"), (2, 21)),
    (Quantize("quantize", ("x",), "y", 0.02, (-100, 155)), (2, 5, 3, 7)),
)
OF_STEPS: tuple[tuple[Operator, tuple[int, ...]], ...] = (
    (Dequantize("dequantize", ("x",), "y", 0.02), (2, 5, 3, 7)),
    (QuantizedAdd("add", ("x", "z"), "y", (0.7, 1.3), (0, 255)), (2, 5, 3, 7)),
    (conv((5, 6), (3, 3), pads=(1, 1, 1, 1), bounds=(0, 255)), (1, 5, 4, 5)),
    (conv((5, 6), (3, 3), pads=(1, 1, 1, 1), bounds=(-9, 246), largest=127), (1, 5, 4, 5)),
    (conv((5, 5), (3, 3), pads=(1, 1, 1, 1), groups=5, bounds=(0, 255)), (1, 5, 4, 5)),
    (added(conv((5, 5), (3, 3), pads=(1, 1, 1, 1), bounds=(-9, 246), largest=127), is_first=True), (1, 5, 4, 5)),
)


@dataclass(frozen=True, eq=False)
class Small:
    """An operator with its inputs and the layout in which it runs."""

    operator: Operator
    inputs: tuple[Float32, ...]
    block: int
    input_block: int
    element: Element = Element.FLOAT32  # of the inputs

    def site(self, device: Device, half_weights: bool = False) -> Site[Any]:
        """Where a variant says whether it can compute this, and with which parameters."""
        blocks = (self.input_block, *(self.block for _ in self.inputs[1:]))
        tensor = partial(tensor_of, element=self.element)
        sources = tuple(map(tensor, self.operator.inputs, self.inputs, blocks))
        target = output_of(self.operator, self.inputs, self.block, self.element)
        return Site(self.operator, sources, target, device, half_weights)


def small_ones(kind: type[Operator]) -> Iterator[Small]:
    """Operators of one kind, in several layouts."""
    for one in CONVOLUTIONS if kind is Conv else ():
        yield Small(one.conv, one.inputs, one.block, one.input_block)
    for one in (CONVOLUTIONS[0], CONVOLUTIONS[-1]) if kind is Conv else ():
        yield Small(one.conv, one.inputs, one.block, one.input_block, Element.BFLOAT16)
    for operator, shape in OTHERS:
        for block in (1, 4, 16) if type(operator) is kind else ():
            yield Small(operator, tuple(random(*shape) for _ in operator.inputs), block, block)
    for operator, shape in OF_STEPS:
        for block, element in product((4, 16), (Element.SHORT, Element.BYTE)) if type(operator) is kind else ():
            inputs = tuple(steps(*shape, largest=100) for _ in operator.inputs)
            yield Small(operator, inputs, block, block, element)
