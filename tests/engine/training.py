"""Backward passes and optimizer steps on a device, beside those of the reference; and images to train on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.gradients.slope import Backward, Slope
from edged.engine.launch import Argument, Resident
from edged.engine.layout import Halo, Tensor
from edged.model.activations import LINEAR, Activation, apply
from edged.model.graph import Activate, Operator
from edged.model.package import Input
from edged.train.optimizer import Optimizer, moments_of, update_launches, update_scalars
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close, random
from tests.train.reference.backward import backward, forward
from tests.train.reference.network import no_moments, step

Array = NDArray[Any]
SOME_HALO = Halo(1, 2, 3, 0)
BELOW = Halo(0, 0, 1, 0)
RATES = (0.1, 0.05, 0.03)
IMAGES = np.random.default_rng(0).integers(0, 256, (9, 6, 5, 3), np.uint8)
ORDER = np.array([8, 3, 3, 0, 7, 1], np.int32)
BGR = Input(5, 6, "bgr", 1 / 255, (0.1, 0.2, 0.3), (0.5, 0.6, 0.7))


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
    arrays: dict[Argument, Array] = {slope.source: x, slope.output: output, slope.output_gradient: given}
    if slope.plus:
        arrays[slope.plus] = others
    bench = Bench(lab, kernels(slope), arrays)

    bench.run()

    expected = backward(operator, given.astype(np.float64), output, x.astype(np.float64)).inputs[0]
    wrote_x = Activate("activation", ("before",), "x", source_activation)
    (expected,) = backward(wrote_x, expected + others * plus, x.astype(np.float64), x).inputs
    assert slope.input_gradient
    assert_close(bench.image(slope.input_gradient).reshape(x.shape), expected)


def _tensor(name: str, x: Array, block: int, halo: Halo = BELOW) -> Tensor:
    frames, channels, height, width = x.shape
    return Tensor(name, frames, channels, height, width, block, halo)


def assert_steps(lab: Lab, how: Optimizer, count: int = 5001) -> None:
    """A few steps with one gradient and a rate that changes.

    count: of weights, of which three fifths decay; by default more than one work-item of a CPU takes.
    """
    decayed = count * 3 // 5
    weights, gradients = random(count), random(count)
    parameters, slopes = Resident("parameters", 4 * count), Resident("gradients", 4 * count)
    launches = update_launches(how, decayed, count, lab.device)
    memory = Resident("moments", 4 * count * moments_of(how))
    given: dict[Argument, NDArray[np.float32]] = {
        parameters: weights,
        slopes: gradients,
        memory: np.zeros(memory.nbytes // 4, np.float32),
    }
    bench = Bench(lab, launches, given)

    for number, rate in enumerate(RATES, 1):
        bench.run(**update_scalars(how, number, rate))

    for part, decays in ((slice(decayed), True), (slice(decayed, None), False)):
        expected = weights[part].astype(np.float64)
        moments = no_moments(expected)
        for number, rate in enumerate(RATES, 1):
            expected, moments = step(how, expected, gradients[part], moments, rate, number, decays=decays)
        assert_close(bench.floats(parameters)[part], expected)
