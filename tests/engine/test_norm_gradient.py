"""Gradients of a batch norm."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.gradients.norm import batch_statistics
from edged.engine.gradients.norm_gradient import norm_gradient
from edged.engine.gradients.slope import Slope
from edged.engine.launch import Argument, Resident
from edged.engine.layout import Halo, Tensor
from edged.model.activations import RELU
from edged.train.reference.backward import backward, forward, statistics
from edged.train.training_operators import TrainedNorm, new_norm
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close, random


def slope_of(lab: Lab, norm: TrainedNorm, x: NDArray[Any], block: int) -> Slope[TrainedNorm]:
    frames, channels, height, width = x.shape
    source = Tensor("x", frames, channels, height, width, block, Halo(0, 1, 1, 0))
    given, wanted = (replace(source, name=name, halo=Halo(1, 0, 0, 1)) for name in ("given", "wanted"))
    nbytes = source.blocks * block * 4
    sums = {name: Resident(f"{name} gradient", nbytes) for name in ("scale", "offset")}
    own = {name: Resident(name, nbytes) for name in ("scale", "offset")}
    output = replace(source, name="y")
    return Slope(norm, source, output, given, wanted, lab.device, parameters=own, gradients=sums)


@pytest.mark.parametrize(
    ("shape", "block", "masked"),
    [((3, 21, 5, 37), 4, False), ((2, 21, 7, 6), 16, True), ((1, 18, 1, 50), 16, False)],
)
def test_gradients_are_those_of_the_reference(lab: Lab, shape: tuple[int, ...], block: int, masked: bool) -> None:
    norm = replace(new_norm("norm", "x", "y", shape[1]), scale=random(shape[1]))
    x, gradient, others = random(*shape) * 3 + 2, random(*shape), random(*shape)
    x = np.maximum(x, 0) if masked else x
    slope = slope_of(lab, norm, x, block)
    exact, padding = x.astype(np.float64), slope.source.blocks * block - shape[1]
    given: dict[Argument, NDArray[Any]] = {slope.source: x, slope.given: gradient}
    if masked:
        slope = replace(slope, source_activation=RELU, plus=replace(slope.source, name="others"))
        given[replace(slope.source, name="others")] = others
    for tensor, values in zip(batch_statistics("norm", slope.source), statistics(exact), strict=True):
        given[tensor] = np.pad(values, (0, padding)).reshape(1, -1, 1, 1)
    given[slope.parameters["scale"]] = np.pad(norm.scale, (0, padding))
    bench = Bench(lab, norm_gradient(slope), given)

    bench.run()

    expected = backward(norm, gradient.astype(np.float64), forward(norm, exact), exact)
    for name in ("scale", "offset"):
        assert_close(bench.floats(slope.gradients[name])[: shape[1]], expected.arrays[name])
        assert not bench.floats(slope.gradients[name])[shape[1] :].any()
    wanted = (expected.inputs[0] + others * masked) * ((x > 0) | (not masked))
    assert slope.wanted
    assert_close(bench.image(slope.wanted), wanted)
