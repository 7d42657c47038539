"""One operator's backward pass on a device, beside its gradients in float64."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.gradients.slope import Backward, Slope
from edged.engine.launch import Argument
from edged.engine.layout import Halo, Tensor
from edged.model.activations import LINEAR, Activation, apply
from edged.model.graph import Activate, Operator
from edged.train.reference.backward import backward, forward
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close, random

Array = NDArray[Any]
SOME_HALO = Halo(1, 2, 3, 0)
BELOW = Halo(0, 0, 1, 0)


def assert_gradient(
    lab: Lab,
    kernels: Backward,
    operator: Operator,
    x: Array,
    *,
    block: int,
    plus: bool,
    source_activation: Activation = LINEAR,
) -> None:
    """`kernels` make of a random gradient what the reference makes of it, before the activation that wrote x."""
    x = apply(source_activation, x)
    output = forward(operator, x.astype(np.float64))
    given, others = random(*output.shape), random(*x.shape)
    slope: Slope[Any] = Slope(
        operator,
        _tensor("source", x, block),
        _tensor("output", output, block),
        _tensor("given", output, block, Halo(0, 1, 0, 1)),
        _tensor("wanted", x, block, SOME_HALO),
        lab.device,
        _tensor("plus", x, block, Halo(1, 0, 0, 0)) if plus else None,
        source_activation,
    )
    arrays: dict[Argument, Array] = {slope.source: x, slope.output: output, slope.given: given}
    if slope.plus:
        arrays[slope.plus] = others
    bench = Bench(lab, kernels(slope), arrays)

    bench.run()

    expected = backward(operator, given.astype(np.float64), output, x.astype(np.float64)).inputs[0]
    wrote_x = Activate("activation", ("before",), "x", source_activation)
    (expected,) = backward(wrote_x, expected + others * plus, x.astype(np.float64), x).inputs
    assert slope.wanted
    assert_close(bench.image(slope.wanted).reshape(x.shape), expected)


def _tensor(name: str, x: Array, block: int, halo: Halo = BELOW) -> Tensor:
    frames, channels, height, width = x.shape
    return Tensor(name, frames, channels, height, width, block, halo)
